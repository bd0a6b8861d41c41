// Attributes, of which `@objc` leaves a sign where something asks for it.

extension SourcePorting {
  mutating func attribute(_ at: SwiftToken, _ name: SwiftToken) {
    var last = index + 1
    if let open = token(2), open.isSymbol("("), open.range.lowerBound == name.range.upperBound,
      let close = source.closing(index + 2)
    {
      last = close
    }
    switch name.text {
    case "Published":
      namesCombine = true
      index += 2
    case "objc", "objcMembers": objc(at, last)
    case "IBOutlet", "IBInspectable", "IBDesignable", "NSApplicationMain", "UIApplicationMain",
      "IBSegueAction", "GKInspectable", "FetchRequest", "SectionedFetchRequest", "ObservedObject",
      "StateObject", "EnvironmentObject", "AppStorage", "SceneStorage":
      remark(
        at,
        "@\(name.text) belongs to the user interface of Apple's platforms; move the declaration "
          + "behind #if canImport(UIKit) or the like")
      index = last + 1
    default: index += 2
    }
  }

  /// What tells something to the build plugin is kept for it and for Apple's platforms: the name of
  /// a class by which models know it, and that key-value access finds a property.
  private mutating func objc(_ at: SwiftToken, _ last: Int) {
    guard leavesSign(last) else { return remove(index...last) }
    if ["var", "let", "func"].contains(declaration(after: last + 1)?.word ?? "") {
      if let reason = obstacleForKeys(last) { remark(at, reason) }
    }
    let text = source.text(at.range.lowerBound..<source.tokens[last].range.upperBound)
      .filter { !$0.isWhitespace }
    if at.startsLine {
      var end = source.tokens[last].range.upperBound
      while end < source.bytes.count, source.bytes[end] == 32 || source.bytes[end] == 9 {
        end += 1
      }
      let endsLine = end >= source.bytes.count || source.bytes[end] == 10
      let indent = indent(before: at)
      edits.append(
        SourceEdit(
          range: (at.range.lowerBound - indent.utf8.count)..<end,
          replacement: sign(text, indent) + (endsLine ? "" : "\n" + indent)))
      index = last + 1
      return
    }
    // Before the modifiers that stand before it.
    var first = index
    while first > 0, !source.tokens[first].startsLine,
      Self.declarations.contains(source.tokens[first - 1].text)
    {
      first -= 1
    }
    let start = source.tokens[first]
    let indent = start.startsLine ? indent(before: start) : ""
    let place = start.range.lowerBound - indent.utf8.count
    edits.append(
      SourceEdit(
        range: place..<place,
        replacement: (start.startsLine ? "" : "\n") + sign(text, indent) + "\n"))
    remove(index...last)
  }

  private func sign(_ attribute: String, _ indent: String) -> String {
    "\(indent)#if canImport(ObjectiveC)\n\(indent)\(attribute)\n\(indent)#endif"
  }

  private func indent(before token: SwiftToken) -> String {
    var start = token.range.lowerBound
    while start > 0, source.bytes[start - 1] == 32 || source.bytes[start - 1] == 9 { start -= 1 }
    return source.text(start..<token.range.lowerBound)
  }

  private func leavesSign(_ last: Int) -> Bool {
    guard let declared = declaration(after: last + 1) else { return false }
    let isMembers = token(1)?.text == "objcMembers"
    switch declared.word {
    case "class":
      if isMembers { return classes.nature(of: declared.name) != .other }
      guard last > index + 1 else { return false }
      let range = source.tokens[index + 2].range.upperBound..<source.tokens[last].range.lowerBound
      return source.text(range).filter { !$0.isWhitespace } != declared.name
    case "extension": return classes.nature(of: declared.name) != .other
    case "var", "let": return !declared.isManaged && isInManagedClass
    case "func": return declared.isGetter && isInManagedClass
    default: return false
    }
  }

  private var isInManagedClass: Bool {
    guard let scope = scopes.last, let scope else { return false }
    if !["class", "extension"].contains(scope.kind) { return false }
    return classes.nature(of: scope.name) != .other
  }

  /// Why the plugin cannot register the member here, so that key-value access does not find it.
  private func obstacleForKeys(_ last: Int) -> String? {
    var words =
      attributes(before: index)
      + (scopes.last.flatMap { $0 }.map { attributes(before: $0.start) } ?? [])
    var next = last + 1
    while next < source.tokens.count, !["var", "let", "func"].contains(source.tokens[next].text) {
      // `private(set)` says nothing of reading.
      if next + 1 < source.tokens.count, !source.tokens[next + 1].isSymbol("(") {
        words.append(source.tokens[next].text)
      }
      next += 1
    }
    if words.contains("nonisolated") { words.removeAll { $0.hasSuffix("Actor") } }
    if words.contains("private") || words.contains("fileprivate") {
      return "key-value access on Linux finds no private property; make it internal"
    }
    if words.contains(where: { $0.hasSuffix("Actor") }) {
      return
        "key-value access on Linux finds no property that belongs to an actor; make it nonisolated"
    }
    return nil
  }

  /// The modifiers, and names of attributes, that stand directly before a token.
  private func attributes(before position: Int) -> [String] {
    var found: [String] = []
    var next = position - 1
    while next >= 0 {
      let token = source.tokens[next]
      if token.kind == .identifier,
        Self.declarations.contains(token.text) || token.text == "nonisolated"
          || (next > 0 && source.tokens[next - 1].isSymbol("@"))
      {
        found.append(token.text)
      } else if !token.isSymbol("@") {
        break
      }
      next -= 1
    }
    return found
  }

  private struct Declared {
    let word: String
    let name: String
    let isManaged: Bool
    let isGetter: Bool
  }

  /// The declaration of an instance's member or a type that goes on at a token.
  private func declaration(after position: Int) -> Declared? {
    var next = position
    // What may stand before the attribute in question, too.
    var isManaged = index >= 2 && source.tokens[index - 1].isWord("NSManaged")
    while next + 1 < source.tokens.count {
      let token = source.tokens[next]
      let name = source.tokens[next + 1]
      if token.isSymbol("@") {
        if name.isWord("NSManaged") { isManaged = true }
        if name.isWord("IBOutlet") || name.isWord("IBAction") { return nil }
        next += 2
      } else if token.isSymbol("("), let close = source.closing(next) {
        next = close + 1
      } else if token.isWord("static") || token.isWord("override") {
        return nil
      } else if ["var", "let", "func", "extension"].contains(token.text)
        || (token.isWord("class") && !Self.declarations.contains(name.text))
      {
        let texts = source.tokens.dropFirst(next + 2).prefix(3).map(\.text)
        return Declared(
          word: token.text, name: name.text, isManaged: isManaged,
          isGetter: texts == ["(", ")", "->"])
      } else if token.kind == .identifier,
        Self.declarations.contains(token.text) || ["dynamic", "nonisolated"].contains(token.text)
      {
        if token.isWord("class") { return nil }
        next += 1
      } else {
        return nil
      }
    }
    return nil
  }
}
