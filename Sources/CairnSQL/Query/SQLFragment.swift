import CairnModel
import CairnPredicates
import CairnStore

/// A piece of SQL with the values of its parameters, in order.
package struct SQLFragment: Sendable {
  package var sql: String
  package var bindings: [AttributeValue]
  /// Whether it is a condition that rows may satisfy which the predicate does not: memory tests
  /// those that are found.
  package var isCoarse: Bool

  package init(_ sql: String, _ bindings: [AttributeValue] = [], isCoarse: Bool = false) {
    self.sql = sql
    self.bindings = bindings
    self.isCoarse = isCoarse
  }

  package static func + (a: SQLFragment, b: SQLFragment) -> SQLFragment {
    SQLFragment(a.sql + b.sql, a.bindings + b.bindings, isCoarse: a.isCoarse || b.isCoarse)
  }
  package static func + (a: SQLFragment, b: String) -> SQLFragment {
    SQLFragment(a.sql + b, a.bindings, isCoarse: a.isCoarse)
  }
  package static func + (a: String, b: SQLFragment) -> SQLFragment {
    SQLFragment(a + b.sql, b.bindings, isCoarse: b.isCoarse)
  }

  package static func joined(_ parts: [SQLFragment], by separator: String) -> SQLFragment {
    SQLFragment(
      parts.map(\.sql).joined(separator: separator), parts.flatMap(\.bindings),
      isCoarse: parts.contains(where: \.isCoarse))
  }

  /// As `joined`, with parentheses around groups of a long list: databases limit how deep an
  /// expression may be, and a chain of one operator is as deep as it is long.
  static func grouped(_ parts: [SQLFragment], by separator: String) -> SQLFragment {
    let size = 400
    if parts.count <= size { return joined(parts, by: separator) }
    let groups = stride(from: 0, to: parts.count, by: size).map { start in
      "(" + joined(Array(parts[start..<min(start + size, parts.count)]), by: separator) + ")"
    }
    return grouped(groups, by: separator)
  }

  /// About how many places of a database's parser stack the text takes.
  ///
  /// SQLite's parser has 100, however large its other limits are.
  var nesting: Int {
    var weights: [Int] = []
    var depth = 0
    var deepest = 0
    let bytes = Array(sql.utf8)
    for (index, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "(") {
        let isSelect = bytes[(index + 1)...].starts(with: "SELECT".utf8)
        let before = index > 0 ? bytes[index - 1] : UInt8(ascii: " ")
        let isCall = before != UInt8(ascii: " ") && before != UInt8(ascii: "(")
        let weight = isSelect ? 8 : (isCall ? 5 : 3)
        weights.append(weight)
        depth += weight
        deepest = max(deepest, depth)
      } else if byte == UInt8(ascii: ")") {
        depth -= weights.popLast() ?? 0
      }
    }
    return deepest
  }
}

/// What an SQL expression gives.
package enum SQLKind: Equatable, Sendable {
  case integer
  case boolean
  case double
  case decimal
  case string
  case date
  case uuid
  case url
  /// Data that is stored as it is.
  case data
  /// Data that only `nil` may be compared with: tagged or transformed.
  case opaqueData
  /// The key of a row of a hierarchy, given by the root's number.
  case object(root: Int)
  case entity
  case null

  package init(_ type: AttributeType, isExternal: Bool) {
    switch type {
    case .integer16, .integer32, .integer64: self = .integer
    case .boolean: self = .boolean
    case .double, .float: self = .double
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .uri: self = .url
    case .binaryData: self = isExternal ? .opaqueData : .data
    case .transformable, .undefined, .objectID, .composite: self = .opaqueData
    }
  }

  /// Dates are numbers too, of seconds since 2001.
  package var isNumber: Bool {
    switch self {
    case .integer, .boolean, .double, .decimal, .date: return true
    case .string, .uuid, .url, .data, .opaqueData, .object, .entity, .null: return false
    }
  }

  /// Whether values are 64-bit integers.
  package var isInteger: Bool { self == .integer || self == .boolean }

  /// Whether predicates put such values in order.
  package var isOrdered: Bool { isNumber || self == .string }

  /// Whether values of both kinds can be equal, in SQL as in memory.
  func isComparable(to other: SQLKind) -> Bool {
    if isNumber && other.isNumber { return true }
    return self == other && self != .opaqueData
  }
}

/// An SQL expression and what it gives.
package struct SQLTerm {
  package var fragment: SQLFragment
  package var kind: SQLKind
  /// For objects: the expression of the exact entity's number.
  package var entityNumber: String?
  /// The columns that a value is kept in, where it takes more than one; the first is NULL where it is.
  package var parts: [SQLFragment] = []
  /// The options by which a text is still to be folded, in a dialect that has no function for it.
  package var folding: ComparisonPredicate.Options = []

  package init(_ fragment: SQLFragment, _ kind: SQLKind, entityNumber: String? = nil) {
    self.fragment = fragment
    self.kind = kind
    self.entityNumber = entityNumber
  }

  /// The value of a parameter; nil for every other term.
  package var parameter: AttributeValue? {
    fragment.sql == "?" ? fragment.bindings.first : nil
  }

  var isNull: SQLFragment { (parts.first ?? fragment) + " IS NULL" }
  var isNotNull: SQLFragment { (parts.first ?? fragment) + " IS NOT NULL" }
}

/// Something SQL cannot say; the evaluator takes over.
package struct SQLUnsupported: Error {
  package init() {}
}

/// What a request asks for that is wrong whatever evaluates it.
///
/// The texts are Core Data's; the code
/// is `coreData` (134060), where Core Data raises an invalid-argument exception.
package enum SQLQueryError {
  package static func unknownKeyPath(_ path: String, _ entity: SQLEntity) -> CoreDataError {
    CoreDataError(.coreData, "keypath \(path) not found in entity \(entity.name)")
  }
  static var missingRightSide: CoreDataError {
    CoreDataError(.coreData, "Invalid predicate: nil RHS")
  }
  static var toManyKey: CoreDataError {
    CoreDataError(.coreData, "to-many key not allowed here")
  }
  static var severalToManyKeys: CoreDataError {
    CoreDataError(.coreData, "multiple to-many keys not allowed here")
  }
  static var placeInMemory: CoreDataError {
    CoreDataError(.coreData, "A fetch that memory sorts has no places to go on from.")
  }
  static func unsupportedSort(_ descriptor: ObjectSortDescriptor) -> CoreDataError {
    CoreDataError(
      .coreData,
      descriptor.hasCustomComparator
        ? "unsupported NSSortDescriptor (comparator blocks are not supported)"
        : "unsupported NSSortDescriptor selector: \(descriptor.selector?.rawValue ?? "none")")
  }
  static func toManyColumn(_ key: String) -> CoreDataError {
    CoreDataError(
      .coreData, "Invalid to many relationship in setPropertiesToFetch: \(key)")
  }
  static var ungroupedColumn: CoreDataError {
    CoreDataError(
      .coreData,
      "SELECT clauses in queries with GROUP BY components can only contain properties named in the "
        + "GROUP BY or aggregate functions")
  }
}
