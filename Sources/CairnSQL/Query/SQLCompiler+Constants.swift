import CairnModel
import CairnPredicates
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
    func parameter(_ value: AttributeValue, _ kind: SQLKind) throws -> SQLTerm {
      try dialect.constant(value, kind)
    }
    switch value {
    case .null: return SQLTerm(SQLFragment("NULL"), .null)
    case .boolean(let flag): return try parameter(.boolean(flag), .boolean)
    case .integer(let number): return try parameter(.integer(number), .integer)
    case .double(let number): return try parameter(.double(number), .double)
    case .decimal(let number): return try parameter(.decimal(number), .decimal)
    case .string(let text): return try parameter(.string(text), .string)
    case .date(let date): return try parameter(.date(date), .date)
    case .data(let data): return try parameter(.data(data), .data)
    case .uuid(let uuid): return try parameter(.uuid(uuid), .uuid)
    case .url(let url): return try parameter(.url(url), .url)
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
    return try dialect.constant(.integer(key), .object(root: root))
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
      return try dialect.constant(.integer(Int64(schema.entity(entity).number)), .entity)
    }
    throw SQLUnsupported()
  }

  // MARK: Lists

  /// `term IN (list)`, with nil members as `IS NULL`.
  func membership(_ term: SQLTerm, in members: [PredicateValue]) throws -> SQLFragment {
    let hasNull = members.contains(where: \.isNull)
    let values = members.filter { !$0.isNull }
    var parts: [SQLFragment] = []
    if hasNull { parts.append(term.isNull) }
    if !values.isEmpty {
      // Members that cannot be equal to the term would be dropped by SQL and by memory alike, but
      // only memory knows how; leave such lists to it.
      parts.append(try dialect.list(term, try values.map { try constant($0, for: term.kind) }))
    }
    if parts.isEmpty { return dialect.literal(false) }
    return parts.count == 1 ? parts[0] : "(" + .joined(parts, by: " OR ") + ")"
  }
}
