// Objects that the predicate tests evaluate.

import CairnModel
import CairnPredicates
import Foundation

/// An object with keys, as managed objects have them.
final class Sample: KeyValueReading, ObjectIdentifying {
  static let entity: EntityDescription = {
    let entity = EntityDescription()
    entity.name = "Sample"
    return entity
  }()

  let objectID: ManagedObjectID
  private let values: [String: Any]

  init(_ values: [String: Any] = [:]) {
    objectID = .temporary(entity: Self.entity)
    self.values = values
  }

  func value(forKey key: String) -> Any? { values[key] }
}

/// Evaluates a format string, for tables of cases.
func holds(_ format: String, _ object: Any? = nil, _ arguments: Any?...) throws -> Bool {
  try ObjectPredicate.parse(format, arguments: arguments).test(object)
}

/// The value of an expression's format string.
func value(_ format: String, _ object: Any? = nil, _ arguments: Any?...) throws -> PredicateValue {
  PredicateValue(try ObjectExpression.parse(format, arguments: arguments).value(for: object))
}
