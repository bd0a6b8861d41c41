// The language of `man`.

/// Writes the macros of `man`.
struct Troff {
  private(set) var text = ""

  mutating func macro(_ name: String, _ arguments: [String] = []) {
    let words = arguments.map { "\"\(Self.escaped($0).replacing("\"", with: "\\(dq"))\"" }
    text += ([".\(name)"] + words).joined(separator: " ") + "\n"
  }

  mutating func line(_ line: String) { text += Self.escaped(line) + "\n" }

  mutating func paragraph(_ paragraph: String?) {
    for part in (paragraph ?? "").split(separator: "\n\n") {
      macro("PP")
      for line in part.split(separator: "\n") { self.line(String(line)) }
    }
  }

  mutating func entry(_ term: String, _ explanation: String) {
    macro("TP")
    text += "\\fB\(Self.escaped(term))\\fR\n"
    line(explanation.isEmpty ? "-" : explanation.replacing("\n", with: " "))
  }

  /// Lines as they are, in letters of one width.
  mutating func example(_ lines: String) {
    macro("EX")
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      self.line(String(line))
    }
    macro("EE")
  }

  /// What a command line is typed like, in bold, with what follows it.
  mutating func usage(_ path: String, _ rest: String) {
    text += "\\fB\(Self.escaped(path))\\fR \(Self.escaped(rest))\n"
  }

  /// What `troff` would take for its own: backslashes, and dots and quotes at the beginning of a line;
  /// hyphens are those of command lines.
  static func escaped(_ text: String) -> String {
    var escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    if let first = escaped.first, first == "." || first == "'" { escaped = "\\&" + escaped }
    return escaped
  }
}
