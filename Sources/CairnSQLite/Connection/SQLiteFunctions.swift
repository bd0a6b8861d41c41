import CairnModel
import CairnSQL
import Foundation
import GRDB

/// The SQL functions of every connection.
enum SQLiteFunctions {
  static func register(on database: Database) {
    for name in reporting {
      database.add(function: DatabaseFunction(name, argumentCount: 5) { _ in nil })
    }
    SQLitePredicateFunctions.register(on: database.sqliteConnection)
    RowSum.register(on: database.sqliteConnection)
    for (name, selector) in SQLCollation.all {
      database.add(
        collation: DatabaseCollation(name) { a, b in
          ValueSorting.compare(.string(a), .string(b), by: selector)
        })
    }
    for (name, fold) in SQLFolding.all { database.add(function: text(name, fold)) }
  }

  /// What the triggers in Apple's files call to report changed objects; the results are ignored.
  private static let reporting = [
    "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue",
  ]

  private static func text(
    _ name: String, _ change: @escaping @Sendable (String) -> String
  ) -> DatabaseFunction {
    DatabaseFunction(name, argumentCount: 1, pure: true) { values in
      String.fromDatabaseValue(values[0]).map(change)
    }
  }
}
