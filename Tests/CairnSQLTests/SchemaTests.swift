import CairnModel
import CairnPredicates
import Foundation
import Testing
import TestSupport

@testable import CairnSQL

/// The schema of a model is the one Apple's framework would create: format, chapters 3 to 5.
@Suite struct SchemaTests {
  private func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    AttributeDescription(name: name, type: type)
  }

  private func schema(_ entities: [EntityDescription]) throws -> SQLSchema {
    let model = ManagedObjectModel()
    model.entities = entities
    try model.prepareForUse()
    return SQLSchema(model: model)
  }

  @Test func columnsAreGroupedByStorageClassAndSorted() throws {
    let entity = EntityDescription(
      name: "Everything",
      properties: [
        attribute("text", .string), attribute("flag", .boolean), attribute("city", .string),
        attribute("ciURLWork", .string), attribute("number", .integer64),
        attribute("when", .date), attribute("amount", .decimal), attribute("ratio", .double),
        attribute("link", .uri), attribute("id", .uuid), attribute("shape", .transformable),
        attribute("blob", .binaryData),
      ])
    let expected =
      "CREATE TABLE ZEVERYTHING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
      + "ZFLAG INTEGER, ZNUMBER INTEGER, ZRATIO FLOAT, ZWHEN TIMESTAMP, ZAMOUNT DECIMAL, "
      + "ZCIURLWORK VARCHAR, ZCITY VARCHAR, ZTEXT VARCHAR, ZLINK VARCHAR, ZID BLOB, "
      + "ZSHAPE BLOB, ZBLOB BLOB )"
    #expect(try schema([entity]).tables[0].createStatement == expected)
  }

  @Test func entitiesAreNumberedDepthFirstIgnoringCase() throws {
    let parent = EntityDescription(name: "banana")
    parent.subentities = [EntityDescription(name: "Zed"), EntityDescription(name: "alpha")]
    let schema = try schema(
      [parent] + parent.subentities + [
        EntityDescription(name: "Cherry"), EntityDescription(name: "Apple"),
      ])
    #expect(schema.entities.map(\.name) == ["Apple", "banana", "alpha", "Zed", "Cherry"])
    #expect(schema.entities.map(\.superNumber) == [0, 0, 2, 2, 0])
    #expect(schema.tables.map(\.name) == ["ZAPPLE", "ZBANANA", "ZCHERRY"])
  }

  @Test func siblingsWithOnePropertyNameGetColumnsOfTheirOwn() throws {
    let parent = EntityDescription(name: "Parent")
    let first = EntityDescription(name: "A", properties: [attribute("value", .double)])
    let second = EntityDescription(name: "B", properties: [attribute("value", .integer32)])
    parent.subentities = [first, second]
    #expect(
      try schema([parent, first, second]).tables[0].createStatement
        == "CREATE TABLE ZPARENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZVALUE1 INTEGER, ZVALUE FLOAT )")
  }

  @Test func aKeyToAnEntityWithSubentitiesHasACompanion() throws {
    let book = EntityDescription(name: "Book")
    let graphic = EntityDescription(name: "GraphicNovel")
    book.subentities = [graphic]
    let page = EntityDescription(name: "Page")
    let pages = relationship("pages", to: page, isToMany: true, isOrdered: true)
    let owner = relationship("book", to: book)
    connect(pages, owner)
    book.properties = [pages]
    page.properties = [owner]
    let statements = try schema([book, graphic, page]).createStatements()
    let expected = [
      "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
      "CREATE TABLE ZPAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZBOOK INTEGER, Z1_BOOK INTEGER, Z_FOK_BOOK INTEGER )",
      "CREATE INDEX ZBOOK_Z_ENT_INDEX ON ZBOOK (Z_ENT)",
      "CREATE INDEX ZPAGE_ZBOOK_INDEX ON ZPAGE (ZBOOK)",
    ]
    #expect(Array(statements.prefix(4)) == expected)
  }

  @Test func theSmallerEntityNumberNamesAJoinTable() throws {
    let note = EntityDescription(name: "Note")
    let task = EntityDescription(name: "Task")
    let tasks = relationship("task", to: task, isToMany: true, isOrdered: true)
    let notes = relationship("notes", to: note, isToMany: true)
    connect(tasks, notes)
    note.properties = [tasks]
    task.properties = [notes]
    let schema = try schema([note, task])
    #expect(
      schema.joinTables["ZNOTE"]?.map(\.createStatement) == [
        "CREATE TABLE Z_1TASK ( Z_1NOTES INTEGER, Z_2TASK INTEGER, Z_FOK_2TASK INTEGER, "
          + "PRIMARY KEY (Z_1NOTES, Z_2TASK) )"
      ])
    #expect(
      schema.joinTables["ZNOTE"]?.map(\.indexStatement) == [
        "CREATE INDEX Z_1TASK_Z_2TASK_INDEX ON Z_1TASK (Z_2TASK, Z_1NOTES)"
      ])
  }

  /// Clients ignore each other, with an inverse of another name.
  private func selfRelation() throws -> ManagedObjectModel {
    let client = EntityDescription(name: "Client")
    let ignored = relationship("ignoredClients", to: client, isToMany: true)
    let by = relationship("ignoredByClients", to: client, isToMany: true)
    connect(ignored, by)
    client.properties = [ignored, by]
    let model = ManagedObjectModel()
    model.entities = [client]
    try model.prepareForUse()
    return model
  }

  @Test func aFileDecidesWhichSideNamedASelfRelation() throws {
    let model = try selfRelation()
    let catalog = SQLCatalog(tables: [
      "Z_1IGNOREDBYCLIENTS": ["Z_1IGNOREDCLIENTS", "Z_1IGNOREDBYCLIENTS"]
    ])
    let schema = SQLSchema(model: model, catalog: catalog)
    #expect(schema.joinTables["ZCLIENT"]?.map(\.name) == ["Z_1IGNOREDBYCLIENTS"])
  }

  @Test func theAlphabeticallyLastRelationshipNamesTheTableOfASelfRelation() throws {
    let schema = SQLSchema(model: try selfRelation())
    #expect(
      schema.joinTables["ZCLIENT"]?.map(\.createStatement) == [
        "CREATE TABLE Z_1IGNOREDCLIENTS ( Z_1IGNOREDBYCLIENTS INTEGER, "
          + "Z_1IGNOREDCLIENTS INTEGER, "
          + "PRIMARY KEY (Z_1IGNOREDBYCLIENTS, Z_1IGNOREDCLIENTS) )"
      ])
  }

  @Test func repeatedColumnNamesAreNumberedInTheOrderOfTheirOwnEntitysRelationships() throws {
    let (album, memory) = (EntityDescription(name: "Album"), EntityDescription(name: "Memory"))
    let photo = EntityDescription(name: "Photo")
    let ofAlbum = relationship("photos", to: photo, isToMany: true)
    let ofMemory = relationship("photos", to: photo, isToMany: true)
    let shelves = relationship("shelves", to: album, isToMany: true)
    let days = relationship("days", to: memory, isToMany: true)
    connect(ofAlbum, shelves)
    connect(ofMemory, days)
    album.properties = [ofAlbum]
    memory.properties = [ofMemory]
    photo.properties = [shelves, days]
    let schema = try schema([album, memory, photo])
    #expect(
      schema.joinTables["ZALBUM"]?.map(\.memberColumn) == ["Z_3PHOTOS1"],
      "Photo.days comes before Photo.shelves")
    #expect(schema.joinTables["ZMEMORY"]?.map(\.memberColumn) == ["Z_3PHOTOS"])
  }

  @Test(arguments: [
    [
      "rowid IN (WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)",
      "B",
    ],
    ["1 OR 1", "B"], ["B", "\"C\""], ["", "B"], ["B", "2C"],
  ])
  func columnsOfLinksInAFileAreTakenOverOnlyWhereTheyAreNames(columns: [String]) throws {
    let model = try selfRelation()
    let plain = try #require(SQLSchema(model: model).joinTables["ZCLIENT"]?.first)
    func table(_ columns: [String]) throws -> SQLJoinTable {
      let schema = SQLSchema(model: model, catalog: SQLCatalog(tables: [plain.name: columns]))
      return try #require(schema.joinTables["ZCLIENT"]?.first)
    }
    #expect(try table(["Z_9OLD", "Z_8OLDER"]).ownerColumn.contains("OLD"))
    let found = try table(columns)
    #expect(
      [found.ownerColumn, found.memberColumn] == [plain.ownerColumn, plain.memberColumn])
  }

  @Test func aRelationshipThatIsItsOwnInverseHasAReflexiveTable() throws {
    let person = EntityDescription(name: "Person")
    let friends = relationship("friends", to: person, isToMany: true)
    friends.inverseRelationship = friends
    person.properties = [friends]
    #expect(
      try schema([person]).joinTables["ZPERSON"]?.map(\.createStatement) == [
        "CREATE TABLE Z_1FRIENDS ( Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, "
          + "PRIMARY KEY (Z_1FRIENDS, REFLEXIVE) )"
      ])
  }

  @Test func aToManyWithoutInverseIsAKeyOfTheMembers() throws {
    let album = EntityDescription(name: "Album")
    let sticker = EntityDescription(name: "Sticker", properties: [attribute("kind", .integer16)])
    album.properties = [relationship("stickers", to: sticker, isToMany: true, isOrdered: true)]
    let schema = try schema([album, sticker])
    #expect(
      schema.tables[1].createStatement
        == "CREATE TABLE ZSTICKER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZKIND INTEGER, Z1STICKERS INTEGER, Z_FOK_1STICKERS INTEGER )")
    #expect(
      schema.createStatements().contains(
        "CREATE INDEX ZSTICKER_Z1STICKERS_INDEX ON ZSTICKER (Z1STICKERS)"))
  }

  @Test func constraintsAndIndexesKeepTheCaseOfTheirNames() throws {
    let car = EntityDescription(
      name: "Car",
      properties: [attribute("numberPlate", .string), attribute("maker", .string)])
    car.uniquenessConstraints = [["numberPlate", "maker"]]
    car.indexes = [
      FetchIndexDescription(
        name: "byMaker",
        elements: [
          FetchIndexElementDescription(property: car.properties[1], collationType: .binary)
        ])
    ]
    car.indexes[0].partialIndexPredicate = ObjectPredicate(format: "maker != nil")
    let statements = try schema([car]).createStatements()
    #expect(
      statements.contains(
        "CREATE UNIQUE INDEX Z_Car_UNIQUE_numberPlate_maker ON ZCAR "
          + "(ZNUMBERPLATE COLLATE BINARY ASC, ZMAKER COLLATE BINARY ASC)"))
    #expect(
      statements.contains(
        "CREATE INDEX Z_Car_byMaker ON ZCAR (ZMAKER COLLATE BINARY ASC) "
          + "WHERE ZMAKER IS NOT NULL"))
  }

  @Test func aDerivedCountIsMaintainedByApplesTriggers() throws {
    let book = EntityDescription(name: "Book")
    let page = EntityDescription(name: "Page")
    let pages = relationship("pages", to: page, isToMany: true)
    let owner = relationship("book", to: book)
    connect(pages, owner)
    let count = DerivedAttributeDescription()
    count.name = "pagesCount"
    count.attributeType = .integer64
    count.derivationExpression = ObjectExpression(format: "pages.@count")
    book.properties = [pages, count]
    page.properties = [owner]
    let triggers = try schema([book, page]).createStatements().filter { $0.contains("TRIGGER") }
    #expect(triggers.count == 5)
    let expected =
      "CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT AFTER INSERT ON ZPAGE FOR "
      + "EACH ROW WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = "
      + "IFNULL(ZPAGESCOUNT, 0) + 1 WHERE Z_PK = NEW.ZBOOK; SELECT "
      + "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', "
      + "ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END"
    #expect(triggers.first == expected)
  }
}
