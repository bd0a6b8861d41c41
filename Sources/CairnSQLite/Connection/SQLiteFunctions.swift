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
    registerPredicates(on: database)
    database.add(function: text(SQLFunctionName.uppercase) { $0.uppercased() })
    database.add(function: text(SQLFunctionName.lowercase) { $0.lowercased() })
    database.add(
      function: text(SQLFunctionName.canonical) {
        StringFolding.fold($0, options: [.caseInsensitive, .diacriticInsensitive])
      })
  }

  // MARK: Predicates

  /// The evaluator's own implementations, so that SQL and memory agree.
  private static func registerPredicates(on database: Database) {
    database.add(
      function: DatabaseFunction(SQLFunctionName.fold, argumentCount: 2, pure: true) { values in
        guard let text = String.fromDatabaseValue(values[0]),
          let options = UInt.fromDatabaseValue(values[1])
        else { return nil }
        return StringFolding.fold(text, options: .init(rawValue: options))
      })
    database.add(
      function: DatabaseFunction(SQLFunctionName.compare, argumentCount: 4, pure: true) { values in
        guard let left = String.fromDatabaseValue(values[0]),
          let type = UInt.fromDatabaseValue(values[1]).flatMap({
            ComparisonPredicate.Operator(rawValue: $0)
          }),
          let right = String.fromDatabaseValue(values[2]),
          let options = UInt.fromDatabaseValue(values[3])
        else { return false }
        return try PredicateEvaluator.evaluate(
          .comparison(
            ComparisonNode(
              .constant(.string(left)), type, .constant(.string(right)),
              options: .init(rawValue: options))), with: nil, bindings: nil)
      })
    database.add(
      function: DatabaseFunction(SQLFunctionName.call, argumentCount: 2, pure: true) { values in
        guard
          let function = String.fromDatabaseValue(values[0]).flatMap({
            PredicateFunction(rawValue: $0)
          })
        else { return nil }
        let argument = predicateValue(values[1])
        if argument.isNull { return nil }
        return databaseValue(
          try PredicateEvaluator.value(
            of: .function(function, [.constant(argument)]), with: nil, context: nil))
      })
    for (name, selector) in SQLCollation.all {
      database.add(
        collation: DatabaseCollation(name) { a, b in
          ValueSorting.compare(.string(a), .string(b), by: selector)
        })
    }
  }

  private static func predicateValue(_ value: DatabaseValue) -> PredicateValue {
    switch value.storage {
    case .null, .blob: return .null
    case .int64(let number): return .integer(number)
    case .double(let number): return .double(number)
    case .string(let text): return .string(text)
    }
  }

  private static func databaseValue(_ value: PredicateValue) -> (any DatabaseValueConvertible)? {
    switch value {
    case .boolean(let flag): return flag
    case .integer(let number): return number
    case .double(let number): return number
    case .decimal(let number): return NSDecimalNumber(decimal: number).doubleValue
    case .string(let text): return text
    case .date(let date): return date.timeIntervalSinceReferenceDate
    case .null, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary: return nil
    }
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
