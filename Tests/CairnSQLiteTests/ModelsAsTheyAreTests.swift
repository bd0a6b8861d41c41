import CairnModel
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// What real models hold and no editor forbids; their stores are made, migrated and used.
///
/// Specification: core-data-semantics 3.6 and 3.9; format, chapters 4.1 and 5.2.
@Suite struct ModelsAsTheyAreTests {
  private func index(_ name: String, _ property: PropertyDescription) -> FetchIndexDescription {
    FetchIndexDescription(
      name: name,
      elements: [FetchIndexElementDescription(property: property, collationType: .binary)])
  }

  private func indexed(
    _ attributes: String...,
    indexes: ([PropertyDescription]) -> [FetchIndexDescription]
  ) throws -> ManagedObjectModel {
    let item = EntityDescription(name: "Item")
    item.properties = attributes.map { FormatModel.attribute($0, .double) }
    item.indexes = indexes(attributes.compactMap { item.propertiesByName[$0] })
    return try FormatModel.make(item)
  }

  @Test func ofTwoIndexesWithOneNameTheFirstIsMade() throws {
    let model = try indexed("age", "size") {
      [index("byAge", $0[0]), index("byAge", $0[1]), index("BYAGE", $0[0])]
    }
    #expect(
      model.indexRemarks == [
        "Item has two indexes byAge with different elements; stores make the first. Rename one."
      ])
    let fixture = try StoreFixture(model: model)
    let statement = "CREATE INDEX Z_Item_byAge ON ZITEM (ZAGE COLLATE BINARY ASC)"
    let query = "SELECT sql FROM sqlite_master WHERE name LIKE 'Z_Item_byAge'"
    #expect(try fixture.column(query) == [statement])
    try fixture.insert([try fixture.row("Item", ["age": .double(1)])])
    try fixture.store.close()
    let next = try indexed("age", "size", "more") {
      [index("byAge", $0[0]), index("byAge", $0[0])]
    }
    #expect(next.indexRemarks == [])
    try SQLiteStore.migrateInPlace(at: fixture.url, from: model, to: next, options: StoreOptions())
    #expect(try fixture.column(query) == [statement])
    #expect(try fixture.column("SELECT ZAGE FROM ZITEM") == ["1.0"])
  }

  @Test(arguments: [FetchIndexElementType.binary, .rTree])
  func anIndexMayHaveANameOfAnyLetters(type: FetchIndexElementType) throws {
    let name = "by-x \"y\""
    let model = try indexed("x") { properties in
      [
        FetchIndexDescription(
          name: name,
          elements: [FetchIndexElementDescription(property: properties[0], collationType: type)])
      ]
    }
    let fixture = try StoreFixture(model: model)
    var row = try fixture.insert([try fixture.row("Item", ["x": .double(2)])])[0]
    row = try fixture.change(row, ["x": .double(3)])
    let made = type == .rTree ? "Z_RT_Item_\(name)" : "Z_Item_\(name)"
    #expect(
      try fixture.column("SELECT name FROM sqlite_master WHERE name = '\(made)'") == [made])
    if type == .rTree {
      let quoted = made.replacing("\"", with: "\"\"")
      #expect(try fixture.column("SELECT ZX_MIN FROM \"\(quoted)\"") == ["3.0"])
    }
    try fixture.delete(row)
  }

  @Test(
    arguments: [
      ("A B", "x"), ("A\"B", "x"), ("Item", "x y"), ("_PRIMARYKEY", "x"), ("_metadata", "x"),
    ])
  func namesThatNoTableOrColumnCanHaveAreNamedInTheRefusal(entity: String, attribute: String)
    throws
  {
    let model = try FormatModel.make(
      EntityDescription(name: entity, properties: [FormatModel.attribute(attribute, .double)]))
    let error = #expect(throws: CoreDataError.self) { try StoreFixture(model: model) }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    let place = attribute == "x" ? entity : "\(entity).\(attribute)"
    #expect(error?.message.hasPrefix("\(place): ") == true, "\(error?.message ?? "")")
  }

  @Test func ofTwoLocationIndexesWithOneNameTheFirstIsMade() throws {
    let item = EntityDescription(name: "Item")
    item.properties = [FormatModel.attribute("x", .double)]
    item.indexes = (0..<2).map { _ in
      FetchIndexDescription(
        name: "place",
        elements: [
          FetchIndexElementDescription(property: item.properties[0], collationType: .rTree)
        ])
    }
    let fixture = try StoreFixture(model: try FormatModel.make(item))
    try fixture.insert([try fixture.row("Item", ["x": .double(2)])])
    #expect(try fixture.column("SELECT COUNT(*) FROM Z_RT_Item_place") == ["1"])
  }

  @Test func aToOneRelationshipThatIsMarkedOrderedIsAToOneRelationship() throws {
    let (owner, pet) = (EntityDescription(name: "Owner"), EntityDescription(name: "Pet"))
    let favourite = SampleModel.toOne("favourite", pet)
    favourite.isOrdered = true
    FormatModel.link(owner, favourite, pet, SampleModel.toMany("admirers", owner, isOrdered: true))
    let lonely = SampleModel.toOne("first", pet)
    lonely.isOrdered = true
    owner.properties.append(lonely)
    let fixture = try StoreFixture(model: try FormatModel.make(owner, pet))
    let rex = try fixture.insert([try fixture.row("Pet")])[0]
    try fixture.insert([
      try fixture.row(
        "Owner", ["favourite": .object(rex.objectID), "first": .object(rex.objectID)])
    ])
    let found = try fixture.fetch("Owner")[0]
    #expect(fixture.value(found, "favourite") == .object(rex.objectID))
    #expect(
      try fixture.store.members(of: fixture.relationship("Pet", "admirers"), owners: [rex.objectID])
        == [[found.objectID]])
  }

  @Test(arguments: [false, true])
  func theOrderOfAToManyIsKeptWhenItBecomesManyToMany(membersComeFirst: Bool) throws {
    func model(toMany: Bool) throws -> ManagedObjectModel {
      let list = EntityDescription(name: membersComeFirst ? "List" : "Alpha")
      let song = EntityDescription(name: membersComeFirst ? "Aria" : "Song")
      let songs = SampleModel.toMany("songs", song, isOrdered: true)
      let back =
        toMany ? SampleModel.toMany("lists", list) : SampleModel.toOne("lists", list)
      FormatModel.link(list, songs, song, back)
      return try FormatModel.make(list, song)
    }
    let (old, next) = (try model(toMany: false), try model(toMany: true))
    let names = (
      list: membersComeFirst ? "List" : "Alpha", song: membersComeFirst ? "Aria" : "Song"
    )
    let fixture = try StoreFixture(model: old)
    let list = try fixture.row(names.list)
    let songs = try (0..<4).map { _ in
      try fixture.row(names.song, ["lists": .object(list.objectID)])
    }
    let order = [2, 0, 3, 1].map { songs[$0] }
    var request = SaveChangesRequest()
    request.insertions = ([list] + songs).map { .init(snapshot: $0) }
    request.links = [
      .init(
        relationship: try fixture.relationship(names.list, "songs"), owner: list.objectID,
        order: order.map(\.objectID))
    ]
    _ = try fixture.receipt(fixture.store.save(request))
    try fixture.store.close()
    try SQLiteStore.migrateInPlace(at: fixture.url, from: old, to: next, options: StoreOptions())
    let store = try StoreFixture.open(fixture.url, next)
    defer { try? store.close() }
    let entity = try #require(next.entitiesByName[names.list])
    let relationship = try #require(entity.relationshipsByName["songs"])
    guard
      case .snapshots(let lists) = try store.fetch(StoreFetchRequest(entity: entity)),
      let members = try store.members(of: relationship, owners: lists.map(\.objectID)).first
    else {
      Issue.record("there is no list")
      return
    }
    #expect(members.map(\.rowKey) == order.map(\.objectID.rowKey))
  }

  @Test func aJoinTableWithTheNameFromBeforeARenameIsRead() throws {
    let (tag, note) = (EntityDescription(name: "Tag"), EntityDescription(name: "Memo"))
    FormatModel.link(
      tag, SampleModel.toMany("memos", note), note, SampleModel.toMany("tags", tag))
    let fixture = try StoreFixture(model: try FormatModel.make(tag, note))
    let rows = try fixture.insert([try fixture.row("Tag"), try fixture.row("Memo")])
    try fixture.link(
      try fixture.relationship("Tag", "memos"), of: rows[0], adding: [rows[1]])
    try fixture.store.close()
    let (newTag, newNote) = (EntityDescription(name: "Tag"), EntityDescription(name: "Memo"))
    let renamed = SampleModel.toMany("labels", newTag)
    renamed.renamingIdentifier = "tags"
    FormatModel.link(newTag, SampleModel.toMany("memos", newNote), newNote, renamed)
    let schema = SQLSchema(
      model: try FormatModel.make(newTag, newNote),
      catalog: SQLCatalog(tables: ["Z_1TAGS": ["Z_1MEMOS", "Z_2TAGS"]]))
    #expect(schema.joinTables["ZMEMO"]?.map(\.name) == ["Z_1TAGS"])
    #expect(schema.joinTables["ZMEMO"]?.map(\.memberColumn) == ["Z_2TAGS"])
  }

  @Test(arguments: [false, true])
  func aStoreWhoseVersionIsIgnoredGoesOnRecordingItsHistory(withOption: Bool) throws {
    let old = try indexed("age") { _ in [] }
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true], model: old)
    fixture.isDamagedOnPurpose = true
    try fixture.insert([try fixture.row("Item", ["age": .double(1)])])
    try fixture.store.close()
    // Version hashes differ, and the columns that the model needs are there.
    let item = EntityDescription(name: "Item")
    item.properties = [FormatModel.attribute("age", .double)]
    item.versionHashModifier = "2"
    let next = try FormatModel.make(item)
    var options: [AnyHashable: Any] = [StoreOptionKey.ignoreVersioning: NSNumber(value: true)]
    if withOption { options[StoreOptionKey.historyTracking] = true }
    let store = try StoreFixture.open(fixture.url, next, options)
    defer { try? store.close() }
    let id = try store.obtainPermanentIDs(for: [item])[0]
    var request = SaveChangesRequest()
    request.insertions = [
      .init(snapshot: RowSnapshot.make(objectID: id, version: 0, values: [.double(2)]))
    ]
    _ = try fixture.receipt(store.save(request))
    let changes = try store.readHistory(HistoryReadRequest()).flatMap(\.changes)
    #expect(changes.map(\.objectID.rowKey) == [1, 2])
  }
}
