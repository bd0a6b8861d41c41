// Text that is safe and pleasant on a terminal.
import CairnPlatform
import Foundation

/// Makes text from stores and daemons safe to show.
enum TerminalText {
  /// Control characters become visible escapes; line ends and tabs stay.
  static func safe(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control where scalar != "\n" && scalar != "\t", .format, .lineSeparator,
        .paragraphSeparator, .surrogate:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The same in one line.
  static func oneLine(_ text: String) -> String {
    safe(text).replacingOccurrences(of: "\n", with: "\\n")
      .replacingOccurrences(of: "\t", with: "\\t")
  }
}

/// Colours, where a person looks and has not said no.
struct TerminalStyle: Sendable {
  enum Tone: String {
    case good = "32"
    case warning = "33"
    case bad = "31"
    case strong = "1"
    case faint = "2"
  }

  private let isColoured: Bool

  /// Colours for standard output.
  static let output = TerminalStyle(
    isColoured: StandardStream.output.isTerminal
      && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
      && ProcessInfo.processInfo.environment["TERM"] != "dumb")

  init(isColoured: Bool) { self.isColoured = isColoured }

  func callAsFunction(_ text: String, _ tone: Tone) -> String {
    isColoured ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
  }
}
