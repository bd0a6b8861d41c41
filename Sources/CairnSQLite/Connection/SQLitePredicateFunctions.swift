import CairnModel
import CairnPredicates
import CairnSQL
import Foundation
import GRDBSQLite

/// The SQL functions behind predicates: the evaluator's own implementations, so that SQL and memory
/// agree.
enum SQLitePredicateFunctions {
  static func register(on connection: OpaquePointer?) {
    define(SQLFunctionName.fold, 2, connection) { call in
      guard let text = call.argument(0), text.isText, let options = call.argument(1) else { return }
      call.result(StringFolding.fold(text.text, options: .init(rawValue: options.bits)))
    }
    define(SQLFunctionName.compare, 4, connection, compare)
    define(SQLFunctionName.call, -1, connection) { call in
      guard let name = call.argument(0), let function = PredicateFunction(rawValue: name.text)
      else { return }
      let arguments = (1..<call.count).compactMap { call.argument($0)?.predicateValue }
      do {
        call.result(try FunctionTable.call(function, arguments))
      } catch {
        call.fail(error)
      }
    }
    SQLiteAggregates.register(on: connection)
  }

  // MARK: Functions

  // A file's triggers, views and generated columns have no business with them, and could have a regular expression
  // work without end.
  private static func define(
    _ name: String, _ count: Int32, _ connection: OpaquePointer?,
    _ body: @escaping (SQLiteCall) -> Void
  ) {
    SQLiteFunctions.define(name, count, for: .direct, connection, body)
  }

  // MARK: Comparing texts

  /// `CairnCompare(left, operator, right, options)`; false where one side is NULL.
  private static func compare(_ call: SQLiteCall) {
    guard let left = call.argument(0), let right = call.argument(2), let type = call.argument(1),
      let options = call.argument(3), left.isText, right.isText
    else {
      call.result(false)
      return
    }
    // `IN` looks for its left side in the right one.
    let isIn = type.integer == Int64(ComparisonPredicate.Operator.in.rawValue)
    let (text, pattern, place) = isIn ? (right, left, Int32(0)) : (left, right, Int32(2))
    do {
      if let test: TextTest = CallbackContext.object(sqlite3_get_auxdata(call.context, place)) {
        call.result(try test.holds(for: text.bytes))
        return
      }
      let test = TextTest(
        type: ComparisonPredicate.Operator(rawValue: type.bits) ?? .equalTo,
        pattern: pattern.text, options: .init(rawValue: options.bits))
      call.result(try test.holds(for: text.bytes))
      // SQLite drops it at once unless the pattern is the same in all rows.
      sqlite3_set_auxdata(
        call.context, place, CallbackContext.retained(test), CallbackContext.release)
    } catch {
      call.fail(error)
    }
  }
}
