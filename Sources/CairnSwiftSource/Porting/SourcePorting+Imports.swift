// Imports of modules that Linux lacks.

extension SourcePorting {
  mutating func importDeclaration() {
    let kinds = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
    var position = index + 1
    if let kind = token(1), kinds.contains(kind.text) { position += 1 }
    guard position < source.tokens.count else { return index += 1 }
    let module = source.tokens[position]
    var last = position
    while last + 2 < source.tokens.count, source.tokens[last + 1].isSymbol("."),
      source.tokens[last + 1].range.lowerBound == source.tokens[last].range.upperBound
    {
      last += 2
    }
    defer { index = last + 1 }
    if module.text == "CoreData", last > position {
      // The names are aliases there, and there are no submodules.
      edits.append(
        SourceEdit(
          range: source.tokens[index + 1].range.lowerBound..<source.tokens[last].range.upperBound,
          replacement: "CoreData"))
      return
    }
    if ["Combine", "OpenCombineShim", "OpenCombine"].contains(module.text) {
      importsCombine = true
    }
    guard AppleModules.isMissing(module.text) else { return }
    var first = index
    while first > 0, !source.tokens[first].startsLine { first -= 1 }
    let range = source.tokens[first].range.lowerBound..<source.tokens[last].range.upperBound
    let end = source.endOfLine(range.upperBound)
    let text = source.text(range.lowerBound..<end)
    let isUsed = usesNames(of: module.text)
    if isUsed, let reason = AppleModules.reason(module.text) { return remark(module, reason) }
    // The package has the names of Combine and, on Apple's platforms, is Combine.
    let replacement = isUsed ? "\n#else\nimport OpenCombineShim" : ""
    edits.append(
      SourceEdit(
        range: range.lowerBound..<end,
        replacement: "#if canImport(\(module.text))\n\(text)\(replacement)\n#endif"))
  }

  /// Whether a file names something that a module of Apple's has, as far as names tell.
  func usesNames(of module: String) -> Bool {
    func uses(_ token: SwiftToken) -> Bool {
      if token.kind == .identifier {
        return module == "Combine"
          ? Self.beginnings.contains { token.text.hasPrefix($0) }
          : !classes.declaresType(token.text)
            && AppleModules.has(token.text, in: module) ?? true
      }
      return token.inner.contains(where: uses)
    }
    var isImport = false
    for token in source.tokens {
      if token.startsLine { isImport = false }
      if token.isWord("import") { isImport = true }
      if !isImport, uses(token) { return true }
    }
    return false
  }

  private static let beginnings = [
    "PassthroughSubject", "CurrentValueSubject", "AnyCancellable", "Cancellable", "AnyPublisher",
    "Publisher", "Published", "ObservableObject", "objectWillChange", "Just", "Future", "Deferred",
    "Subject", "AnySubject", "Record", "Subscri", "sink", "publisher", "eraseToAnyPublisher",
  ]
}
