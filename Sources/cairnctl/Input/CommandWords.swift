// The words of the command line as the caller's program handed them over.
import ArgumentParser

/// Looks at the bytes of the command line, which Swift repairs before the parser gets them.
enum CommandWords {
  /// - Throws: `ValidationError` for a word that is not UTF-8: what is stored of it would be another text.
  static func check() throws {
    let words = CommandLine.unsafeArgv
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = words[index], String(validatingCString: word) == nil else { continue }
      throw ValidationError(
        "Word \(index) of the command line is not UTF-8: \(String(cString: word)). `locale` shows what the "
          + "terminal writes; a file goes in with cairnctl import FILE.")
    }
  }
}
