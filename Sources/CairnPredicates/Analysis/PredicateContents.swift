// What a predicate mentions, so that callers can check it before they run it.

/// The parts that a predicate mentions.
package struct PredicateContents: Sendable {
  /// Key paths that start at the evaluated object.
  package var keyPaths: Set<String> = []
  /// Variables that are not bound by a SUBQUERY inside the predicate.
  package var freeVariables: Set<String> = []
  package var functions: Set<PredicateFunction> = []
  /// Whether there is something only memory can evaluate: blocks, messages, custom selectors.
  package var needsMemory = false
  /// Whether a constant holds a managed object rather than its ID.
  package var mentionsObjects = false
  /// Comparisons, compounds and expressions together.
  package var nodeCount = 0
  /// Variables bound by the SUBQUERYs around the node being read.
  private var bound: [String] = []

  fileprivate mutating func read(_ node: PredicateNode) {
    nodeCount += 1
    switch node {
    case .value: break
    case .block: needsMemory = true
    case .comparison(let comparison):
      if comparison.type == .customSelector { needsMemory = true }
      read(comparison.left)
      read(comparison.right)
    case .compound(_, let members): for member in members { read(member) }
    }
  }

  fileprivate mutating func read(_ node: ExpressionNode) {
    nodeCount += 1
    switch node {
    case .evaluatedObject, .anyKey: break
    case .constant(let value): if value.mentionsObjects { mentionsObjects = true }
    case .variable(let name): if !bound.contains(name) { freeVariables.insert(name) }
    case .keyPath(let path): keyPaths.insert(path)
    case .keyPathOf(let node, _), .cast(let node, _), .assignment(_, let node): read(node)
    case .function(let function, let arguments):
      functions.insert(function)
      for argument in arguments { read(argument) }
    case .element(let node, let index):
      read(node)
      if case .at(let index) = index { read(index) }
    case .message(let node, _, let arguments):
      needsMemory = true
      read(node)
      for argument in arguments { read(argument) }
    case .setOperation(_, let a, let b), .fetch(let a, let b, _):
      read(a)
      read(b)
    case .subquery(let node, let variable, let predicate):
      read(node)
      bound.append(variable)
      read(predicate)
      bound.removeLast()
    case .aggregate(let members): for member in members { read(member) }
    case .block(_, let arguments):
      needsMemory = true
      for argument in arguments { read(argument) }
    case .conditional(let predicate, let a, let b):
      read(predicate)
      read(a)
      read(b)
    }
  }
}

extension PredicateNode {
  /// Whether the predicate compares key paths and single values that are no objects, and nothing
  /// else: it can be handed to a store as it is.
  package var isPlain: Bool {
    switch self {
    case .value: return true
    case .block: return false
    case .comparison(let comparison):
      return comparison.left.isPlain && comparison.right.isPlain
    case .compound(_, let members): return members.allSatisfy(\.isPlain)
    }
  }

  /// What the predicate mentions.
  package var contents: PredicateContents {
    var contents = PredicateContents()
    contents.read(self)
    return contents
  }
}

extension ExpressionNode {
  /// See ``PredicateNode/isPlain``.
  fileprivate var isPlain: Bool {
    switch self {
    case .evaluatedObject, .keyPath, .anyKey: return true
    case .constant(let value): return value.isPlain
    case .variable, .keyPathOf, .function, .element, .cast, .message, .setOperation, .subquery,
      .aggregate, .block, .conditional, .assignment, .fetch:
      return false
    }
  }

  /// What the expression mentions.
  package var contents: PredicateContents {
    var contents = PredicateContents()
    contents.read(self)
    return contents
  }
}

extension PredicateValue {
  fileprivate var isPlain: Bool {
    switch self {
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
      .objectID:
      return true
    case .object, .array, .set, .dictionary: return false
    }
  }

  fileprivate var mentionsObjects: Bool {
    switch self {
    case .object: return identity != nil
    case .array(let members): return members.contains(where: \.mentionsObjects)
    case .set(let members): return members.contains(where: \.mentionsObjects)
    case .dictionary(let members): return members.values.contains(where: \.mentionsObjects)
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
      .objectID:
      return false
    }
  }
}
