import Foundation

/// Something a predicate compares: a constant, a key path, a function of others.
/// Source: `NSExpression`.
///
/// Immutable, may be used on any thread unless it mentions managed objects.
// Unchecked: immutable after initialisation.
open class ObjectExpression: NSObject, NSSecureCoding, NSCopying, ClusterMember,
  @unchecked Sendable
{
  /// The kinds of expressions, with Foundation's raw values.
  public enum ExpressionType: UInt, Sendable, Hashable, CaseIterable {
    case constantValue = 0
    case evaluatedObject = 1
    case variable = 2
    case keyPath = 3
    case function = 4
    case unionSet = 5
    case intersectSet = 6
    case minusSet = 7
    case subquery = 13
    case aggregate = 14
    case anyKey = 15
    case block = 19
    case conditional = 20
    /// `FETCH(…)`; `NSFetchRequestExpressionType`.
    case fetchRequest = 50
    /// `$name := value`; Foundation has it without a public name.
    case variableAssignment = 51
  }

  /// The tree, for code that evaluates or translates the expression.
  package let node: ExpressionNode
  /// How deep the tree is, where its maker knew.
  private let knownDepth: Int?
  /// The levels of the tree; see ``PredicateNesting``.
  package var depth: Int { knownDepth ?? node.depth }

  package init(node: ExpressionNode, depth: Int? = nil) {
    self.node = node
    knownDepth = depth
    super.init()
  }

  /// An expression made of parts, or one that refuses because they nest too deep.
  private convenience init(_ node: ExpressionNode, over depths: [Int]) {
    let depth = PredicateNesting.depth(over: depths)
    if depth > PredicateNesting.maximum {
      let refusal = ExpressionBlock(refusing: PredicateNesting.refusal)
      self.init(node: .block(refusal, []), depth: 1)
    } else {
      self.init(node: node, depth: depth)
    }
  }

  /// For subclasses; by itself the evaluated object, any key, or the nil constant.
  ///
  /// The other kinds have parts that only their own initialisers take; asking for one here is a
  /// programmer's error and traps.
  public init(expressionType type: ExpressionType) {
    switch type {
    case .evaluatedObject: node = .evaluatedObject
    case .anyKey: node = .anyKey
    case .constantValue: node = .constant(.null)
    case .variable, .keyPath, .function, .unionSet, .intersectSet, .minusSet, .subquery,
      .aggregate, .block, .conditional, .fetchRequest, .variableAssignment:
      // The type stands in the program's source; archives and formats do not come this way.
      fatalError("An expression of the type \(type) needs an initialiser with its parts.")
    }
    knownDepth = 1
    super.init()
  }

  /// An expression from a keyed archive; nil when the archive holds none.
  public required init?(coder: NSCoder) {
    guard let node = PredicateArchive.expression(from: coder) else { return nil }
    self.node = node
    knownDepth = nil
    super.init()
  }

  open class var supportsSecureCoding: Bool { true }

  /// Writes the expression to a keyed archive.
  ///
  /// Blocks and managed objects cannot be archived; the coder then fails.
  open func encode(with coder: NSCoder) {
    PredicateArchive.encode(node, with: coder)
  }

  /// The expression itself, which never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// A fixed value; nil is the nil constant.
  public convenience init(forConstantValue obj: Any?) {
    self.init(node: .constant(PredicateValue(constant: obj)))
  }

  /// The object under evaluation, `SELF`.
  open class func expressionForEvaluatedObject() -> ObjectExpression {
    ObjectExpression(node: .evaluatedObject)
  }

  /// Any key of the object; only Spotlight evaluates it.
  open class func expressionForAnyKey() -> ObjectExpression {
    ObjectExpression(node: .anyKey)
  }

  /// A value from the bindings, named without the dollar sign.
  public convenience init(forVariable string: String) {
    self.init(node: .variable(string))
  }

  /// The value at a key path of the evaluated object, or of a variable that it begins with:
  /// `$item.name`.
  public convenience init(forKeyPath keyPath: String) {
    self.init(node: .path(keyPath))
  }

  /// A call of a predefined function such as `sum:`.
  ///
  /// An unknown name is a programmer's error and traps.
  public convenience init(forFunction name: String, arguments parameters: [Any]) {
    let nodes = ObjectExpression.nodes(of: parameters)
    guard let node = ExpressionNode.call(name, nodes) else {
      // A name in the program's source; parsed text and archives take the throwing ways.
      fatalError("\(name) is not a supported method.")
    }
    self.init(node, over: ObjectExpression.depths(of: parameters))
  }

  /// A call of a method of another expression's value; only for evaluation in memory, and only of
  /// the methods Cairn knows.
  public convenience init(
    forFunction target: ObjectExpression, selectorName name: String, arguments parameters: [Any]?
  ) {
    let arguments = ObjectExpression.nodes(of: parameters ?? [])
    self.init(
      ExpressionNode.message(to: target.node, SelectorName(name), arguments),
      over: ObjectExpression.depths(of: parameters ?? []) + [target.depth])
  }

  /// An array of the values of other expressions.
  public convenience init(forAggregate subexpressions: [ObjectExpression]) {
    self.init(.aggregate(subexpressions.map(\.node)), over: subexpressions.map(\.depth))
  }

  public convenience init(forUnionSet left: ObjectExpression, with right: ObjectExpression) {
    self.init(
      .setOperation(.union, left.node, right.node), over: [left.depth, right.depth])
  }

  public convenience init(forIntersectSet left: ObjectExpression, with right: ObjectExpression) {
    self.init(
      .setOperation(.intersect, left.node, right.node), over: [left.depth, right.depth])
  }

  public convenience init(forMinusSet left: ObjectExpression, with right: ObjectExpression) {
    self.init(
      .setOperation(.minus, left.node, right.node), over: [left.depth, right.depth])
  }

  /// The members of a collection for which a predicate holds.
  public convenience init(
    forSubquery expression: ObjectExpression, usingIteratorVariable variable: String,
    predicate: ObjectPredicate
  ) {
    self.init(
      .subquery(expression.node, variable: variable, predicate.node),
      over: [expression.depth, predicate.depth])
  }

  /// One of two values, depending on a predicate.
  public convenience init(
    forConditional predicate: ObjectPredicate, trueExpression: ObjectExpression,
    falseExpression: ObjectExpression
  ) {
    self.init(
      .conditional(predicate.node, trueExpression.node, falseExpression.node),
      over: [predicate.depth, trueExpression.depth, falseExpression.depth])
  }

  /// A value computed by a closure; only for evaluation in memory.
  public convenience init(
    block: @escaping (Any?, [ObjectExpression], NSMutableDictionary?) -> Any,
    arguments: [ObjectExpression]?
  ) {
    let arguments = arguments ?? []
    self.init(
      .block(ExpressionBlock(block), arguments.map(\.node)), over: arguments.map(\.depth))
  }

  /// `FETCH(request, context, countOnly)`: the results of a fetch request, as `IN` takes them.
  public convenience init(
    forFetch request: ObjectExpression, context: ObjectExpression, countOnly: Bool
  ) {
    self.init(
      .fetch(request.node, context.node, countOnly: countOnly),
      over: [request.depth, context.depth])
  }

  /// An expression from its format string.
  ///
  /// A string that cannot be parsed is a programmer's error and traps; use ``parse(_:arguments:)``
  /// for text from elsewhere.
  public convenience init(format expressionFormat: String, _ args: Any?...) {
    self.init(node: ObjectExpression.parseOrTrap(expressionFormat, args))
  }

  /// As ``init(format:_:)``, with the arguments in an array.
  public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
    self.init(node: ObjectExpression.parseOrTrap(expressionFormat, arguments))
  }

  /// As ``init(format:_:)``, with the arguments in a C argument list, of the types that the
  /// directives name.
  public convenience init(format expressionFormat: String, arguments argList: CVaListPointer) {
    do {
      let arguments = try VariadicArguments.read(argList, for: expressionFormat)
      self.init(node: try ObjectExpression.parse(expressionFormat, arguments: arguments).node)
    } catch {
      // Only this process can make a C argument list; texts from outside are parsed by `parse`.
      fatalError("\(error)")
    }
  }

  /// An expression from its format string.
  ///
  /// - Throws: ``PredicateFormatError`` with the place where the text stops making sense.
  package static func parse(
    _ format: String, arguments: [Any?] = []
  ) throws -> ObjectExpression {
    ObjectExpression(
      node: try PredicateParser.expression(format, arguments: arguments, limits: .trusted))
  }

  private static func parseOrTrap(_ format: String, _ arguments: [Any?]) -> ExpressionNode {
    do {
      return try parse(format, arguments: arguments).node
    } catch {
      // For formats and objects in the program's source; parse and value(for:) throw instead.
      fatalError("\(error)")
    }
  }

  private static func nodes(of parameters: [Any]) -> [ExpressionNode] {
    parameters.map { ($0 as? ObjectExpression)?.node ?? .constant(PredicateValue(constant: $0)) }
  }

  private static func depths(of parameters: [Any]) -> [Int] {
    parameters.map { ($0 as? ObjectExpression)?.depth ?? 1 }
  }

  // MARK: Evaluation

  /// The expression's value for an object.
  ///
  /// `context` holds the values of variables.
  ///
  /// Traps where Foundation raises; use ``value(for:context:)`` to get errors instead.
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    do {
      return try value(for: object, context: context)
    } catch {
      // For formats and objects in the program's source; parse and value(for:) throw instead.
      fatalError("\(error)")
    }
  }

  /// The expression's value for an object.
  ///
  /// - Throws: ``PredicateEvaluationError``.
  package final func value(for object: Any?, context: NSMutableDictionary? = nil) throws -> Any? {
    try PredicateEvaluator.value(of: node, with: object, context: context).anyValue
  }

  /// For expressions that were decoded; nothing to do, since Cairn parses nothing unchecked.
  open func allowEvaluation() {}

  open override var description: String { PredicatePrinter.text(of: node) }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? ObjectExpression else { return false }
    return self === other || node.canonical == other.node.canonical
  }

  open override var hash: Int { node.canonical.hashValue }
}
