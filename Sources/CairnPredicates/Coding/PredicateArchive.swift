import Foundation

/// Predicates and expressions in keyed archives: as text, with the constants that text cannot hold
/// beside it.
enum PredicateArchive {
  private static let textKey = "CairnFormat"
  private static let argumentsKey = "CairnArguments"
  /// A variable no format string of a program is likely to use.
  private static let prefix = "CairnArchivedConstant"

  /// What a predicate or expression is in an archive.
  private struct Archived {
    var text: String
    var arguments: [Any] = []
  }

  // MARK: Writing

  /// - Parameter member: the place in a compound whose members are archived one by one.
  static func encode(_ node: PredicateNode, with coder: NSCoder, member: Int? = nil) {
    write(coder, member) { arguments in
      PredicatePrinter.text(
        of: try node.rewritingOrThrow { try separate($0, into: &arguments) })
    }
  }

  static func encode(_ node: ExpressionNode, with coder: NSCoder) {
    write(coder, nil) { arguments in
      PredicatePrinter.text(
        of: try node.rewritingOrThrow { try separate($0, into: &arguments) })
    }
  }

  private static func write(
    _ coder: NSCoder, _ member: Int?, _ text: (inout [Any]) throws -> String
  ) {
    do {
      var arguments: [Any] = []
      let text = try text(&arguments)
      coder.encode(text as NSString, forKey: key(textKey, member))
      if arguments.isEmpty { return }
      coder.encode(NSArray(array: arguments), forKey: key(argumentsKey, member))
    } catch {
      coder.failWithError(error)
    }
  }

  private static func key(_ name: String, _ member: Int?) -> String {
    member.map { "\(name)\($0)" } ?? name
  }

  /// Replaces what cannot be written as text by a variable.
  private static func separate(
    _ node: ExpressionNode, into arguments: inout [Any]
  ) throws -> ExpressionNode {
    if case .block = node { throw unsupported("a block") }
    guard case .constant(let value) = node, !isText(value) else { return node }
    if value.isNullObject { return .constant(.null) }
    guard let object = value.anyValue, isArchivable(object) else {
      throw unsupported(PredicatePrinter.text(of: node))
    }
    arguments.append(object)
    return .variable("\(prefix)\(arguments.count - 1)")
  }

  static func unsupported(_ what: String) -> any Error {
    CocoaError(
      .coderInvalidValue,
      userInfo: [NSDebugDescriptionErrorKey: "A predicate with \(what) cannot be archived."])
  }

  private static func isText(_ value: PredicateValue) -> Bool {
    switch value {
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url:
      return true
    case .array(let members): return members.allSatisfy(isText)
    case .set(let members): return members.allSatisfy(isText)
    case .objectID, .object, .dictionary: return false
    }
  }

  private static func isArchivable(_ object: Any) -> Bool {
    switch object {
    case is any PredicateObjectID: return false
    case let dictionary as [AnyHashable: Any]: return dictionary.values.allSatisfy(isArchivable)
    case let array as [Any]: return array.allSatisfy(isArchivable)
    case is NSSet, is String, is Date, is Data, is UUID, is URL, is any NSCoding: return true
    default: return false
    }
  }

  // MARK: Reading

  /// The tree of an archived predicate; nil when the archive holds none.
  static func predicate(from coder: NSCoder, member: Int? = nil) -> PredicateNode? {
    guard let archived = archived(in: coder, member) else { return nil }
    let node = try? PredicateParser.predicate(archived.text, arguments: nil, limits: .trusted)
    return node?.substituting(values(archived.arguments))
  }

  /// The tree of an archived expression; nil when the archive holds none.
  static func expression(from coder: NSCoder) -> ExpressionNode? {
    guard let archived = archived(in: coder, nil) else { return nil }
    let node = try? PredicateParser.expression(archived.text, arguments: nil, limits: .trusted)
    return node?.substituting(values(archived.arguments))
  }

  private static func archived(in coder: NSCoder, _ member: Int?) -> Archived? {
    let key = { name in Self.key(name, member) }
    guard coder.containsValue(forKey: key(textKey)),
      let text = coder.decodeObject(of: NSString.self, forKey: key(textKey))
    else { return nil }
    guard coder.containsValue(forKey: key(argumentsKey)) else {
      return Archived(text: text as String)
    }
    guard
      let arguments = coder.decodeObject(of: argumentClasses, forKey: key(argumentsKey)) as? [Any]
    else { return nil }
    return Archived(text: text as String, arguments: arguments)
  }

  private static var argumentClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self,
      NSDecimalNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSNull.self,
    ]
  }

  private static func values(_ arguments: [Any]) -> [String: PredicateValue] {
    var values: [String: PredicateValue] = [:]
    for (index, argument) in arguments.enumerated() {
      values["\(prefix)\(index)"] = PredicateValue(argument)
    }
    return values
  }
}

extension PredicateNode {
  /// A copy with every expression replaced, or the first error.
  fileprivate func rewritingOrThrow(
    _ change: (ExpressionNode) throws -> ExpressionNode
  ) throws -> PredicateNode {
    var problem: (any Error)?
    let node = rewriting(
      predicates: { node in
        if case .block = node { problem = problem ?? PredicateArchive.unsupported("a block") }
        return node
      },
      expressions: { $0.changed(change, &problem) })
    if let problem { throw problem }
    return node
  }
}

extension ExpressionNode {
  /// See ``PredicateNode/rewritingOrThrow(_:)``.
  fileprivate func rewritingOrThrow(
    _ change: (ExpressionNode) throws -> ExpressionNode
  ) throws -> ExpressionNode {
    var problem: (any Error)?
    let node = rewriting(
      predicates: { node in
        if case .block = node { problem = problem ?? PredicateArchive.unsupported("a block") }
        return node
      }, { $0.changed(change, &problem) })
    if let problem { throw problem }
    return node
  }

  fileprivate func changed(
    _ change: (ExpressionNode) throws -> ExpressionNode, _ problem: inout (any Error)?
  ) -> ExpressionNode {
    do {
      return try change(self)
    } catch {
      problem = problem ?? error
      return self
    }
  }
}
