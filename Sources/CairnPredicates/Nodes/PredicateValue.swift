import Foundation

// The constants of predicates, and the values that predicates compare while they are evaluated.

/// A value inside a predicate.
///
/// Equality and order are defined in `ValueComparison.swift`.
package enum PredicateValue: Sendable {
  /// Nil, `NSNull` and NaN.
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  indirect case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  case objectID(any PredicateObjectID)
  /// Anything else, managed objects among them.
  case object(ObjectReference)
  case array([PredicateValue])
  case set(Set<PredicateValue>)
  case dictionary([PredicateValue: PredicateValue])
}

/// A reference to an object that a predicate mentions.
// Unchecked: the reference itself never changes. A managed object may only be touched on its
// context's queue; contexts therefore resolve objects to IDs before a predicate leaves that queue
// (`ObjectPredicate.resolvingObjects`).
package struct ObjectReference: @unchecked Sendable {
  package let object: Any

  package init(_ object: Any) {
    self.object = object
  }
}

extension PredicateValue {
  /// The identity of a managed object or object ID; nil for every other value.
  package var identity: (any PredicateObjectID)? {
    switch self {
    case .objectID(let id): return id
    case .object(let reference): return (reference.object as? any IdentifiedObject)?.identity
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url, .array,
      .set, .dictionary:
      return nil
    }
  }

  /// Whether there is no value.
  package var isNull: Bool {
    if case .null = self { return true }
    return isNullObject
  }

  /// `NSNull` as a constant: it is printed and handed back as what it is, and compared as null.
  package static let nullObject = PredicateValue.object(ObjectReference(NSNull()))

  /// Whether this is ``nullObject``.
  package var isNullObject: Bool {
    guard case .object(let reference) = self else { return false }
    return reference.object is NSNull
  }

  /// The value of a constant in a predicate: of anything, and of `NSNull` ``nullObject``.
  package init(constant value: Any?) {
    self = value is NSNull ? .nullObject : PredicateValue(value)
  }

  /// A double, or null for NaN, as in a database.
  package static func number(_ value: Double) -> PredicateValue {
    value.isNaN ? .null : .double(value)
  }

  /// A decimal, or null for NaN.
  package static func number(_ value: Decimal) -> PredicateValue {
    value.isNaN ? .null : .decimal(value)
  }

  /// The members of an array, a set, or the values of a dictionary; nil for single values.
  package var elements: [PredicateValue]? {
    switch self {
    case .array(let members): return members
    case .set(let members): return Array(members)
    case .dictionary(let members): return Array(members.values)
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
      .objectID, .object:
      return nil
    }
  }
}
