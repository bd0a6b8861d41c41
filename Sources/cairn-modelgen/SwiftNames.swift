// Names and texts of a model as Swift source.

/// A Swift identifier, in backticks where it is a keyword.
func escaped(_ name: String) -> String {
  let keywords: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
    "init", "inout", "internal", "let", "open", "operator", "private", "protocol", "public",
    "rethrows", "static", "struct", "subscript", "typealias", "var", "break", "case", "continue",
    "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in", "repeat",
    "return", "switch", "where", "while", "as", "catch", "false", "is", "nil", "super", "self",
    "Self", "throw", "throws", "true", "try", "Any",
  ]
  return keywords.contains(name) ? "`\(name)`" : name
}

/// A Swift string literal.
func quoted(_ text: String) -> String {
  var result = ""
  for character in text {
    if character == "\\" || character == "\"" { result.append("\\") }
    result.append(character)
  }
  return "\"\(result)\""
}
