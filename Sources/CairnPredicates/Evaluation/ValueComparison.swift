import Foundation

// The equality and order of predicate values. SQL generators must produce the same results, so
// this is the definition:
//
// Kinds. Every value has one of these kinds, and values of different kinds are never equal and
// never ordered by a predicate (`<`, `BETWEEN` … are false):
//   number     booleans as 1 and 0, integers, doubles, decimals, dates as seconds since
//              2001-01-01 00:00:00 UTC. By value across types: integers and doubles exactly,
//              decimals with decimals and integers exactly, decimals with doubles as doubles.
//   text       strings and URLs (their absolute string). Without options by UTF-8 bytes, like
//              SQLite's BINARY; two canonically equal spellings differ. With options, by the bytes
//              of what `StringFolding.fold` makes of them.
//   bytes      data and UUIDs (16 bytes), by bytes, a prefix first.
//   reference  managed objects and object IDs, by the ID. Ordered only for sorting.
//   array, set, dictionary   equal when their members are; never ordered.
//   object     anything else, by `isEqual` or `==`; ordered when it is `PredicateOrdered`.
//
// Null (nil, NSNull, NaN). Null equals null and nothing else. `!=` is true for null and a value,
// and false for null and null. Every other comparison with a null on either side is false. There
// is no third truth value: NOT turns each of these round.
//
// Sorting. Null first, then the kinds in the order above, then as here. References sort by store,
// entity name and key; sets, dictionaries and objects keep their places.

extension PredicateValue: Hashable {
  /// The groups within which values can be equal.
  package enum Kind: Int, Sendable {
    case null, number, text, bytes, reference, array, set, dictionary, object
  }

  package var kind: Kind {
    switch self {
    case .null: return .null
    case .boolean, .integer, .double, .decimal, .date: return .number
    case .string, .url: return .text
    case .data, .uuid: return .bytes
    case .objectID: return .reference
    case .object:
      if isNullObject { return .null }
      return identity == nil ? .object : .reference
    case .array: return .array
    case .set: return .set
    case .dictionary: return .dictionary
    }
  }

  /// The text of strings and URLs.
  package var text: String? {
    switch self {
    case .string(let string): return string
    case .url(let url): return url.absoluteString
    case .null, .boolean, .integer, .double, .decimal, .date, .data, .uuid, .objectID, .object,
      .array, .set, .dictionary:
      return nil
    }
  }

  /// The bytes of data and UUIDs.
  package var bytes: Data? {
    switch self {
    case .data(let data): return data
    case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { Data($0) }
    case .null, .boolean, .integer, .double, .decimal, .date, .string, .url, .objectID, .object,
      .array, .set, .dictionary:
      return nil
    }
  }

  package static func == (a: PredicateValue, b: PredicateValue) -> Bool {
    switch (a, b) {
    case (.null, .null): return true
    case (.integer(let a), .integer(let b)): return a == b
    case (.string(let a), .string(let b)): return TextOrder.compare(a, b) == .orderedSame
    case (.array(let a), .array(let b)): return a == b
    case (.set(let a), .set(let b)): return a == b
    case (.dictionary(let a), .dictionary(let b)): return a == b
    default: break
    }
    let kind = a.kind
    guard kind == b.kind else { return false }
    switch kind {
    case .number: return NumberOrder.compare(a, b) == .orderedSame
    case .text: return TextOrder.compare(a.text ?? "", b.text ?? "") == .orderedSame
    case .bytes: return a.bytes == b.bytes
    case .reference: return (a.identity as NSObject?) == (b.identity as NSObject?)
    case .object:
      guard case .object(let a) = a, case .object(let b) = b else { return false }
      return a.isEqual(to: b)
    case .null: return true
    case .array, .set, .dictionary: return false
    }
  }

  package func hash(into hasher: inout Hasher) {
    let kind = kind
    hasher.combine(kind)
    switch kind {
    case .null: break
    case .number: hasher.combine(NumberOrder.double(of: self))
    case .text:
      var text = text ?? ""
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .bytes: hasher.combine(bytes)
    case .reference: hasher.combine(identity as NSObject?)
    case .array: if case .array(let members) = self { hasher.combine(members) }
    case .set: if case .set(let members) = self { hasher.combine(members) }
    case .dictionary: if case .dictionary(let members) = self { hasher.combine(members) }
    case .object: if case .object(let reference) = self { reference.hash(into: &hasher) }
    }
  }

  /// How the value compares to another of the same kind; nil when predicates do not order them.
  package func compared(to other: PredicateValue) -> ComparisonResult? {
    let kind = kind
    guard kind == other.kind else { return nil }
    switch kind {
    case .number: return NumberOrder.compare(self, other)
    case .text: return TextOrder.compare(text ?? "", other.text ?? "")
    case .bytes: return TextOrder.compare(bytes ?? Data(), other.bytes ?? Data())
    case .object:
      guard case .object(let a) = self, case .object(let b) = other else { return nil }
      return (a.object as? any PredicateOrdered)?.order(comparedTo: b.object)
    case .null, .reference, .array, .set, .dictionary: return nil
    }
  }
}

/// An object that predicates put in order.
package protocol PredicateOrdered {
  /// How the object compares to another one; nil when neither comes first.
  func order(comparedTo other: Any) -> ComparisonResult?
}

extension ObjectReference {
  fileprivate func isEqual(to other: ObjectReference) -> Bool {
    if let a = object as? NSObject, let b = other.object as? NSObject { return a.isEqual(b) }
    if let a = object as? AnyHashable, let b = other.object as? AnyHashable { return a == b }
    if type(of: object) is AnyClass, type(of: other.object) is AnyClass {
      return (object as AnyObject) === (other.object as AnyObject)
    }
    return false
  }

  fileprivate func hash(into hasher: inout Hasher) {
    if let object = object as? NSObject {
      hasher.combine(object.hash)
    } else if let value = object as? AnyHashable {
      hasher.combine(value)
    }
  }
}
