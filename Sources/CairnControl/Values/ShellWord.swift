// Words of commands that people copy into a shell.

/// A word as a shell takes it.
public enum ShellWord {
  /// The word itself, or in single quotes where it has characters that mean something to a shell.
  public static func quoted(_ word: String) -> String { quoted(word, plain: "._-@") }

  /// The same of a path.
  public static func path(_ path: String) -> String { quoted(path, plain: "._-@/") }

  private static func quoted(_ word: String, plain: String) -> String {
    let isPlain =
      !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || plain.contains($0) }
    return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
  }
}
