import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// The shape of a request: all of it but the values of its constants.
///
/// Only of requests whose SQL is the same for all constants of the same kinds, each of which is one
/// parameter, in the order of the predicate: direct comparisons of key paths with single values by
/// `=`, `!=`, `<`, `<=`, `>` and `>=`, joined by AND, OR and NOT. Nil is no value but part of the
/// shape.
struct SQLRequestTemplate: Sendable {
  let entityNumber: Int
  let isLimited: Bool
  private let includesSubentities: Bool
  private let predicate: PredicateNode?
  private let sortDescriptors: [ObjectSortDescriptor]
  /// For each constant that is an object, the number of the hierarchy's root that it is compared
  /// in.
  private let roots: [Int]

  /// Larger predicates are made by programs, and seldom come again.
  private static let maximumPartCount = 64

  /// Nil for requests that are not of such a shape.
  ///
  /// - Parameters:
  ///   - form: What the request was compiled to, with `bindings` as the values of its parameters.
  ///   - compiler: The one that did it; it is of no use afterwards.
  init?(
    _ request: StoreFetchRequest, _ form: SQLQueryForm, _ bindings: [AttributeValue],
    _ compiler: SQLCompiler
  ) {
    if case .dictionaries = request.result { return nil }
    guard !form.limitsInMemory, form.ordering.allSatisfy(\.bindings.isEmpty) else { return nil }
    let node = request.predicate?.node
    var reading = ShapeReading(compiler: compiler)
    if let node {
      guard reading.read(node), reading.partCount <= Self.maximumPartCount else { return nil }
    }
    entityNumber = form.entity.number
    includesSubentities = request.includesSubentities
    isLimited = request.limit > 0 || request.offset > 0
    // The values themselves may be large, and are of no interest.
    predicate = node?.rewriting { expression in
      guard case .constant(let value) = expression else { return expression }
      return .constant(value.emptied)
    }
    sortDescriptors = request.sortDescriptors
    roots = reading.roots
    // The compiler has the last word on what becomes a parameter.
    guard self.bindings(of: request, node, compiler.schema, compiler.store) == bindings else {
      return nil
    }
  }

  /// The values of the parameters for a request of this shape; nil for one of another.
  ///
  /// - Parameter node: That of the request's predicate.
  func bindings(
    of request: StoreFetchRequest, _ node: PredicateNode?, _ schema: SQLSchema,
    _ store: StoreIdentity?
  ) -> [AttributeValue]? {
    guard includesSubentities == request.includesSubentities,
      isLimited == (request.limit > 0 || request.offset > 0),
      sortDescriptors.count == request.sortDescriptors.count
    else { return nil }
    for (own, other) in zip(sortDescriptors, request.sortDescriptors) where own !== other {
      guard own.key == other.key, own.ascending == other.ascending,
        own.selector == other.selector, !other.hasCustomComparator
      else { return nil }
    }
    guard let predicate, let node else {
      return predicate == nil && node == nil ? [] : nil
    }
    var lifting = ConstantLifting(roots: roots, schema: schema, store: store)
    return lifting.lift(predicate, node) ? lifting.values : nil
  }
}

/// Finds out whether a predicate's shape can be kept.
private struct ShapeReading {
  let compiler: SQLCompiler
  var partCount = 0
  var roots: [Int] = []

  /// Whether the predicate's shape can be kept.
  mutating func read(_ node: PredicateNode) -> Bool {
    partCount += 1
    switch node {
    case .value: return true
    case .block: return false
    case .comparison(let comparison): return read(comparison)
    case .compound(_, let members):
      for member in members where !read(member) { return false }
      return true
    }
  }

  private mutating func read(_ comparison: ComparisonNode) -> Bool {
    switch comparison.type {
    case .lessThan, .lessThanOrEqualTo, .equalTo, .notEqualTo, .greaterThanOrEqualTo,
      .greaterThan:
      break
    case .matches, .like, .beginsWith, .endsWith, .in, .customSelector, .contains, .between:
      return false
    }
    guard comparison.modifier == .direct else { return false }
    return read(comparison.left, against: comparison.right)
      && read(comparison.right, against: comparison.left)
  }

  private mutating func read(_ node: ExpressionNode, against other: ExpressionNode) -> Bool {
    partCount += 1
    switch node {
    case .evaluatedObject, .keyPath: return true
    case .constant(let value):
      // Two constants make no statement about rows.
      if case .constant = other { return false }
      if case .objectID = value {
        guard case .object(let root)? = try? compiler.term(other).kind else { return false }
        roots.append(root)
        return true
      }
      return value.isSingle
    case .variable, .keyPathOf, .function, .element, .cast, .message, .setOperation, .subquery,
      .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return false
    }
  }
}

/// Takes the constants out of a predicate that has the shape of another.
private struct ConstantLifting {
  let roots: [Int]
  let schema: SQLSchema
  let store: StoreIdentity?
  var values: [AttributeValue] = []
  private var objects = 0

  init(roots: [Int], schema: SQLSchema, store: StoreIdentity?) {
    self.roots = roots
    self.schema = schema
    self.store = store
  }

  /// Whether both have the same shape; the values are those of the second.
  mutating func lift(_ template: PredicateNode, _ node: PredicateNode) -> Bool {
    switch (template, node) {
    case (.comparison(let own), .comparison(let other)):
      return own.type == other.type && own.modifier == other.modifier
        && own.options == other.options && lift(own.left, other.left, own.options)
        && lift(own.right, other.right, own.options)
    case (.compound(let type, let own), .compound(let otherType, let other)):
      guard type == otherType, own.count == other.count else { return false }
      for index in own.indices where !lift(own[index], other[index]) { return false }
      return true
    case (.value(let own), .value(let other)): return own == other
    case (.comparison, _), (.compound, _), (.value, _), (.block, _): return false
    }
  }

  private mutating func lift(
    _ template: ExpressionNode, _ node: ExpressionNode, _ options: ComparisonPredicate.Options
  ) -> Bool {
    if case .constant(let kind) = template {
      guard case .constant(let value) = node else { return false }
      return lift(kind, value, options)
    }
    if case .constant = node { return false }
    return template == node
  }

  private mutating func lift(
    _ kind: PredicateValue, _ value: PredicateValue, _ options: ComparisonPredicate.Options
  ) -> Bool {
    switch (kind, value) {
    case (.null, .null): break
    case (.boolean, .boolean(let value)): values.append(.boolean(value))
    case (.integer, .integer(let value)): values.append(.integer(value))
    case (.double, .double(let value)): values.append(.double(value))
    case (.decimal, .decimal(let value)): values.append(.decimal(value))
    case (.string, .string(let value)):
      values.append(.string(StringFolding.fold(value, options: options)))
    case (.date, .date(let value)): values.append(.date(value))
    case (.data, .data(let value)): values.append(.data(value))
    case (.uuid, .uuid(let value)): values.append(.uuid(value))
    case (.url, .url(let value)): values.append(.url(value))
    case (.objectID, .objectID):
      guard let id = value.managedObjectID else { return false }
      let key = SQLCompiler.key(of: id, root: roots[objects], schema: schema, store: store)
      objects += 1
      values.append(.integer(key))
    case (.null, _), (.boolean, _), (.integer, _), (.double, _), (.decimal, _), (.string, _),
      (.date, _), (.data, _), (.uuid, _), (.url, _), (.objectID, _), (.object, _), (.array, _),
      (.set, _), (.dictionary, _):
      return false
    }
    return true
  }
}

extension PredicateValue {
  /// Whether the value is one that a parameter holds as it is, or nil.
  fileprivate var isSingle: Bool {
    switch self {
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url:
      return true
    case .objectID, .object, .array, .set, .dictionary: return false
    }
  }

  /// A value of the same kind that takes no memory of its own.
  fileprivate var emptied: PredicateValue {
    switch self {
    case .string: return .string("")
    case .data: return .data(Data())
    case .null, .boolean, .integer, .double, .decimal, .date, .uuid, .url, .objectID, .object,
      .array, .set, .dictionary:
      return self
    }
  }
}
