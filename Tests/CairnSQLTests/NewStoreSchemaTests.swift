import CairnModel
import CairnPredicates
import CairnTesting
import Foundation
import Testing
import TestSupport

@testable import CairnSQL

/// The format, chapters 1, 3, 4, 5 and 7: the schema of a new store, statement by statement, as the
/// specification derives it from the model.
@Suite struct NewStoreSchemaTests {
  /// A model and every statement that makes its store, up to the bookkeeping tables.
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () -> [EntityDescription]
    let statements: [String]
  }

  // MARK: Making models

  private static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    AttributeDescription(name: name, type: type)
  }

  private static func index(
    _ name: String, _ properties: [PropertyDescription], descending: Bool = false,
    tree: Bool = false, where predicate: String? = nil
  ) -> FetchIndexDescription {
    let elements = properties.map {
      let element = FetchIndexElementDescription(
        property: $0, collationType: tree ? .rTree : .binary)
      element.isAscending = !descending
      return element
    }
    let result = FetchIndexDescription(name: name, elements: elements)
    result.partialIndexPredicate = predicate.map { ObjectPredicate(format: $0) }
    return result
  }

  private static let first = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"

  // MARK: Samples

  /// 3.1 to 3.5, 5.1, 5.3.
  ///
  /// Numbers: Account 1, Animal 2, Cat 3, dog 4, Owner 5.
  static let inheritance = Sample(
    testDescription: "inheritance",
    make: {
      let animal = EntityDescription(name: "Animal")
      animal.isAbstract = true
      let (cat, dog) = (EntityDescription(name: "Cat"), EntityDescription(name: "dog"))
      let (owner, account) = (EntityDescription(name: "Owner"), EntityDescription(name: "Account"))
      animal.subentities = [dog, cat]
      let (pets, keeper) = (
        relationship("pets", to: animal, isToMany: true), relationship("owner", to: owner)
      )
      connect(pets, keeper)
      let (favourite, fan) = (relationship("favourite", to: cat), relationship("fan", to: owner))
      connect(favourite, fan)
      let (best, bestOf) = (relationship("best", to: animal), relationship("bestOf", to: owner))
      connect(best, bestOf)
      let scratch = attribute("scratch", .string)
      scratch.isTransient = true
      animal.properties = [attribute("name", .string), keeper, bestOf, attribute("born", .date)]
      cat.properties = [attribute("tag", .integer16), fan, scratch]
      dog.properties = [attribute("tag", .string), attribute("Age", .boolean)]
      owner.properties = [pets, favourite, best, attribute("id", .uuid)]
      account.properties = [attribute("email", .string), attribute("site", .uri)]
      account.uniquenessConstraints = [["site", "email"]]
      dog.uniquenessConstraints = [["tag"]]
      return [owner, dog, cat, animal, account]
    },
    statements: [
      "CREATE TABLE ZACCOUNT ( \(first), ZEMAIL VARCHAR, ZSITE VARCHAR )",
      "CREATE TABLE ZANIMAL ( \(first), ZBESTOF INTEGER, ZOWNER INTEGER, ZTAG INTEGER, "
        + "ZFAN INTEGER, ZAGE INTEGER, ZBORN TIMESTAMP, ZNAME VARCHAR, ZTAG1 VARCHAR )",
      "CREATE TABLE ZOWNER ( \(first), ZBEST INTEGER, Z2_BEST INTEGER, ZFAVOURITE INTEGER, "
        + "ZID BLOB )",
      "CREATE UNIQUE INDEX Z_Account_UNIQUE_site_email ON ZACCOUNT "
        + "(ZSITE COLLATE BINARY ASC, ZEMAIL COLLATE BINARY ASC)",
      "CREATE INDEX ZANIMAL_ZBESTOF_INDEX ON ZANIMAL (ZBESTOF)",
      "CREATE INDEX ZANIMAL_ZOWNER_INDEX ON ZANIMAL (ZOWNER)",
      "CREATE INDEX ZANIMAL_ZFAN_INDEX ON ZANIMAL (ZFAN)",
      "CREATE INDEX ZANIMAL_Z_ENT_INDEX ON ZANIMAL (Z_ENT)",
      "CREATE UNIQUE INDEX Z_dog_UNIQUE_tag ON ZANIMAL (ZTAG1 COLLATE BINARY ASC)",
      "CREATE INDEX ZOWNER_ZBEST_INDEX ON ZOWNER (ZBEST)",
      "CREATE INDEX ZOWNER_ZFAVOURITE_INDEX ON ZOWNER (ZFAVOURITE)",
    ])

  /// Chapter 4.
  ///
  /// Numbers: Asset 1, Folder 2, GenericAlbum 3, Album 4. An entity with subentities names a table
  /// although its number is the larger one; of `customAssets` both sides are ordered.
  static let manyToMany = Sample(
    testDescription: "many-to-many",
    make: {
      let (asset, folder) = (EntityDescription(name: "Asset"), EntityDescription(name: "Folder"))
      let generic = EntityDescription(name: "GenericAlbum")
      let album = EntityDescription(name: "Album")
      generic.subentities = [album]
      let key = relationship("keyAssets", to: asset, isToMany: true)
      let keyOf = relationship("albums", to: generic, isToMany: true)
      connect(key, keyOf)
      let custom = relationship("customAssets", to: asset, isToMany: true, isOrdered: true)
      let customOf = relationship("albums2", to: album, isToMany: true, isOrdered: true)
      connect(custom, customOf)
      let filed = relationship("folders", to: folder, isToMany: true)
      let files = relationship("assets", to: asset, isToMany: true, isOrdered: true)
      connect(filed, files)
      let near = relationship("near", to: folder, isToMany: true)
      near.inverseRelationship = near
      generic.properties = [key]
      album.properties = [custom]
      asset.properties = [keyOf, customOf, filed]
      folder.properties = [files, near]
      return [asset, folder, generic, album]
    },
    statements: [
      "CREATE TABLE ZASSET ( \(first) )",
      "CREATE TABLE Z_1ALBUMS2 ( Z_1CUSTOMASSETS INTEGER, Z_4ALBUMS2 INTEGER, "
        + "Z_FOK_4ALBUMS2 INTEGER, Z_FOK_1CUSTOMASSETS INTEGER, "
        + "PRIMARY KEY (Z_1CUSTOMASSETS, Z_4ALBUMS2) )",
      "CREATE TABLE Z_1FOLDERS ( Z_1ASSETS INTEGER, Z_2FOLDERS INTEGER, Z_FOK_1ASSETS INTEGER, "
        + "PRIMARY KEY (Z_1ASSETS, Z_2FOLDERS) )",
      "CREATE TABLE ZFOLDER ( \(first) )",
      "CREATE TABLE Z_2NEAR ( Z_2NEAR INTEGER, REFLEXIVE INTEGER, "
        + "PRIMARY KEY (Z_2NEAR, REFLEXIVE) )",
      "CREATE TABLE ZGENERICALBUM ( \(first) )",
      "CREATE TABLE Z_3KEYASSETS ( Z_3ALBUMS INTEGER, Z_1KEYASSETS INTEGER, "
        + "PRIMARY KEY (Z_3ALBUMS, Z_1KEYASSETS) )",
      "CREATE INDEX Z_1ALBUMS2_Z_4ALBUMS2_INDEX ON Z_1ALBUMS2 (Z_4ALBUMS2, Z_1CUSTOMASSETS)",
      "CREATE INDEX Z_1FOLDERS_Z_2FOLDERS_INDEX ON Z_1FOLDERS (Z_2FOLDERS, Z_1ASSETS)",
      "CREATE INDEX Z_2NEAR_REFLEXIVE_INDEX ON Z_2NEAR (REFLEXIVE, Z_2NEAR)",
      "CREATE INDEX ZGENERICALBUM_Z_ENT_INDEX ON ZGENERICALBUM (Z_ENT)",
      "CREATE INDEX Z_3KEYASSETS_Z_1KEYASSETS_INDEX ON Z_3KEYASSETS (Z_1KEYASSETS, Z_3ALBUMS)",
    ])

  /// 3.7, 4.3: keys of a to-many without inverse, positions of ordered ones.
  static let orderedMembers = Sample(
    testDescription: "ordered and without inverse",
    make: {
      let (album, sticker) = (EntityDescription(name: "Album"), EntityDescription(name: "Sticker"))
      let (pages, book) = (
        relationship("pages", to: sticker, isToMany: true, isOrdered: true),
        relationship("book", to: album)
      )
      connect(pages, book)
      album.properties = [
        pages, relationship("loose", to: sticker, isToMany: true),
        relationship("kept", to: sticker, isToMany: true, isOrdered: true),
      ]
      sticker.properties = [book, attribute("size", .float), attribute("kind", .integer32)]
      return [album, sticker]
    },
    statements: [
      "CREATE TABLE ZALBUM ( \(first) )",
      "CREATE TABLE ZSTICKER ( \(first), ZKIND INTEGER, ZBOOK INTEGER, Z1KEPT INTEGER, "
        + "Z_FOK_1KEPT INTEGER, Z1LOOSE INTEGER, Z_FOK_BOOK INTEGER, ZSIZE FLOAT )",
      "CREATE INDEX ZSTICKER_ZBOOK_INDEX ON ZSTICKER (ZBOOK)",
      "CREATE INDEX ZSTICKER_Z1KEPT_INDEX ON ZSTICKER (Z1KEPT)",
      "CREATE INDEX ZSTICKER_Z1LOOSE_INDEX ON ZSTICKER (Z1LOOSE)",
    ])

  /// 5.2: declared indexes, partial ones, of expressions, of places, and the legacy flag.
  static let indexes = Sample(
    testDescription: "indexes",
    make: {
      let (x, y) = (attribute("x", .double), attribute("y", .double))
      let (kind, flag) = (attribute("kind", .string), attribute("isOld", .boolean))
      kind.isIndexed = true
      let sum = ExpressionDescription()
      sum.name = "sum"
      sum.expression = ObjectExpression(format: "x + y * 2")
      let spot = EntityDescription(name: "Spot", properties: [x, y, kind, flag])
      spot.indexes = [
        index("byKind", [kind, x], descending: true),
        index("young", [kind], where: "isOld == NO AND kind != nil"),
        index("bySum", [sum]),
        index("place", [x, y], tree: true),
      ]
      return [spot]
    },
    statements: [
      "CREATE TABLE ZSPOT ( \(first), ZISOLD INTEGER, ZX FLOAT, ZY FLOAT, ZKIND VARCHAR )",
      "CREATE INDEX Z_Spot_kind ON ZSPOT (ZKIND COLLATE BINARY ASC)",
      "CREATE INDEX Z_Spot_byKind ON ZSPOT (ZKIND COLLATE BINARY DESC, ZX COLLATE BINARY DESC)",
      "CREATE INDEX Z_Spot_young ON ZSPOT (ZKIND COLLATE BINARY ASC) "
        + "WHERE (ZISOLD = 0 AND ZKIND IS NOT NULL)",
      "CREATE INDEX Z_Spot_bySum ON ZSPOT ((ZX + (ZY * 2)) COLLATE BINARY ASC)",
      "CREATE VIRTUAL TABLE Z_RT_Spot_place USING RTREE "
        + "(Z_PK INTEGER PRIMARY KEY, ZX_MIN FLOAT, ZX_MAX FLOAT, ZY_MIN FLOAT, ZY_MAX FLOAT)",
      "CREATE TRIGGER Z_RT_Spot_place_INSERT AFTER INSERT ON ZSPOT FOR EACH ROW BEGIN "
        + "INSERT OR REPLACE INTO Z_RT_Spot_place SELECT NEW.Z_PK, NEW.ZX, NEW.ZX, NEW.ZY, NEW.ZY "
        + "WHERE NEW.Z_ENT IN (1) AND NEW.ZX NOT NULL AND NEW.ZY NOT NULL; END",
      "CREATE TRIGGER Z_RT_Spot_place_UPDATE AFTER UPDATE OF ZX, ZY ON ZSPOT FOR EACH ROW BEGIN "
        + "DELETE FROM Z_RT_Spot_place WHERE Z_PK = NEW.Z_PK; "
        + "INSERT OR REPLACE INTO Z_RT_Spot_place SELECT NEW.Z_PK, NEW.ZX, NEW.ZX, NEW.ZY, NEW.ZY "
        + "WHERE NEW.Z_ENT IN (1) AND NEW.ZX NOT NULL AND NEW.ZY NOT NULL; END",
      "CREATE TRIGGER Z_RT_Spot_place_DELETE AFTER DELETE ON ZSPOT FOR EACH ROW BEGIN "
        + "DELETE FROM Z_RT_Spot_place WHERE Z_PK = OLD.Z_PK; END",
    ])

  /// 7.1: a value through a to-one relationship.
  static let derivedValue = Sample(
    testDescription: "derived",
    make: {
      let (asset, details) = (EntityDescription(name: "Asset"), EntityDescription(name: "Details"))
      let (extra, owner) = (relationship("extra", to: details), relationship("asset", to: asset))
      connect(extra, owner)
      asset.properties = [
        extra, DerivedAttributeDescription("camera", .string, from: "extra.device"),
      ]
      details.properties = [owner, attribute("device", .string)]
      return [asset, details]
    },
    statements: [
      "CREATE TABLE ZASSET ( \(first), ZEXTRA INTEGER, ZCAMERA VARCHAR )",
      "CREATE TABLE ZDETAILS ( \(first), ZASSET INTEGER, ZDEVICE VARCHAR )",
      "CREATE INDEX ZASSET_ZEXTRA_INDEX ON ZASSET (ZEXTRA)",
      "CREATE INDEX ZDETAILS_ZASSET_INDEX ON ZDETAILS (ZASSET)",
      "CREATE TRIGGER Z_DA_ZASSET_Asset_camera_SOURCE_INSERT AFTER INSERT ON ZASSET FOR EACH ROW "
        + "BEGIN UPDATE ZASSET SET ZCAMERA = (SELECT ZDEVICE FROM ZDETAILS WHERE Z_PK = "
        + "NEW.ZEXTRA) WHERE Z_PK = NEW.Z_PK; SELECT "
        + "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZASSET', Z_ENT, Z_PK, 'camera', "
        + "ZCAMERA) FROM ZASSET WHERE Z_PK = NEW.Z_PK; END",
      "CREATE TRIGGER Z_DA_ZASSET_Asset_camera_SOURCE_UPDATE AFTER UPDATE OF ZEXTRA ON ZASSET FOR "
        + "EACH ROW BEGIN UPDATE ZASSET SET ZCAMERA = (SELECT ZDEVICE FROM ZDETAILS WHERE Z_PK = "
        + "NEW.ZEXTRA) WHERE Z_PK = NEW.Z_PK; SELECT "
        + "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZASSET', Z_ENT, Z_PK, 'camera', ZCAMERA) "
        + "FROM ZASSET WHERE Z_PK = NEW.Z_PK; END",
      "CREATE TRIGGER Z_DA_ZDETAILS_Asset_camera_PARAMETER_INSERT AFTER INSERT ON ZDETAILS FOR "
        + "EACH ROW BEGIN UPDATE ZASSET SET ZCAMERA = NEW.ZDEVICE WHERE ZEXTRA = NEW.Z_PK; SELECT "
        + "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZASSET', Z_ENT, Z_PK, 'camera', ZCAMERA) "
        + "FROM ZASSET WHERE ZEXTRA = NEW.Z_PK; END",
      "CREATE TRIGGER Z_DA_ZDETAILS_Asset_camera_PARAMETER_UPDATE AFTER UPDATE OF ZDEVICE ON "
        + "ZDETAILS FOR EACH ROW BEGIN UPDATE ZASSET SET ZCAMERA = NEW.ZDEVICE WHERE ZEXTRA = "
        + "NEW.Z_PK; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZASSET', Z_ENT, Z_PK, "
        + "'camera', ZCAMERA) FROM ZASSET WHERE ZEXTRA = NEW.Z_PK; END",
    ])

  /// 3.4: the leaves of a composite are columns of their own, with suffixes where names meet.
  static let composite = Sample(
    testDescription: "composite",
    make: {
      let address = CompositeAttributeDescription()
      address.name = "address"
      address.elements = [attribute("city", .string), attribute("number", .integer32)]
      return [
        EntityDescription(name: "Person", properties: [address, attribute("city", .string)])
      ]
    },
    statements: [
      "CREATE TABLE ZPERSON ( \(first), ZNUMBER INTEGER, ZCITY VARCHAR, ZCITY1 VARCHAR )"
    ])

  @Test(arguments: [inheritance, manyToMany, orderedMembers, indexes, derivedValue, composite])
  func theSchemaIsTheOneThatTheSpecificationDerives(_ sample: Sample) throws {
    let model = ManagedObjectModel()
    model.entities = sample.make()
    try model.prepareForUse()
    let statements = SQLSchema(model: model).createStatements()
    let bookkeeping = [
      "CREATE TABLE Z_PRIMARYKEY "
        + "(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
      "CREATE TABLE Z_METADATA "
        + "(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
      "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]
    #expect(statements == sample.statements + bookkeeping)
  }
}
