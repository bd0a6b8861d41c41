import Foundation

/// Finds types, type aliases, imports and `@NSManaged` declarations in a source file.
///
/// It does not understand statements: it follows braces and looks at what stands directly in a file
/// or a type.
package struct DeclarationReader {
  private let source: SwiftText
  private var index = 0
  private var result: FileDeclarations
  /// The scopes around the place.
  private var scopes: [Scope] = []
  /// Open `#if`s: the condition that holds now, those that did not, and the scopes at the start.
  private var conditionals: [(now: String, before: [String], scopes: [Scope])] = []
  private var prefix = DeclarationPrefix()

  private enum Scope {
    case type(Int)
    case other
  }

  private init(_ source: SwiftText) {
    self.source = source
    result = FileDeclarations(path: source.path)
  }

  /// - Throws: ``SourceProblem`` for a managed declaration that cannot be read.
  package static func read(_ source: SwiftText) throws -> FileDeclarations {
    var reader = DeclarationReader(source)
    while reader.index < source.tokens.count { try reader.step() }
    return reader.result
  }

  private var conditions: [String] { conditionals.map(\.now) }

  private func token(_ offset: Int = 0) -> SwiftToken? {
    let position = index + offset
    return position >= 0 && position < source.tokens.count ? source.tokens[position] : nil
  }

  private func place(_ token: SwiftToken) -> SourcePlace {
    let place = SwiftText.place(of: token.range.lowerBound, in: source.bytes)
    return SourcePlace(file: source.path, line: place.line, column: place.column)
  }

  /// Whether declarations here are members of a type or of the file.
  private var isAtDeclarations: Bool {
    guard let last = scopes.last else { return true }
    if case .type = last { return true }
    return false
  }

  private var innermostType: Int? {
    if case .type(let number)? = scopes.last { return number }
    return nil
  }

  private mutating func step() throws {
    guard let token = token() else { return }
    if token.kind == .pound, conditional(token) { return }
    if token.kind == .symbol {
      switch token.text {
      case "{":
        scopes.append(.other)
        prefix = DeclarationPrefix()
        index += 1
        return
      case "}":
        _ = scopes.popLast()
        prefix = DeclarationPrefix()
        index += 1
        return
      case "@":
        attribute()
        return
      default:
        prefix = DeclarationPrefix()
        index += 1
        return
      }
    }
    guard token.kind == .identifier else {
      prefix = DeclarationPrefix()
      index += 1
      return
    }
    try word(token)
  }

  private mutating func word(_ token: SwiftToken) throws {
    if let access = AccessLevel(rawValue: token.text), self.token(1)?.isSymbol(":") != true {
      noteStart()
      index += 1
      if self.token()?.isSymbol("(") == true, let close = source.closing(index) {
        // `private(set)` says nothing of reading.
        index = close + 1
      } else {
        prefix.access = access
      }
      return
    }
    if token.text == "import", isAtDeclarations, self.token(1)?.kind == .identifier {
      return readImport()
    }
    if token.text == "class", let next = self.token(1),
      ["func", "var", "let", "subscript"].contains(next.text)
        || AccessLevel(rawValue: next.text) != nil
        || DeclarationPrefix.modifiers.contains(next.text)
    {
      noteStart()
      prefix.isStatic = true
      index += 1
      return
    }
    if let kind = TypeDeclaration.Kind(rawValue: token.text),
      let name = self.token(1), name.kind == .identifier,
      self.token(-1)?.isSymbol(".") != true
    {
      return readType(kind)
    }
    if token.text == "typealias", self.token(1)?.kind == .identifier { return readAlias() }
    if (token.text == "var" || token.text == "let" || token.text == "func") && isAtDeclarations {
      return try readMember(token.text)
    }
    if DeclarationPrefix.modifiers.contains(token.text) {
      noteStart()
      prefix.add(modifier: token.text)
      index += 1
      if self.token()?.isSymbol("(") == true, let close = source.closing(index) {
        index = close + 1
      }
      return
    }
    prefix = DeclarationPrefix()
    index += 1
  }

  private mutating func noteStart() { prefix.start = prefix.start ?? index }

  // MARK: Conditions

  /// Follows `#if`; true when the token was one of its kind.
  private mutating func conditional(_ token: SwiftToken) -> Bool {
    let end = source.endOfLine(token.range.lowerBound)
    let condition = { [source] () -> String in
      let text = source.text(token.range.upperBound..<end)
      return (text.components(separatedBy: "//").first ?? "")
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    switch token.text {
    case "#if": conditionals.append((condition(), [], scopes))
    case "#elseif", "#else":
      guard var last = conditionals.popLast() else { break }
      let before = last.before + [last.now]
      let own = token.text == "#else" ? [] : ["(\(condition()))"]
      last.now = (before.map { "!(\($0))" } + own).joined(separator: " && ")
      last.before = token.text == "#else" ? before : last.before + [condition()]
      scopes = last.scopes
      conditionals.append(last)
    case "#endif": _ = conditionals.popLast()
    default:
      if token.startsLine, let type = innermostType { result.types[type].hasMacros = true }
      prefix = DeclarationPrefix()
      index += 1
      return true
    }
    while let next = self.token(), next.range.lowerBound < end { index += 1 }
    return true
  }

  // MARK: Attributes and imports

  private mutating func attribute() {
    noteStart()
    guard let name = token(1), name.kind == .identifier else {
      index += 1
      return
    }
    prefix.attributes.append(name.text)
    index += 2
    while token()?.isSymbol(".") == true, token(1)?.kind == .identifier { index += 2 }
    guard let open = token(), open.isSymbol("("),
      open.range.lowerBound == source.tokens[index - 1].range.upperBound,
      let close = source.closing(index)
    else { return }
    if name.text == "objc" {
      let inside = open.range.upperBound..<source.tokens[close].range.lowerBound
      prefix.objectiveCName = source.text(inside).trimmingCharacters(in: .whitespaces)
    }
    index = close + 1
  }

  private mutating func readImport() {
    let kinds = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
    var end = index + 1
    if let kind = token(1), kinds.contains(kind.text) { end += 1 }
    guard end < source.tokens.count else {
      index += 1
      return
    }
    let module = source.tokens[end].text
    while end + 2 < source.tokens.count, source.tokens[end + 1].isSymbol(".") { end += 2 }
    let attributes = prefix.attributes.filter { ["testable", "preconcurrency"].contains($0) }
    let range = source.tokens[index].range.lowerBound..<source.tokens[end].range.upperBound
    let text = source.text(range)
    result.imports.append(
      ImportDeclaration(
        text: (attributes.map { "@\($0)" } + [text]).joined(separator: " "), module: module,
        conditions: conditions))
    prefix = DeclarationPrefix()
    index = end + 1
  }

  // MARK: Types

  private mutating func readType(_ kind: TypeDeclaration.Kind) {
    let start = prefix.start ?? index
    var path: [String] = []
    if let outer = innermostType { path = result.types[outer].path }
    let isLocal = !isAtDeclarations
    index += 1
    if let name = token() { path.append(name.text) }
    index += 1
    while token()?.isSymbol(".") == true, let next = token(1), next.kind == .identifier {
      path.append(next.text)
      index += 2
    }
    var inherited: [String] = []
    var isGeneric = false
    var sawColon = false
    var angle = 0
    while let next = token(), !next.isSymbol("{"), !next.isSymbol("}"), !next.isWord("where") {
      if next.isSymbol("<") {
        if !sawColon { isGeneric = true }
        angle += 1
      }
      if next.isSymbol(">") { angle -= 1 }
      if next.isSymbol(":"), angle == 0 { sawColon = true }
      if sawColon, angle == 0, next.kind == .identifier {
        if token(-1)?.isSymbol(".") == true, let last = inherited.popLast() {
          inherited.append(last + "." + next.text)
        } else {
          inherited.append(next.text)
        }
      }
      index += 1
    }
    while let next = token(), !next.isSymbol("{"), !next.isSymbol("}") { index += 1 }
    // Members of an extension have its access level unless they say another.
    result.types.append(
      TypeDeclaration(
        kind: kind, path: path, access: prefix.access ?? .internal,
        objectiveCName: prefix.objectiveCName, attributes: prefix.attributes,
        inherited: inherited, isGeneric: isGeneric,
        isLocal: isLocal || (innermostType.map { result.types[$0].isLocal } ?? false),
        conditions: conditions, place: place(source.tokens[start])))
    prefix = DeclarationPrefix()
    guard token()?.isSymbol("{") == true else { return }
    scopes.append(.type(result.types.count - 1))
    index += 1
  }

  private mutating func readAlias() {
    let path = (innermostType.map { result.types[$0].path } ?? []) + [token(1)?.text ?? ""]
    let canName = isAtDeclarations
    index += 2
    prefix = DeclarationPrefix()
    guard canName, token()?.isSymbol("=") == true else { return }
    var reader = TypeReader(source, at: index + 1)
    // What cannot be read is no type of a managed property.
    if let type = try? reader.type() { result.aliases.append((path, type)) }
  }

  // MARK: Members

  private mutating func readMember(_ word: String) throws {
    defer { prefix = DeclarationPrefix() }
    let isManaged = prefix.attributes.contains("NSManaged")
    guard let type = innermostType else {
      index += 1
      return
    }
    if prefix.isOverride, let name = token(1), name.kind == .identifier {
      result.types[type].overrides.append(name.text)
    }
    let owner = result.types[type]
    let inherited = owner.kind == .extension ? owner.access : .internal
    let access = prefix.access ?? inherited
    if isManaged, word == "func" { return try readMethod(type, access) }
    if isManaged, word == "var" { return try readProperties(type, access) }
    // Key paths to what belongs to an actor cannot be made outside of it.
    let isIsolated =
      !prefix.isNonisolated
      && (prefix.attributes + owner.attributes).contains { $0.hasSuffix("Actor") }
    guard !prefix.isStatic, !isIsolated, let name = token(1), name.kind == .identifier else {
      index += 1
      return
    }
    let variable = TypeDeclaration.Variable(
      name: name.text, access: access, conditions: conditions,
      isMarked: prefix.attributes.contains("objc") || prefix.attributes.contains("objcMembers"),
      objectiveCName: prefix.objectiveCName)
    if word != "func" {
      if !hasGetterWithEffects { result.types[type].variables.append(variable) }
    } else if variable.isMarked, isGetter {
      result.types[type].getters.append(variable)
    }
    index += 1
  }

  /// Whether the variable here is read with `async` or `throws`, which no key path can do.
  private var hasGetterWithEffects: Bool {
    var position = index + 2
    while position < source.tokens.count {
      let token = source.tokens[position]
      if token.isSymbol("=") || token.isSymbol("}") || token.isSymbol(";") { return false }
      if token.isSymbol("{") { break }
      if token.startsLine, token.kind != .symbol { return false }
      position += 1
    }
    guard position + 2 < source.tokens.count, source.tokens[position + 1].isWord("get") else {
      return false
    }
    return ["async", "throws"].contains(source.tokens[position + 2].text)
  }

  /// Whether the method here has no parameters and a result.
  private var isGetter: Bool {
    token(2)?.isSymbol("(") == true && token(3)?.isSymbol(")") == true
      && token(4)?.isSymbol("->") == true
  }

  private mutating func readProperties(_ type: Int, _ access: AccessLevel) throws {
    repeat {
      index += 1
      guard let name = token(), name.kind == .identifier else {
        throw problem("a name is missing after @NSManaged var")
      }
      guard token(1)?.isSymbol(":") == true else {
        throw problem("the type of \(name.text) must be written after a colon")
      }
      var reader = TypeReader(source, at: index + 2)
      let written = try reader.type()
      index = reader.index
      result.types[type].managed.append(
        ManagedDeclaration(
          name: name.text, form: .property(written), access: access, conditions: conditions,
          place: place(name)))
    } while token()?.isSymbol(",") == true
  }

  private mutating func readMethod(_ type: Int, _ access: AccessLevel) throws {
    guard let name = token(1), name.kind == .identifier, token(2)?.isSymbol("(") == true,
      let close = source.closing(index + 2)
    else { throw problem("this method cannot be read") }
    index += 3
    var parameters: [ManagedDeclaration.Parameter] = []
    while index < close {
      guard let label = token(), label.kind == .identifier else {
        throw problem("this parameter cannot be read")
      }
      index += token(1)?.kind == .identifier ? 2 : 1
      guard token()?.isSymbol(":") == true else { throw problem("a colon is missing") }
      var reader = TypeReader(source, at: index + 1)
      parameters.append(
        .init(label: label.text == "_" ? nil : label.text, type: try reader.type()))
      index = reader.index
      if token()?.isSymbol(",") == true { index += 1 }
    }
    index = close + 1
    var returned = TypeSyntax.void
    if token()?.isSymbol("->") == true {
      var reader = TypeReader(source, at: index + 1)
      returned = try reader.type()
      index = reader.index
    }
    result.types[type].managed.append(
      ManagedDeclaration(
        name: name.text, form: .method(parameters: parameters, result: returned), access: access,
        conditions: conditions, place: place(name)))
  }

  private func problem(_ reason: String) -> SourceProblem {
    source.problem(at: token()?.range.lowerBound ?? source.bytes.count, reason)
  }
}
