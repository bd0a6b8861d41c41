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
    /// Whether a part of it says nothing, as of a number or an ID.
    var isWhole = false

    init(stringLiteral value: String) { text = value }

    init(
      _ text: String, tone: TerminalStyle.Tone? = nil, isNumber: Bool = false, isWhole: Bool = false
    ) {
      self.text = TerminalText.oneLine(text)
      self.tone = tone
      self.isNumber = isNumber
      self.isWhole = isWhole || isNumber
    }

    fileprivate var isEmpty: Bool { text.isEmpty || text == "-" }
  }

  /// The cells, and what is said below them.
  private struct Row {
    let cells: [Cell]
    let notes: [String]
  }

  private static let gap = 2
  /// What is left of a column that is cut.
  private static let leastWidth = 8

  let header: [String]
  private var rows: [Row] = []

  init(_ header: [String]) { self.header = header }

  /// - Parameter notes: Sentences that stand below the row.
  mutating func add(_ row: [Cell], notes: [String] = []) {
    rows.append(Row(cells: row, notes: notes))
  }

  /// The lines, without spaces at their ends.
  ///
  /// - Parameter columns: Those of the terminal: a wider table loses its empty columns, then the ends of
  ///   its longest texts; where that is too much, each row is a block of lines. Nil for any width.
  func lines(
    style: TerminalStyle = .output, columns: Int? = TerminalText.terminalColumns
  ) -> [String] {
    let all = Array(header.indices)
    let natural = all.map { naturalWidth($0) }
    guard let columns, Self.sum(natural) > columns else {
      return lines(of: all, widths: natural, style, columns)
    }
    // Without rows the header says what there could be.
    let shown =
      rows.isEmpty ? all : all.filter { column in rows.contains { !$0.cells[column].isEmpty } }
    if let widths = shrunk(shown.map { natural[$0] }, of: shown, to: columns) {
      return lines(of: shown, widths: widths, style, columns)
    }
    if rows.isEmpty {
      return [style(TerminalText.cut(header.joined(separator: "  "), to: columns), .strong)]
    }
    return blocks(of: shown, style, columns)
  }

  /// Columns on a terminal.
  static func width(_ text: String) -> Int { DisplayWidth.columns(text) }

  // MARK: Widths

  private func naturalWidth(_ column: Int) -> Int {
    rows.reduce(Self.width(header[column])) { max($0, Self.width($1.cells[column].text)) }
  }

  private static func sum(_ widths: [Int]) -> Int {
    widths.reduce(0, +) + gap * max(0, widths.count - 1)
  }

  /// Takes from the widest column that may lose something until all fit; nil where they cannot.
  private func shrunk(_ widths: [Int], of shown: [Int], to columns: Int) -> [Int]? {
    var widths = widths
    let least = shown.indices.map { index in
      let whole = rows.map { $0.cells[shown[index]] }.filter(\.isWhole)
      let kept = whole.map { Self.width($0.text) }.max() ?? 0
      return max(kept, min(widths[index], Self.leastWidth))
    }
    var excess = Self.sum(widths) - columns
    while excess > 0 {
      let candidates = widths.indices.filter { widths[$0] > least[$0] }
      guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { return nil }
      widths[widest] -= 1
      excess -= 1
    }
    return widths
  }

  // MARK: Rows

  private func lines(
    of shown: [Int], widths: [Int], _ style: TerminalStyle, _ columns: Int?
  ) -> [String] {
    func line(_ texts: [(text: String, isNumber: Bool, tone: TerminalStyle.Tone?)]) -> String {
      texts.enumerated().map { index, cell in
        let text = TerminalText.cut(cell.text, to: widths[index])
        let room = String(repeating: " ", count: max(0, widths[index] - Self.width(text)))
        let isLast = index == texts.count - 1
        let padded = cell.isNumber ? room + text : isLast ? text : text + room
        return cell.tone.map { style(padded, $0) } ?? padded
      }.joined(separator: String(repeating: " ", count: Self.gap))
    }
    let head = line(shown.map { (header[$0], false, nil) })
    return [style(head, .strong)]
      + rows.flatMap { row in
        [line(shown.map { (row.cells[$0].text, row.cells[$0].isNumber, row.cells[$0].tone) })]
          + notes(row, columns)
      }
  }

  private func notes(_ row: Row, _ columns: Int?) -> [String] {
    row.notes.flatMap {
      TerminalText.wrapped(
        $0, indent: "  ", columns: min(columns ?? .max, TerminalText.columns))
    }
  }

  // MARK: Blocks

  /// Each row as lines of a name and its value.
  private func blocks(of shown: [Int], _ style: TerminalStyle, _ columns: Int) -> [String] {
    let label = shown.map { Self.width(header[$0]) }.max() ?? 0
    return Array(
      rows.map { row in
        shown.filter { !row.cells[$0].text.isEmpty }.flatMap { column -> [String] in
          let cell = row.cells[column]
          let name = TerminalText.padded(header[column], to: label)
          func toned(_ text: String) -> String { cell.tone.map { style(text, $0) } ?? text }
          if label + Self.gap + Self.width(cell.text) <= columns {
            return [style(name, .strong) + "  " + toned(cell.text)]
          }
          return [style(TerminalText.cut(header[column], to: columns), .strong)]
            + TerminalText.folded(cell.text, indent: "  ", columns: columns).map(toned)
        } + notes(row, columns)
      }.joined(separator: [""]))
  }
}
