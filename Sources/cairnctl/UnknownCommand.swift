// A command line whose command there is not.
import ArgumentParser
import CairnControl

/// A word that stands where a command belongs, and is none.
struct UnknownCommand {
  /// The commands before it.
  let path: [String]
  let word: String
  let nearest: String?

  /// Looks for it in a command line that could not be read; nil where each command is known.
  static func find(
    in words: [String], of root: any ParsableCommand.Type
  ) -> UnknownCommand? {
    var path = [root._commandName]
    var known = root.configuration.subcommands
    for word in withoutShared(words) {
      // What a command does that has further ones may have options and arguments of its own.
      if known.isEmpty || word.hasPrefix("-") || word == "help" { return nil }
      guard let next = known.first(where: { $0._commandName == word }) else {
        return UnknownCommand(
          path: path, word: word,
          nearest: NearestName.find(word, among: known.map { $0._commandName }))
      }
      path.append(word)
      known = next.configuration.subcommands
    }
    return nil
  }

  /// The words without those that may stand anywhere.
  private static func withoutShared(_ words: [String]) -> [String] {
    var result: [String] = []
    var isValue = false
    for word in words {
      if isValue {
        isValue = false
      } else if word == "--socket" || word == "--timeout" {
        isValue = true
      } else if word != "--json", !word.hasPrefix("--socket="), !word.hasPrefix("--timeout=") {
        result.append(word)
      }
    }
    return result
  }

  var message: String {
    "there is no command \"\((path + [word]).joined(separator: " "))\""
      + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")
  }

  var hint: String { "`\(path.joined(separator: " ")) --help` lists the commands" }
}
