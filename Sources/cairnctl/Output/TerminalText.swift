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

extension TerminalText {
  /// The columns that texts keep to: those of the terminal, 80 elsewhere.
  static let columns = min(120, max(60, StandardStream.output.terminalWidth ?? 80))

  /// Words in lines of at most so many columns, each begun with the indent; a longer word has a line of
  /// its own.
  static func wrapped(_ text: String, indent: String = "", columns: Int = columns) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in words(oneLine(text)) {
      let longer = line.isEmpty ? word : "\(line) \(word)"
      if !line.isEmpty, TextTable.width(indent + longer) > columns {
        lines.append(indent + line)
        line = word
      } else {
        line = longer
      }
    }
    if !line.isEmpty { lines.append(indent + line) }
    return lines
  }

  /// The words of a text; a command in backticks is one, so that it can be copied.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var isInside = false
    for part in text.split(separator: " ") {
      if isInside, let last = words.popLast() {
        words.append("\(last) \(part)")
      } else {
        words.append(String(part))
      }
      if part.count(where: { $0 == "`" }) % 2 == 1 { isInside.toggle() }
    }
    return words
  }

  /// The text in at most so many columns, with an ellipsis for what is cut off.
  static func cut(_ text: String, to columns: Int) -> String {
    let line = oneLine(text)
    guard TextTable.width(line) > columns else { return line }
    var result = ""
    for character in line
    where TextTable.width(result) + TextTable.width(String(character)) < columns {
      result.append(character)
    }
    return result + "…"
  }

  /// The text with spaces behind it.
  static func padded(_ text: String, to columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - TextTable.width(text)))
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
