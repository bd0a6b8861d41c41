// What a connection lets the schema of a file do, which any program may have written.

import CairnStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSQLite

@Suite struct DefenceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A database that SQL has made.
  private func file(_ sql: String = "CREATE TABLE t (x)") throws -> String {
    let path = folder.file("\(UUID().uuidString).sqlite")
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
    return path
  }

  private func open(
    _ path: String, options: [AnyHashable: Any] = [:]
  ) throws -> any DatabaseWriter {
    try ConnectionSettings(path: path, options: StoreOptions(options), isReadOnly: false).open()
  }

  private func inspection(of path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try SQLiteDefences.installForInspection(on: database)
      SQLiteFunctions.register(on: database)
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  @Test func theSchemasOwnTableCannotBeWritten() throws {
    let database = try open(try file())
    let error = #expect(throws: DatabaseError.self) {
      try database.writeWithoutTransaction {
        try $0.execute(
          sql:
            "PRAGMA writable_schema = ON; DELETE FROM sqlite_master; PRAGMA writable_schema = OFF")
      }
    }
    #expect(error?.message?.contains("may not be modified") == true)
    try database.close()
  }

  /// Core Data's option for files that may be lost.
  @Test func aProgramCanGoWithoutAJournal() throws {
    let database = try open(
      try file(), options: [StoreOptionKey.sqlitePragmas: ["journal_mode": "OFF"]])
    let mode = try database.writeWithoutTransaction {
      try String.fetchOne($0, sql: "PRAGMA journal_mode")
    }
    #expect(mode == "off")
    try database.close()
  }

  @Test(arguments: [
    "CREATE VIEW v AS SELECT load_extension('x')", "CREATE VIEW v AS SELECT CairnCall('x', 1)",
  ])
  func whatIsLookedAtCallsNothingThatIsNotHarmless(_ view: String) throws {
    let queue = try inspection(of: try file(view))
    let error = #expect(throws: DatabaseError.self) {
      _ = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM v") }
    }
    let message = error?.message ?? ""
    #expect(message.contains("unsafe use") || message.contains("no such function"), "\(message)")
    #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA cell_size_check") } == 1)
    #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA trusted_schema") } == 0)
    try queue.close()
  }

  /// They are in triggers of Core Data's files and in indexes of Cairn's.
  @Test(arguments: [
    "NSCoreDataTriggerUpdateAffectedObjectValue(1, 2, 3, 4, 5)", "CairnRowSum(1, 2)",
  ])
  func theFunctionsOfStoresAreHarmless(_ call: String) throws {
    let queue = try inspection(of: try file("CREATE VIEW v AS SELECT \(call)"))
    #expect(try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM v").count } == 1)
    try queue.close()
  }
}
