/// Makes the edits that sources for Apple's platforms need before Swift on Linux compiles them.
///
/// Code that Linux does not compile (`#if canImport(UIKit)`) is left alone. The edits keep the source
/// compiling on Apple's platforms; making them twice changes nothing.
package struct SourcePorting {
  let source: SwiftText
  var edits: [SourceEdit] = []
  var remarks: [SourceProblem] = []
  var index = 0
  /// For each open `#if`: whether its code is compiled on Linux, and what its branches before said.
  private var conditionals: [(now: Bool?, before: [Bool?])] = []

  /// Declarations that go into their class.
  var moves: [Move] = []
  /// Whether code that Linux compiles names something of Core Data's.
  var namesCoreData = false

  /// Whether code that Linux compiles names something of Combine's, and whether it imports that.
  var (namesCombine, importsCombine) = (false, false)
  /// The first name of UIKit in code that Linux compiles.
  var firstOfUIKit: SwiftToken?

  /// The classes of the sources.
  let classes: ClassNames
  /// What stands around the place: nil for a brace of another kind.
  private(set) var scopes: [ClassNames.Scope?] = []
  private var opening: ClassNames.Scope?

  private init(_ source: SwiftText, classes: ClassNames) {
    self.source = source
    self.classes = classes
  }

  /// - Parameter classes: Those of the other files that are ported.
  package static func port(
    _ source: SwiftText, classes: ClassNames = ClassNames()
  ) -> PortedSource {
    var classes = classes
    classes.add(source)
    var porting = SourcePorting(source, classes: classes)
    if !porting.wrapUserInterface() {
      while porting.index < source.tokens.count { porting.step() }
      porting.addMissing()
      porting.remarkOnInterface()
      porting.makeMoves()
    }
    return PortedSource(
      source: source,
      edits: porting.edits.sorted {
        ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
      },
      remarks: porting.remarks.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
  }

  func token(_ offset: Int = 0) -> SwiftToken? {
    let position = index + offset
    return position >= 0 && position < source.tokens.count ? source.tokens[position] : nil
  }
  var isForLinux: Bool { !conditionals.contains { $0.now == false } }

  mutating func remark(_ token: SwiftToken, _ reason: String) {
    remarks.append(source.problem(at: token.range.lowerBound, reason))
  }

  private mutating func step() {
    guard let token = token() else { return }
    follow(token)
    if !token.inner.isEmpty, isForLinux { interpolations(token) }
    if token.kind == .pound {
      if conditional(token) { return }
      if isForLinux {
        if token.text == "#keyPath" { return keyPath(token) }
        if token.text == "#selector" { return selector(token) }
      }
    } else if isForLinux {
      if token.isSymbol("@"), let name = self.token(1), name.kind == .identifier {
        return attribute(token, name)
      }
      if token.isWord("dynamic"), isModifier { return remove(index...index) }
      if token.isWord("import"), isStatement { return importDeclaration() }
      if token.isWord("as") { requestCast(token) }
      if token.kind == .identifier { name(token) }
      if Self.coreData.contains(token.text) { namesCoreData = true }
      if token.isWord("optional"),
        self.token(1).map({ $0.isWord("func") || $0.isWord("var") }) == true
      {
        remark(
          token,
          "optional requirements exist only in Objective-C; make it required and give it "
            + "an empty implementation in an extension of the protocol")
      }
      if ["NSKeyValueObservation", "AutoreleasingUnsafeMutablePointer"].contains(token.text),
        token.kind == .identifier
      {
        absent(token)
      }
    }
    index += 1
  }

  private mutating func absent(_ token: SwiftToken) {
    if token.text == "NSKeyValueObservation" {
      remark(
        token,
        "there is no key-value observing on Linux; observe the context's notifications, or "
          + "override didChangeValue(forKey:)")
    } else {
      remark(
        token,
        "there is no AutoreleasingUnsafeMutablePointer on Linux; validation methods take "
          + "inout Any? there")
    }
  }

  /// Requests of different results are unrelated classes on Linux, so that the cast always fails.
  ///
  /// What `fetchRequest()` gives is made with the type that is asked for.
  private mutating func requestCast(_ token: SwiftToken) {
    guard let mark = self.token(1), mark.isSymbol("!") || mark.isSymbol("?"),
      self.token(2)?.text == "NSFetchRequest", self.token(3)?.isSymbol("<") == true
    else { return }
    if isRightCast { return }
    let call = [-3, -2, -1].map { self.token($0)?.text ?? "" }
    if call == ["fetchRequest", "(", ")"], mark.isSymbol("!") {
      // There is a method for either result; `as` says which is meant.
      edits.append(SourceEdit(range: mark.range, replacement: ""))
      return
    }
    remark(
      token,
      "a request cannot be cast to one of another result on Linux; make it as "
        + "NSFetchRequest<…>(entityName:), or leave the cast out, as NSBatchDeleteRequest takes "
        + "requests of any result")
  }

  /// Follows the braces.
  private mutating func follow(_ token: SwiftToken) {
    if let scope = ClassNames.Scope(source.tokens, at: index) { opening = scope }
    if token.isSymbol("{") {
      scopes.append(opening)
      opening = nil
    } else if token.isSymbol("}") {
      _ = scopes.popLast()
    }
  }

  /// Edits the code inside a string.
  private mutating func interpolations(_ token: SwiftToken) {
    var part = SourcePorting(SwiftText(source, tokens: token.inner), classes: classes)
    while part.index < token.inner.count { part.step() }
    edits += part.edits
    remarks += part.remarks
  }

  // MARK: Conditions

  private mutating func conditional(_ token: SwiftToken) -> Bool {
    let end = source.endOfLine(token.range.lowerBound)
    let text = source.text(token.range.upperBound..<end)
    switch token.text {
    case "#if":
      let value = PlatformCondition.holdsOnLinux(text)
      if isForLinux { lackingBranch(token) }
      conditionals.append((value, [value]))
    case "#elseif", "#else":
      guard var last = conditionals.popLast() else { break }
      let value = token.text == "#else" ? true : PlatformCondition.holdsOnLinux(text)
      // A branch after one that holds is never compiled.
      last.now = last.before.contains(true) ? false : value
      if last.now == true, last.before.contains(nil) { last.now = nil }
      last.before.append(value)
      conditionals.append(last)
    case "#endif": _ = conditionals.popLast()
    default: return false
    }
    while let next = self.token(), next.range.lowerBound < end { index += 1 }
    return true
  }

  // MARK: Removing

  /// Removes tokens with the space behind them, and the line when nothing else is on it.
  mutating func remove(_ tokens: ClosedRange<Int>) {
    var start = source.tokens[tokens.lowerBound].range.lowerBound
    var end = source.tokens[tokens.upperBound].range.upperBound
    let bytes = source.bytes
    while end < bytes.count, bytes[end] == 32 || bytes[end] == 9 { end += 1 }
    if source.tokens[tokens.lowerBound].startsLine, end < bytes.count, bytes[end] == 10 {
      end += 1
      while start > 0, bytes[start - 1] == 32 || bytes[start - 1] == 9 { start -= 1 }
    }
    edits.append(SourceEdit(range: start..<end, replacement: ""))
    index = tokens.upperBound + 1
  }

  // MARK: Modifiers

  static let declarations: Set<String> = [
    "var", "let", "func", "init", "subscript", "class", "static", "override", "final", "lazy",
    "weak",
    "convenience", "required", "unowned", "optional", "open", "public", "internal", "package",
    "private", "fileprivate",
  ]

  /// Whether the word here is a modifier of a declaration.
  var isModifier: Bool {
    guard let next = token(1), Self.declarations.contains(next.text) || next.isSymbol("@") else {
      return false
    }
    guard let before = token(-1) else { return true }
    return !before.isSymbol(".") && !before.isWord("let") && !before.isWord("var")
      && !before.isWord("case") && !before.isSymbol("(") && !before.isSymbol(",")
  }

  var isStatement: Bool {
    guard let token = token() else { return false }
    return token.startsLine || self.token(-1)?.isSymbol(";") == true
      || self.token(-1)?.kind == .identifier
  }

  // MARK: Key paths and selectors

  private mutating func keyPath(_ token: SwiftToken) {
    guard self.token(1)?.isSymbol("(") == true, let close = source.closing(index + 1) else {
      remark(token, "this #keyPath cannot be read")
      return index += 1
    }
    let inside = source.tokens[(index + 2)..<close]
    let names = inside.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    let dots = inside.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    guard !names.isEmpty, names.allSatisfy({ $0.kind == .identifier }),
      dots.allSatisfy({ $0.isSymbol(".") }), dots.count == names.count - 1
    else {
      remark(token, "this #keyPath cannot be read; write the key path as a string")
      return index = close + 1
    }
    // Types begin with capital letters, properties do not.
    let path = names.map(\.text).drop { $0.first?.isUppercase ?? false || $0 == "self" }
    guard !path.isEmpty, path.allSatisfy({ !($0.first?.isUppercase ?? false) }) else {
      remark(
        token, "it is not clear where the type ends and the key path begins; write it as a string")
      return index = close + 1
    }
    edits.append(
      SourceEdit(
        range: token.range.lowerBound..<source.tokens[close].range.upperBound,
        replacement: "\"\(path.joined(separator: "."))\""))
    index = close + 1
  }

  private mutating func selector(_ token: SwiftToken) {
    guard self.token(1)?.isSymbol("(") == true, let close = source.closing(index + 1) else {
      remark(token, "this #selector cannot be read")
      return index += 1
    }
    defer { index = close + 1 }
    guard takesSelectors(index) else {
      return remark(
        token,
        "Linux sends no Objective-C messages; pass a closure instead (for notifications "
          + "addObserver(forName:object:queue:using:))")
    }
    guard let name = SelectorText.name(source.tokens[(index + 2)..<close]) else {
      return remark(
        token,
        "the method's labels are not written; write #selector(Type.method(_:)) or "
          + "Selector(\"method:\")")
    }
    edits.append(
      SourceEdit(
        range: token.range.lowerBound..<source.tokens[close].range.upperBound,
        replacement: "Selector(\"\(name)\")"))
  }

  /// Whether the call around a token takes the name of a comparison, rather than of a message.
  private func takesSelectors(_ position: Int) -> Bool {
    var depth = 0
    var next = position - 1
    while next >= 0 {
      let token = source.tokens[next]
      if token.isSymbol(")") || token.isSymbol("]") || token.isSymbol("}") { depth += 1 }
      if token.isSymbol("(") || token.isSymbol("[") || token.isSymbol("{") {
        if depth == 0 {
          let callee = next > 0 ? source.tokens[next - 1].text : ""
          return [
            "NSSortDescriptor", "NSComparisonPredicate", "NSExpression", "ObjectSortDescriptor",
            "ComparisonPredicate", "ObjectExpression",
          ].contains(callee)
        }
        depth -= 1
      }
      next -= 1
    }
    return false
  }
}
