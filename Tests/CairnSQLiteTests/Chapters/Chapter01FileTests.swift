import CairnModel
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 1: the file itself.
///
/// Pragmas are shown by ``StoreOptionTests``.
@Suite struct Chapter01FileTests {
  private func header(_ url: URL) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: url).prefix(100))
  }

  @Test func theHeaderIsThatOfApplesFiles() throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    let header = try header(fixture.url)
    func word(_ place: Int) -> Int { header[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    #expect(header[16] == 0x10 && header[17] == 0)
    // Read and write version 2: a write-ahead log.
    #expect(header[18] == 2 && header[19] == 2)
    #expect(word(44) == 4, "schema format")
    #expect(word(48) == 0, "default cache size")
    #expect(word(56) == 1, "UTF-8")
    #expect(word(60) == 0, "user version")
    // The largest root page is there and the vacuum incremental: mode 2.
    #expect(word(52) != 0 && word(64) != 0)
    #expect(word(68) == 0, "application id")
  }

  @Test func theVacuumIsAlsoInTheMetadata() throws {
    let fixture = try StoreFixture()
    #expect(fixture.store.metadata["_NSAutoVacuumLevel"] as? String == "2")
  }

  @Test func aStoreWithARollbackJournalIsWrittenInItsOwnMode() throws {
    let pragmas = [StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"]]
    let fixture = try StoreFixture(options: pragmas)
    try fixture.insert([try fixture.row("Project")])
    try fixture.store.close()
    let header = try header(fixture.url)
    #expect(header[18] == 1 && header[19] == 1)
    #expect(!FileManager.default.fileExists(atPath: fixture.url.path + "-wal"))
  }

  @Test func objectsAreMadeInTheOrderOfApplesFiles() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    let names = try fixture.column(
      "SELECT name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    #expect(
      names == [
        "ZCOMPANY", "ZEMPLOYEE", "Z_2FRIENDS", "Z_2PROJECTS", "ZNOTE", "ZPROJECT",
        "ZEMPLOYEE_ZBOSS_INDEX", "ZEMPLOYEE_ZCOMPANY_INDEX", "ZEMPLOYEE_Z_ENT_INDEX",
        "Z_Employee_UNIQUE_email", "Z_2FRIENDS_REFLEXIVE_INDEX",
        "Z_2PROJECTS_Z_5PROJECTS_INDEX", "ZNOTE_Z2NOTES_INDEX", "Z_PRIMARYKEY", "Z_METADATA",
        "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING",
        "ACHANGE_ZTRANSACTIONID_INDEX", "ATRANSACTION_ZAUTHORTS_INDEX",
        "ATRANSACTION_ZBUNDLEIDTS_INDEX", "ATRANSACTION_ZCONTEXTNAMETS_INDEX",
        "ATRANSACTION_ZPROCESSIDTS_INDEX", "Z_TRANSACTION_TransactionAuthorIndex",
        "Z_TRANSACTION_TransactionTimestampIndex", "Z_TRANSACTIONSTRING_UNIQUE_NAME",
      ])
  }

  @Test func triggersFollowAllIndexes() throws {
    let spot = EntityDescription(
      name: "Spot",
      properties: [
        FormatModel.attribute("x", .double), FormatModel.attribute("name", .string),
        FormatModel.derived("copy", .string, "name"),
      ])
    let later = EntityDescription(name: "Tag", properties: [FormatModel.attribute("t", .string)])
    later.uniquenessConstraints = [["t"]]
    spot.indexes = [
      FetchIndexDescription(
        name: "place",
        elements: [
          FetchIndexElementDescription(property: spot.properties[0], collationType: .rTree)
        ])
    ]
    let fixture = try StoreFixture(model: try FormatModel.make(spot, later))
    let kinds = try fixture.column(
      "SELECT type FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL "
        + "ORDER BY rowid")
    #expect(kinds == ["index"] + Array(repeating: "trigger", count: 5))
  }

  @Test func theFileIsInOnePieceAgainWhenTheStoreIsClosed() throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project")])
    #expect(FileManager.default.fileExists(atPath: fixture.url.path + "-wal"))
    try fixture.store.close()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == ["Test.sqlite"])
  }
}
