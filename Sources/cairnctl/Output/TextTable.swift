// Aligned columns.
import CairnControl
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

  /// Columns on a terminal.
  static func width(_ text: String) -> Int { DisplayWidth.columns(text) }
}
