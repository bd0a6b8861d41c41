/// Which classes the sources declare, so that porting knows those of managed objects.
package struct ClassNames {
  /// A type, or an extension of one, whose braces are open.
  struct Scope: Equatable {
    let kind: String
    let name: String
    /// What stands after the colon.
    let inherited: [String]
    /// What stands first there.
    var parent: String? { inherited.first }
    /// Where its declaration begins, as a token.
    let start: Int

    /// The declaration that begins with the word at a place; nil for another word.
    init?(_ tokens: [SwiftToken], at index: Int) {
      let word = tokens[index]
      guard word.kind == .identifier, Self.kinds.contains(word.text), index + 1 < tokens.count,
        tokens[index + 1].kind == .identifier,
        !SourcePorting.declarations.contains(tokens[index + 1].text),
        index == 0 || !tokens[index - 1].isSymbol(".")
      else { return nil }
      (kind, start) = (word.text, index)
      var name = tokens[index + 1].text
      var next = index + 2
      while next + 1 < tokens.count, tokens[next].isSymbol("."),
        tokens[next + 1].kind == .identifier
      {
        name += "." + tokens[next + 1].text
        next += 2
      }
      self.name = name
      var depth = 0
      while next < tokens.count, tokens[next].isSymbol("<") || depth > 0 {
        if tokens[next].isSymbol("<") { depth += 1 }
        if tokens[next].isSymbol(">") { depth -= 1 }
        next += 1
      }
      guard next < tokens.count, tokens[next].isSymbol(":") else {
        inherited = []
        return
      }
      inherited = Self.list(tokens, after: next)
    }

    /// The last names of the types that a list has, up to the brace or a `where`.
    private static func list(_ tokens: [SwiftToken], after colon: Int) -> [String] {
      var found: [String] = []
      var depth = 0
      for token in tokens.dropFirst(colon + 1) {
        if token.isSymbol("{") || token.isWord("where") { break }
        if token.isSymbol("<") { depth += 1 }
        if token.isSymbol(">") { depth -= 1 }
        // `CoreData.NSManagedObject`
        if depth == 0, token.isSymbol(".") { found = found.dropLast() }
        if depth == 0, token.kind == .identifier, token.text != "any" { found.append(token.text) }
      }
      return found
    }

    private static let kinds: Set<String> = [
      "class", "struct", "enum", "actor", "protocol", "extension",
    ]
  }

  /// What a class is, as far as the sources say.
  enum Nature {
    case managed, other, unknown
  }

  private var parents: [String: String?] = [:]
  /// All types that the sources declare, without those around them.
  private var types: Set<String> = []
  /// Classes whose own `fetchRequest()` says what it finds.
  private(set) var typedRequests: Set<String> = []
  /// The `validate<Key>` methods, `Item.validateName`, that the sources name without calling them: where a class
  /// lists its `keyValidators`.
  private(set) var listedValidators: Set<String> = []

  package init() {}

  /// Adds the classes of a file.
  package mutating func add(_ source: SwiftText) {
    var scopes: [Scope?] = []
    var opening: Scope?
    for (index, token) in source.tokens.enumerated() {
      if let scope = Scope(source.tokens, at: index) {
        opening = scope
        if scope.kind == "class" { parents[scope.name] = scope.parent }
        if scope.kind != "extension" { types.insert(scope.name) }
      }
      if token.isSymbol("{") {
        scopes.append(opening)
        opening = nil
      } else if token.isSymbol("}") {
        _ = scopes.popLast()
      } else if token.isWord("fetchRequest"), index > 0, source.tokens[index - 1].isWord("func"),
        let scope = scopes.last, let scope
      {
        typedRequests.insert(scope.name)
      } else if token.text.hasPrefix("validate"), index > 1,
        source.tokens[index - 1].isSymbol("."), index + 1 < source.tokens.count,
        !source.tokens[index + 1].isSymbol("(")
      {
        let owner = source.tokens[index - 2].text
        let name = owner == "Self" ? scopes.compactMap(\.self).last?.name ?? owner : owner
        listedValidators.insert("\(name).\(token.text)")
      }
    }
  }

  /// Whether objects of a class are managed objects.
  func nature(of name: String) -> Nature {
    var (name, steps) = (name, 0)
    while steps < 32 {
      if ["NSManagedObject", "ManagedObject"].contains(name) { return .managed }
      guard let parent = parents[name] else {
        // Classes of Apple's frameworks; others may be generated from a model.
        let prefixes = ["NS", "UI", "CA", "MK", "AV", "CL", "WK", "SK", "XC", "CK"]
        let isApples = prefixes.contains { prefix in
          name.hasPrefix(prefix) && name.dropFirst(2).first?.isUppercase == true
        }
        return isApples ? .other : .unknown
      }
      guard let parent else { return .other }
      (name, steps) = (parent, steps + 1)
    }
    return .unknown
  }

  /// Whether a class is one of views or of controllers of views.
  func isOfInterface(_ name: String) -> Bool {
    var (name, steps) = (name, 0)
    while let parent = parents[name], let parent, steps < 32 { (name, steps) = (parent, steps + 1) }
    let isApples = ["UI", "NS", "AV", "MK", "WK", "SF", "QL"].contains { name.hasPrefix($0) }
    if name.hasPrefix("UI"), name.dropFirst(2).first?.isUppercase == true {
      return !["UIImage", "UIColor", "UIFont", "UIDevice"].contains(name)
    }
    // Those of frameworks, and of packages that are not at hand.
    let endings = [
      "ViewController", "View", "Cell", "Window", "Button", "Responder", "TabBarController",
    ]
    return (isApples || parents[name] == nil) && endings.contains { name.hasSuffix($0) }
  }

  /// Whether the sources declare a class.
  func declares(_ name: String) -> Bool { parents[name] != nil }

  /// Whether the sources declare a type, be it inside another one.
  func declaresType(_ name: String) -> Bool { types.contains(name) }
}
