import CairnModel
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 2: `Z_PRIMARYKEY`, `Z_METADATA` and `Z_MODELCACHE`.
@Suite struct Chapter02BookkeepingTests {
  // MARK: 2.1

  private func keys(_ fixture: StoreFixture) throws -> [String] {
    try fixture.column(
      "SELECT Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER || ' ' || Z_MAX FROM Z_PRIMARYKEY "
        + "ORDER BY Z_ENT")
  }

  @Test func everyEntityHasARowNumberedDepthFirstIgnoringCase() throws {
    let (banana, apple) = (EntityDescription(name: "Banana"), EntityDescription(name: "apple"))
    let (cherry, kid) = (EntityDescription(name: "cherry"), EntityDescription(name: "aKid"))
    let (grandkid, zKid) = (EntityDescription(name: "Grandkid"), EntityDescription(name: "ZKid"))
    banana.isAbstract = true
    banana.subentities = [zKid, kid]
    kid.subentities = [grandkid]
    let fixture = try StoreFixture(
      model: try FormatModel.make(cherry, banana, zKid, grandkid, kid, apple))
    #expect(
      try keys(fixture) == [
        "1 apple 0 0", "2 Banana 0 0", "3 aKid 2 0", "4 Grandkid 3 0", "5 ZKid 2 0", "6 cherry 0 0",
      ])
  }

  @Test func aConfigurationDoesNotChangeTheFile() throws {
    let model = try SampleModel.make().copy() as? ManagedObjectModel
    let configured = try #require(model)
    configured.setEntities(
      [try #require(configured.entitiesByName["Note"])], forConfigurationName: "Notes")
    let fixture = try StoreFixture()
    let url = fixture.folder.appendingPathComponent("Configured.sqlite")
    let store = SQLiteStore(
      configuration: StoreConfiguration(
        model: configured, configurationName: "Notes", url: url, options: StoreOptions([:])))
    try store.loadMetadata()
    try store.close()
    func schema(_ url: URL) throws -> [String] {
      try StoreFileAccess.write(url, options: StoreOptions(), doing: "be read") { connection in
        let select = try connection.statement(
          "SELECT IFNULL(sql, '') FROM sqlite_master UNION ALL SELECT Z_NAME FROM Z_PRIMARYKEY")
        defer { select.reset() }
        var result: [String] = []
        while try select.step() { result.append(select.string(0)) }
        return result
      }
    }
    #expect(try schema(url) == schema(fixture.url))
    let metadata = try SQLiteStoreKind().metadata(at: url, options: StoreOptions())
    #expect(
      (metadata[StoreMetadataKey.versionHashes] as? [String: Data])?.count
        == configured.entities.count)
  }

  @Test func theRootCountsTheKeysOfItsWholeHierarchyAndNoneIsUsedAgain() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert([
      try fixture.row("Employee"), try fixture.row("Manager"), try fixture.row("Employee"),
    ])
    #expect(rows.map(\.objectID.rowKey) == [1, 2, 3])
    try fixture.delete(rows[2])
    #expect(try fixture.insert([try fixture.row("Manager")])[0].objectID.rowKey == 4)
    #expect(
      try keys(fixture) == [
        "1 Company 0 0", "2 Employee 0 4", "3 Manager 2 0", "4 Note 0 0", "5 Project 0 0",
      ])
  }

  @Test func historyHasReservedNumbersWithCountersOfTheirOwn() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    try fixture.insert([try fixture.row("Note"), try fixture.row("Note")])
    #expect(
      try keys(fixture).suffix(3) == [
        "16001 CHANGE 0 2", "16002 TRANSACTION 0 1", "16003 TRANSACTIONSTRING 0 1",
      ])
  }

  @Test func rowsAreMatchedByNumberWhereARenamedEntityLeftItsName() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([try fixture.row("Note", ["text": .string("t")])])[0]
    try fixture.store.close()
    try fixture.execute("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Remark' WHERE Z_ENT = 4")
    fixture.isDamagedOnPurpose = true
    let store = try fixture.another()
    #expect(try store.snapshots(for: [row.objectID])[0]?.values == row.values)
    let id = try store.obtainPermanentIDs(for: [fixture.entity("Note")])[0]
    #expect(id.rowKey == 2)
    #expect(id.uriRepresentation().path == "/Note/p2")
    try store.close()
  }

  // MARK: 2.2

  @Test func theMetadataAreOneRowWithABinaryPropertyList() throws {
    let fixture = try StoreFixture()
    #expect(
      try fixture.column("SELECT COUNT(*) || ' ' || MAX(Z_VERSION) FROM Z_METADATA") == ["1 1"])
    let identifier = try fixture.column("SELECT Z_UUID FROM Z_METADATA")[0]
    #expect(UUID(uuidString: identifier)?.uuidString == identifier)
    #expect(try fixture.column("SELECT substr(Z_PLIST, 1, 8) FROM Z_METADATA") == ["bplist00"])
  }

  @Test func thePropertyListHasTheKeysAndTypesOfApples() throws {
    let fixture = try StoreFixture()
    let hex = try fixture.column("SELECT hex(Z_PLIST) FROM Z_METADATA")[0]
    let bytes = stride(from: 0, to: hex.count, by: 2).compactMap { place in
      UInt8(hex.dropFirst(place).prefix(2), radix: 16)
    }
    let list = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
    let metadata = try #require(list as? [String: Any])
    #expect(
      metadata.keys.sorted() == [
        "NSPersistenceFrameworkVersion", "NSStoreModelVersionChecksumKey",
        "NSStoreModelVersionHashes", "NSStoreModelVersionHashesDigest",
        "NSStoreModelVersionHashesVersion", "NSStoreModelVersionIdentifiers", "NSStoreType",
        "_NSAutoVacuumLevel",
      ])
    #expect(metadata["NSStoreType"] as? String == "SQLite")
    #expect((metadata["NSPersistenceFrameworkVersion"] as? Int ?? 0) >= 1320)
    #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
    #expect(metadata["NSStoreModelVersionIdentifiers"] as? [String] == [])
    let hashes = try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data])
    #expect(Set(hashes.keys) == Set(fixture.model.entities.compactMap(\.name)))
    #expect(hashes.values.allSatisfy { $0.count == 32 })
    func length(_ key: String) -> Int? {
      (metadata[key] as? String).flatMap { Data(base64Encoded: $0)?.count }
    }
    #expect(length("NSStoreModelVersionHashesDigest") == 64)
    #expect(length("NSStoreModelVersionChecksumKey") == 32)
    // The identifier is merged in on reading.
    #expect(fixture.store.metadata["NSStoreUUID"] as? String == fixture.store.identifier)
  }

  @Test func keysThatNobodyKnowsStayWhenMetadataAreWritten() throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    let kind = SQLiteStoreKind()
    var metadata = try kind.metadata(at: fixture.url, options: StoreOptions())
    let unknown: [String: Any] = [
      "NSPersistenceMaximumFrameworkVersion": 1526,
      "migrationManagerClass": "NSSQLiteInPlaceMigrationManager",
      "NSPersistentStoreRebuildIndicies": true, "app": ["list": [1, 2], "data": Data([1])],
      "when": Date(timeIntervalSinceReferenceDate: 5), "NSPersistenceFrameworkVersion": 977,
    ]
    metadata.merge(unknown) { $1 }
    try kind.setMetadata(metadata, at: fixture.url, options: StoreOptions())
    let store = try fixture.another()
    store.metadata["more"] = "x"
    _ = try fixture.receipt(store.save(SaveChangesRequest()))
    try store.close()
    let read = try kind.metadata(at: fixture.url, options: StoreOptions())
    #expect(read["more"] as? String == "x")
    for (key, value) in unknown {
      #expect(read[key] as? NSObject == value as? NSObject, "\(key)")
    }
  }

  /// The property list is NULL in one old file.
  @Test func aStoreThatNamesNoVersionOpensWhereItsTablesAreThoseOfTheModel() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([try fixture.row("Note", ["text": .string("t")])])[0]
    try fixture.store.close()
    fixture.isDamagedOnPurpose = true
    try fixture.execute("UPDATE Z_METADATA SET Z_PLIST = NULL")
    let store = try fixture.another()
    #expect(try store.snapshots(for: [row.objectID])[0]?.values == row.values)
    try store.close()

    for (damage, problem) in [
      ("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Remark' WHERE Z_ENT = 4", "other entities"),
      ("ALTER TABLE ZNOTE RENAME COLUMN ZTEXT TO ZBODY", "no column ZNOTE.ZTEXT"),
    ] {
      try fixture.execute(damage)
      let error = #expect(throws: CoreDataError.self) { try fixture.another() }
      #expect(error?.code == .persistentStoreIncompatibleVersionHash)
      #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
      #expect(error?.message.contains(StoreOptionKey.ignoreVersioning) == true)
    }
  }

  @Test(arguments: ["NULL", "''"])
  func aStoreWithoutAUUIDGetsOneWhenItIsOpenedForWriting(_ value: String) throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    try fixture.execute("UPDATE Z_METADATA SET Z_UUID = \(value)")
    let readOnly: [AnyHashable: Any] = [StoreOptionKey.readOnly: true]
    let error = #expect(throws: CoreDataError.self) { try fixture.another(options: readOnly) }
    #expect(error?.message.contains("no UUID") == true, "\(error?.message ?? "")")

    let store = try fixture.another()
    let identifier = try #require(store.identifier)
    #expect(UUID(uuidString: identifier) != nil)
    #expect(store.metadata[StoreMetadataKey.uuid] as? String == identifier)
    let id = try store.obtainPermanentIDs(for: [fixture.entity("Note")])[0]
    #expect(id.uriRepresentation().absoluteString.contains(identifier))
    try store.close()
    #expect(try fixture.column("SELECT Z_UUID FROM Z_METADATA") == [identifier])
  }

  // MARK: 2.3

  @Test func theModelCacheIsARawDeflateStreamOfAKeyedArchive() throws {
    let fixture = try StoreFixture()
    #expect(try fixture.column("SELECT COUNT(*) FROM Z_MODELCACHE") == ["1"])
    // Neither zlib's header nor gzip's.
    let start = try fixture.column("SELECT hex(substr(Z_CONTENT, 1, 2)) FROM Z_MODELCACHE")[0]
    #expect(!start.hasPrefix("78") && start != "1F8B")
    let model = try #require(
      try SQLiteStore.cachedModel(at: fixture.url, options: StoreOptions()))
    #expect(model.entityVersionHashesByName == fixture.model.entityVersionHashesByName)
  }

  @Test(arguments: ["DROP TABLE Z_MODELCACHE", "UPDATE Z_MODELCACHE SET Z_CONTENT = NULL"])
  func aStoreWithoutAModelInsideOpensAllTheSame(_ sql: String) throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Note", ["text": .string("t")])])
    try fixture.store.close()
    try fixture.execute(sql)
    #expect(try SQLiteStore.cachedModel(at: fixture.url, options: StoreOptions()) == nil)
    let store = try fixture.another()
    guard
      case .count(let count) = try store.fetch(
        StoreFetchRequest(entity: fixture.entity("Note"), result: .count))
    else { return }
    #expect(count == 1)
    try store.close()
  }
}
