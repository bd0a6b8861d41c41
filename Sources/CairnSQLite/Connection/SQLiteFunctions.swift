import CairnModel
import CairnPredicates
import CairnSQL
import Foundation
import GRDB
import GRDBSQLite

/// The SQL functions of every connection.
enum SQLiteFunctions {
  static func register(on database: Database) {
    for name in reporting { define(name, 5, for: .schema, database.sqliteConnection) { _ in } }
    SQLitePredicateFunctions.register(on: database.sqliteConnection)
    RowSum.register(on: database.sqliteConnection)
    for (name, selector) in SQLCollation.all {
      database.add(
        collation: DatabaseCollation(name) { a, b in
          ValueSorting.compare(.string(a), .string(b), by: selector)
        })
    }
    for (name, fold) in SQLFolding.all {
      define(name, 1, for: .schema, database.sqliteConnection) { call in
        guard let text = call.argument(0), text.isText else { return }
        call.result(fold(text.text))
      }
    }
  }

  /// What the triggers in Apple's files call to report changed objects; the results are ignored.
  private static let reporting = [
    "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue",
  ]

  /// Who may call a function.
  enum Caller {
    /// Statements of Cairn's, and nothing that the file brings.
    case direct
    /// Triggers and indexes of the file, too: it is harmless and quick.
    case schema

    fileprivate var flag: Int32 { self == .direct ? SQLITE_DIRECTONLY : SQLITE_INNOCUOUS }
  }

  /// Keeps a function's body for SQLite.
  private final class Definition {
    let body: (SQLiteCall) -> Void
    init(_ body: @escaping (SQLiteCall) -> Void) { self.body = body }
  }

  /// Makes a function, which gives the same for the same arguments.
  static func define(
    _ name: String, _ count: Int32, for caller: Caller, _ connection: OpaquePointer?,
    _ body: @escaping (SQLiteCall) -> Void
  ) {
    sqlite3_create_function_v2(
      connection, name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | caller.flag,
      CallbackContext.retained(Definition(body)),
      { context, count, values in
        guard let call = SQLiteCall(context, count, values) else { return }
        CallbackContext.object(sqlite3_user_data(context), as: Definition.self)?.body(call)
      }, nil, nil, CallbackContext.release)
  }
}
