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
  /// The columns of the terminal; nil where standard output is none.
  static var terminalColumns: Int? {
    StandardStream.output.terminalWidth.map { max(20, $0) }
  }

  /// The columns that texts keep to: those of the terminal as far as lines are read with ease, 80 elsewhere.
  static var columns: Int { min(120, terminalColumns ?? 80) }

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

  /// The same, with longer words cut into lines of their own.
  static func folded(_ text: String, indent: String, columns: Int) -> [String] {
    let room = max(1, columns - TextTable.width(indent))
    return wrapped(text, columns: room).flatMap { line in
      var parts = [""]
      var used = 0
      for character in line {
        let width = TextTable.width(String(character))
        if used + width > room {
          parts.append("")
          used = 0
        }
        parts[parts.count - 1].append(character)
        used += width
      }
      return parts.map { indent + $0 }
    }
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
    return TextTable.width(line) > columns ? clipped(line, to: columns - 1) + "…" : line
  }

  /// The beginning of a line, with all of its colours.
  static func clipped(_ line: String, to columns: Int) -> String {
    var result = ""
    var left = columns
    var isColour = false
    for character in line {
      if character == "\u{1B}" { isColour = true }
      if isColour {
        result.append(character)
        if character == "m" { isColour = false }
        continue
      }
      left -= TextTable.width(String(character))
      if left >= 0 { result.append(character) }
    }
    return result
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
