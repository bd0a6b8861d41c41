import Foundation

/// A condition on one object. Source: `NSPredicate`.
///
/// ```swift
/// let adults = ObjectPredicate(format: "age >= %d AND name BEGINSWITH[c] %@", 18, "a")
/// adults.evaluate(with: person)
/// ```
///
/// Predicates are immutable and may be used on any thread, unless they mention managed objects,
/// which belong to their context's queue. A format string gives a ``ComparisonPredicate`` or
/// ``CompoundPredicate`` where it describes one.
// Unchecked: immutable after initialisation.
open class ObjectPredicate: NSObject, NSSecureCoding, NSCopying, ClusterMember,
  @unchecked Sendable
{
  /// The tree that the predicate was made with, whatever a subclass answers.
  package let storedNode: PredicateNode
  /// How deep the tree is, where its maker knew.
  private let knownDepth: Int?

  package init(node: PredicateNode, depth: Int? = nil) {
    storedNode = node
    knownDepth = depth
    super.init()
  }

  /// For subclasses that override ``evaluate(with:substitutionVariables:)``; true by itself.
  public override init() {
    storedNode = .value(true)
    knownDepth = 1
    super.init()
  }

  /// A predicate that is always true or always false.
  public init(value: Bool) {
    storedNode = .value(value)
    knownDepth = 1
    super.init()
  }

  /// A predicate decided by a closure; only for evaluation in memory.
  public init(block: @escaping (Any?, [String: Any]?) -> Bool) {
    storedNode = .block(PredicateBlock(block))
    knownDepth = 1
    super.init()
  }

  /// A predicate from its format string.
  ///
  /// A string that cannot be parsed is a programmer's error and traps; use ``parse(_:arguments:)``
  /// for text from elsewhere.
  public convenience init(format predicateFormat: String, _ args: Any?...) {
    self.init(replacingWith: Self.parseOrTrap(predicateFormat, args))
  }

  /// As ``init(format:_:)``, with the arguments in an array.
  public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    self.init(replacingWith: Self.parseOrTrap(predicateFormat, arguments ?? []))
  }

  /// As ``init(format:_:)``, with the arguments in a C argument list, of the types that the
  /// directives name: `%d` takes a C `int`, `%ld` an `Int`, `%@` and `%K` an object.
  public convenience init(format predicateFormat: String, arguments argList: CVaListPointer) {
    do {
      let arguments = try VariadicArguments.read(argList, for: predicateFormat)
      self.init(replacingWith: try Self.parse(predicateFormat, arguments: arguments))
    } catch {
      // Only this process can make a C argument list; texts from outside are parsed by `parse`.
      fatalError("\(error)")
    }
  }

  /// A predicate from a keyed archive; nil when the archive holds none.
  public required init?(coder: NSCoder) {
    guard let node = PredicateArchive.predicate(from: coder) else { return nil }
    storedNode = node
    knownDepth = nil
    super.init()
  }

  open class var supportsSecureCoding: Bool { true }

  /// Writes the predicate to a keyed archive.
  ///
  /// Blocks and managed objects cannot be archived; the coder then fails.
  open func encode(with coder: NSCoder) {
    PredicateArchive.encode(node, with: coder)
  }

  /// The predicate itself, which never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// A predicate from its format string.
  ///
  /// - Parameter arguments: the values of `%@`, `%K`, `%d` … in order.
  /// - Throws: ``PredicateFormatError`` with the place where the text stops making sense.
  package static func parse(
    _ format: String, arguments: [Any?] = []
  ) throws -> ObjectPredicate {
    make(try PredicateParser.predicate(format, arguments: arguments, limits: .trusted))
  }

  /// A predicate from text that came over a wire: no arguments, and nothing beyond the limits.
  ///
  /// - Throws: ``PredicateFormatError``, also for what the limits forbid.
  package static func parse(
    untrusted text: String, limits: PredicateLimits = .untrusted
  ) throws -> ObjectPredicate {
    make(try PredicateParser.predicate(text, arguments: nil, limits: limits))
  }

  private static func parseOrTrap(_ format: String, _ arguments: [Any?]) -> ObjectPredicate {
    do {
      return try parse(format, arguments: arguments)
    } catch {
      // For formats and objects in the program's source; parse and test throw instead.
      fatalError("\(error)")
    }
  }

  /// The object of the class that fits the node.
  package static func make(_ node: PredicateNode) -> ObjectPredicate {
    switch node {
    case .comparison(let comparison): return ComparisonPredicate(comparison: comparison)
    case .compound(let type, let members): return CompoundPredicate(type: type, members: members)
    case .value, .block: return ObjectPredicate(node: node)
    }
  }

  /// The tree, for code that evaluates or translates the predicate.
  package var node: PredicateNode {
    let own = type(of: self)
    if own == ObjectPredicate.self || self is ComparisonPredicate || self is CompoundPredicate {
      return storedNode
    }
    if case .block = storedNode { return storedNode }
    return .block(
      PredicateBlock(owner: self) { self.evaluate(with: $0, substitutionVariables: $1) })
  }

  /// The levels of the tree; see ``PredicateNesting``.
  package var depth: Int { knownDepth ?? node.depth }

  // MARK: Evaluation

  /// Whether the object fulfils the predicate.
  ///
  /// Traps where Foundation raises; use ``test(_:substitutionVariables:)`` to get errors instead.
  open func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  /// Whether the object fulfils the predicate, with values for its `$variables`.
  open func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    do {
      return try test(object, substitutionVariables: bindings)
    } catch {
      // For formats and objects in the program's source; parse and test throw instead.
      fatalError("\(error)")
    }
  }

  /// Whether the object fulfils the predicate.
  ///
  /// - Throws: ``PredicateEvaluationError`` when the predicate asks for something impossible: a
  ///   variable without a value, ANY over a single value, text as a regular expression that is
  ///   none.
  package final func test(
    _ object: Any?, substitutionVariables bindings: [String: Any]? = nil
  ) throws -> Bool {
    try PredicateEvaluator.evaluate(storedNode, with: object, bindings: bindings)
  }

  /// For predicates that were decoded; nothing to do, since Cairn parses nothing unchecked.
  open func allowEvaluation() {}

  // MARK: Form

  /// The predicate as text; parses back to an equal predicate, except for blocks and objects.
  open var predicateFormat: String { PredicatePrinter.text(of: storedNode) }
  open override var description: String { predicateFormat }

  /// The predicate with `$variables` replaced by values.
  ///
  /// Variables not named stay.
  open func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    let made = ObjectPredicate.make(
      storedNode.substituting(variables.mapValues { PredicateValue(constant: $0) }))
    // A programmer's own subclass knows no variables that could be replaced here.
    return made as? Self ?? self
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? ObjectPredicate else { return false }
    return self === other || node.canonical == other.node.canonical
  }

  open override var hash: Int { node.canonical.hashValue }
}

/// Lets an initialiser give an object of a subclass, as Foundation's class clusters do.
package protocol ClusterMember {}

extension ClusterMember {
  /// Becomes the object given, which must be of this class.
  package init(replacingWith made: some ClusterMember) {
    guard let member = made as? Self else {
      // Only Compound- or ComparisonPredicate(format:) with a literal of the other kind.
      fatalError("A format string makes \(type(of: made)), which is not a \(Self.self).")
    }
    self = member
  }
}
