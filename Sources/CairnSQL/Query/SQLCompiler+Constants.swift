import CairnModel
import Foundation

// Constants as parameters.

extension SQLCompiler {
  /// The parameter for a constant that is compared with a term of a kind, nil when the two can
  /// never be equal nor ordered in SQL as the evaluator would.
  func constant(_ value: PredicateValue, for kind: SQLKind) throws -> SQLTerm {
    if case .object(let root) = kind { return try objectConstant(value, root: root) }
    if kind == .entity { return try entityConstant(value) }
    let term = try constant(value)
    guard term.kind == .null || term.kind.isComparable(to: kind) else { throw SQLUnsupported() }
    return term
  }

  /// The parameter for a constant by itself.
  func constant(_ value: PredicateValue) throws -> SQLTerm {
    func parameter(_ value: AttributeValue, _ kind: SQLKind) -> SQLTerm {
      SQLTerm(SQLFragment("?", [value]), kind)
    }
    switch value {
    case .null: return SQLTerm(SQLFragment("NULL"), .null)
    case .boolean(let flag): return parameter(.boolean(flag), .boolean)
    case .integer(let number): return parameter(.integer(number), .integer)
    case .double(let number): return parameter(.double(number), .double)
    case .decimal(let number): return parameter(.decimal(number), .decimal)
    case .string(let text): return parameter(.string(text), .string)
    case .date(let date): return parameter(.date(date), .date)
    case .data(let data): return parameter(.data(data), .data)
    case .uuid(let uuid): return parameter(.uuid(uuid), .uuid)
    case .url(let url): return parameter(.url(url), .url)
    case .objectID, .object:
      guard let id = value.managedObjectID, schema.contains(id.entity) else {
        throw SQLUnsupported()
      }
      return try objectConstant(value, root: schema.entity(id.entity).rootNumber)
    case .array, .set, .dictionary: throw SQLUnsupported()
    }
  }

  /// The key of an object; -1, which no row has, for objects that are not rows of the hierarchy.
  private func objectConstant(_ value: PredicateValue, root: Int) throws -> SQLTerm {
    if value.isNull { return SQLTerm(SQLFragment("NULL"), .null) }
    guard let id = value.managedObjectID else { throw SQLUnsupported() }
    let key = Self.key(of: id, root: root, schema: schema, store: store)
    return SQLTerm(SQLFragment("?", [.integer(key)]), .object(root: root))
  }

  /// The key of an object as a row of a hierarchy, given by its root's number; -1 when it is none.
  static func key(
    of id: ManagedObjectID, root: Int, schema: SQLSchema, store: StoreIdentity?
  ) -> Int64 {
    guard let key = id.rowKey, schema.contains(id.entity),
      schema.entity(id.entity).rootNumber == root
    else { return -1 }
    if let store, let other = id.storeIdentity, other !== store,
      other.identifier != store.identifier
    {
      return -1
    }
    return key
  }

  private func entityConstant(_ value: PredicateValue) throws -> SQLTerm {
    if case .object(let reference) = value,
      let entity = reference.object as? EntityDescription, schema.contains(entity)
    {
      return SQLTerm(
        SQLFragment("?", [.integer(Int64(schema.entity(entity).number))]), .entity)
    }
    throw SQLUnsupported()
  }

  // MARK: Lists

  /// `term IN (list)`, with nil members as `IS NULL`.
  func membership(_ term: SQLTerm, in members: [PredicateValue]) throws -> SQLFragment {
    let hasNull = members.contains(where: \.isNull)
    let values = members.filter { !$0.isNull }
    var parts: [SQLFragment] = []
    if hasNull {
      parts.append("\(term.fragment.sql) IS NULL" + SQLFragment("", term.fragment.bindings))
    }
    if !values.isEmpty { parts.append(try list(term, values)) }
    if parts.isEmpty { return SQLFragment("0") }
    return parts.count == 1 ? parts[0] : "(" + .joined(parts, by: " OR ") + ")"
  }

  private func list(_ term: SQLTerm, _ values: [PredicateValue]) throws -> SQLFragment {
    // Members that cannot be equal to the term would be dropped by SQL and by memory alike, but
    // only memory knows how; leave such lists to it.
    let terms = try values.map { try constant($0, for: term.kind) }
    let bindings = terms.flatMap(\.fragment.bindings)
    if bindings.count > 4, let json = Self.json(bindings, for: term.kind) {
      return term.fragment
        + SQLFragment(" IN (SELECT value FROM json_each(?))", [.string(json)])
    }
    guard bindings.count <= SQLQueryPlan.maximumParameters else { throw SQLUnsupported() }
    if term.kind == .double || term.kind == .date, !bindings.allSatisfy(Self.isExactDouble) {
      throw SQLUnsupported()
    }
    // Padded to a power of two, so that lists of any length share a few statements.
    var padded = bindings
    if let last = bindings.last {
      var size = 1
      while size < bindings.count { size *= 2 }
      padded += [AttributeValue](repeating: last, count: size - bindings.count)
    }
    let marks = [String](repeating: "?", count: padded.count).joined(separator: ", ")
    return term.fragment + SQLFragment(" IN (\(marks))", padded)
  }

  /// A column of doubles makes doubles of the integers in a list.
  private static func isExactDouble(_ value: AttributeValue) -> Bool {
    guard case .integer(let number) = value else { return true }
    return Int64(exactly: Double(number)) == number
  }

  /// Integers or texts as one parameter, however many; nil for lists that JSON cannot hold exactly.
  private static func json(_ values: [AttributeValue], for kind: SQLKind) -> String? {
    var parts: [String] = []
    parts.reserveCapacity(values.count)
    for value in values {
      switch (value, kind) {
      case (.integer(let number), .integer), (.integer(let number), .boolean),
        (.integer(let number), .object):
        parts.append("\(number)")
      case (.boolean(let flag), .integer), (.boolean(let flag), .boolean):
        parts.append(flag ? "1" : "0")
      case (.string(let text), .string):
        guard let quoted = json(text) else { return nil }
        parts.append(quoted)
      default: return nil
      }
    }
    return "[" + parts.joined(separator: ",") + "]"
  }

  /// A text in JSON; nil when it has a NUL, where SQLite would end it.
  private static func json(_ text: String) -> String? {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0": return nil
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{1}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
