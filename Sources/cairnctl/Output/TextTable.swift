// Aligned columns.
import CairnPlatform

/// A table with a header, for people.
struct TextTable {
  /// One cell: what is shown, and how.
  struct Cell: ExpressibleByStringLiteral {
    let text: String
    var tone: TerminalStyle.Tone?
    var isNumber = false

    init(stringLiteral value: String) { text = value }

    init(_ text: String, tone: TerminalStyle.Tone? = nil, isNumber: Bool = false) {
      self.text = TerminalText.oneLine(text)
      self.tone = tone
      self.isNumber = isNumber
    }
  }

  let header: [String]
  private(set) var rows: [[Cell]] = []

  init(_ header: [String]) { self.header = header }

  mutating func add(_ row: [Cell]) { rows.append(row) }

  /// The lines, without spaces at their ends.
  func lines(style: TerminalStyle = .output) -> [String] {
    let widths = header.indices.map { column in
      ([Self.width(header[column])] + rows.map { Self.width($0[column].text) }).max() ?? 0
    }
    let head = header.enumerated().map { index, text in
      Self.padded(text, widths[index], isLast: index == header.count - 1)
    }
    return [style(head.joined(separator: "  "), .strong)]
      + rows.map { row in
        row.enumerated().map { index, cell in
          let isLast = index == row.count - 1
          let text =
            cell.isNumber
            ? String(repeating: " ", count: max(0, widths[index] - Self.width(cell.text)))
              + cell.text
            : Self.padded(cell.text, widths[index], isLast: isLast)
          return cell.tone.map { style(text, $0) } ?? text
        }.joined(separator: "  ")
      }
  }

  private static func padded(_ text: String, _ width: Int, isLast: Bool) -> String {
    isLast ? text : text + String(repeating: " ", count: max(0, width - self.width(text)))
  }

  /// Columns on a terminal: wide East Asian characters and emoji take two.
  static func width(_ text: String) -> Int {
    text.reduce(0) { sum, character in
      guard let scalar = character.unicodeScalars.first else { return sum }
      switch scalar.value {
      case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
        return sum + 2
      default: return sum + 1
      }
    }
  }
}
