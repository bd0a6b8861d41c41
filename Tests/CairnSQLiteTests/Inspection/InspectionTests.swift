import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// What a store file says of itself, and that Apple's files pass every check.
@Suite struct InspectionTests {
  private static let folder = ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"].flatMap {
    $0.isEmpty ? nil : URL(fileURLWithPath: $0).appendingPathComponent("apple-stores")
  }

  @Test func theFactsOfAStoreAreThoseThatItWasMadeWith() throws {
    let fixture = try CheckedStore.make()
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be changed") {
      try $0.execute("CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)")
    }
    let store = try StoreInspection(contentsOf: fixture.url)
    #expect(store.identifier == fixture.store.identifier)
    #expect(store.frameworkVersion == MetadataTable.frameworkVersion)
    #expect(store.versionChecksum == fixture.model.versionChecksum)
    #expect(store.journalMode == "wal")
    #expect(store.pageSize == 4096)
    #expect(
      store.entities.map { "\($0.number) \($0.name) \($0.superentity ?? "-") \($0.count ?? -1)" }
        == [
          "1 Company - 1", "2 Desk - 2", "3 Note - 2", "4 Person - 0", "5 Employee Person 3",
          "6 Manager Employee 1", "7 Project - 2",
        ])
    #expect(store.entities.map(\.isAbstract) == [false, false, false, true, false, false, false])
    #expect(
      Dictionary(uniqueKeysWithValues: store.entities.map { ($0.name, $0.versionHash) })
        == fixture.model.entityVersionHashesByName.mapValues { Optional($0) })
    #expect(store.history?.transactions == 4)
    #expect(store.history?.authors == ["tester"])
    #expect(store.history?.lastTransaction == 4)
    #expect(store.externalData?.files == 2)
    #expect(store.externalData?.size == Int64(2 * (ExternalDataFiles.threshold + 1)))
    #expect(store.foreignTables == ["ANSCKEVENT"])
    guard case .model(let model) = store.rememberedModel else {
      Issue.record("no model")
      return
    }
    #expect(model.entityVersionHashesByName == fixture.model.entityVersionHashesByName)
  }

  @Test func withoutAModelInsideOnlyWhatNeedsNoneIsChecked() throws {
    let fixture = try CheckedStore.make()
    fixture.isDamagedOnPurpose = true
    try fixture.store.close()
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be changed") {
      try $0.execute("DROP TABLE Z_MODELCACHE")
      try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Project'")
      try $0.execute("UPDATE Z_PRIMARYKEY SET Z_SUPER = 12 WHERE Z_NAME = 'Manager'")
      try $0.execute("UPDATE ZNOTE SET ZABOUT = 'x'")
    }
    let store = try StoreInspection(contentsOf: fixture.url)
    guard case .none = store.rememberedModel else {
      Issue.record("a model")
      return
    }
    #expect(store.entities.map(\.count) == [1, 2, 2, 0, 3, nil, 2])
    #expect(store.findings.map(\.rule) == [.superNumber, .keyCounter])
    let checked = try StoreInspection(contentsOf: fixture.url, model: fixture.model)
    #expect(checked.findings.contains { $0.rule == .value })
    #expect(try StoreInspection(contentsOf: fixture.url, checks: false).findings == [])
  }

  @Test(.enabled(if: folder != nil, "CAIRN_APPLE_FIXTURES names no folder"))
  func nothingIsFoundInTheStoresOfApplesFrameworkAndTheyAreNotTouched() throws {
    let folder = try #require(Self.folder)
    func listing() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }
    let before = try listing()
    var (stores, versions) = (0, Set<Int>())
    for name in before where name.hasSuffix(".sqlite") {
      let store = try StoreInspection(contentsOf: folder.appendingPathComponent(name))
      #expect(store.findings == [], "\(name)")
      #expect(!store.entities.isEmpty, "\(name)")
      #expect(
        store.entities.allSatisfy { $0.count != nil && $0.versionHash?.count == 32 }, "\(name)")
      #expect(UUID(uuidString: store.identifier) != nil, "\(name)")
      stores += 1
      if let version = store.frameworkVersion { versions.insert(version) }
    }
    #expect(stores >= 16)
    #expect(versions.isSuperset(of: [241, 637, 1044, 1344, 1526]))
    #expect(try listing() == before)
  }
}
