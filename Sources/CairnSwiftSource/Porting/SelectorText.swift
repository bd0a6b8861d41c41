/// The Objective-C name of a method that `#selector` names.
enum SelectorText {
  /// - Parameter inside: the tokens between the brackets.
  /// - Returns: Nil where the name does not say the method's labels.
  static func name(_ inside: ArraySlice<SwiftToken>) -> String? {
    var tokens = inside
    var accessor: String?
    if let first = tokens.first, ["getter", "setter"].contains(first.text),
      tokens.dropFirst().first?.isSymbol(":") == true
    {
      accessor = first.text
      tokens = tokens.dropFirst(2)
    }
    // The last name before the labels.
    var name: String?
    var index = tokens.startIndex
    while index < tokens.endIndex, tokens[index].kind == .identifier {
      name = tokens[index].text
      index += 1
      if index < tokens.endIndex, tokens[index].isSymbol(".") {
        index += 1
      } else {
        break
      }
    }
    guard let name else { return nil }
    if accessor == "getter" { return name }
    if accessor == "setter" { return "set\(name.prefix(1).uppercased())\(name.dropFirst()):" }
    guard index < tokens.endIndex else {
      return comparisons.contains(name) ? name + ":" : nil
    }
    guard tokens[index].isSymbol("(") else { return nil }
    var labels: [String] = []
    index += 1
    while index + 1 < tokens.endIndex, tokens[index].kind == .identifier,
      tokens[index + 1].isSymbol(":")
    {
      labels.append(tokens[index].text)
      index += 2
    }
    guard index < tokens.endIndex, tokens[index].isSymbol(")"), index + 1 == tokens.endIndex else {
      return nil
    }
    guard let first = labels.first else { return name }
    // Swift's importer takes these apart, so they are put together again.
    let start =
      first == "_" ? name : name + "With" + first.prefix(1).uppercased() + first.dropFirst()
    let prepositions = ["at", "by", "for", "from", "in", "of", "to", "with", "on", "using"]
    let joined =
      prepositions.contains { first.hasPrefix($0) && first != "_" }
      ? name + first.prefix(1).uppercased() + first.dropFirst() : start
    return ([joined] + labels.dropFirst().map { $0 == "_" ? "" : $0 }).map { $0 + ":" }.joined()
  }

  /// Methods that sort descriptors name, all with one argument.
  private static let comparisons: Set<String> = [
    "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
    "localizedStandardCompare",
  ]
}
