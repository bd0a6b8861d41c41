// Writes fetched rows as a table, as JSON Lines or as CSV.
import ArgumentParser
import CairnControl

/// How rows are written.
enum RowFormat: String, CaseIterable, ExpressibleByArgument {
  case table, jsonl, csv
}

/// Takes rows batch by batch.
///
/// A table is written at the end, the others as they come.
struct RowPrinter {
  let format: RowFormat
  private var columns: [String] = []
  private var table: TextTable?
  /// Whether the record ID is a column; it always is unless the caller chose the columns.
  private let showsID: Bool
  private(set) var count = 0

  init(format: RowFormat, showsID: Bool = true) {
    self.format = format
    self.showsID = showsID
  }

  /// Says what the members of rows are called, before the first row.
  mutating func begin(_ properties: [String]) {
    columns = (showsID ? ["id"] : []) + properties.filter { $0 != "id" }
    switch format {
    case .table: table = TextTable(columns)
    case .csv: Output.line(columns.map(Self.csvField).joined(separator: ","))
    case .jsonl: break
    }
  }

  mutating func add(_ row: [String: JSONValue]) {
    count += 1
    switch format {
    case .jsonl: Output.line(JSONValue.object(row).text)
    case .csv:
      Output.line(columns.map { Self.csvField(Self.text(row[$0])) }.joined(separator: ","))
    case .table:
      table?.add(
        columns.map {
          .init(
            Self.short(Self.text(row[$0])), isNumber: Self.isNumber(row[$0]), isWhole: $0 == "id")
        })
    }
  }

  /// Writes what was held back.
  func end() {
    if let table { table.lines().forEach(Output.line) }
  }

  private static func text(_ value: JSONValue?) -> String {
    switch value {
    case .none, .some(.null): ""
    case .some(.string(let text)): text
    case .some(let value): value.text
    }
  }

  private static func isNumber(_ value: JSONValue?) -> Bool {
    switch value {
    case .some(.integer), .some(.number): true
    case .some(.null), .some(.bool), .some(.string), .some(.array), .some(.object), .none: false
    }
  }

  private static func short(_ text: String) -> String {
    text.count > 60 ? text.prefix(59) + "…" : text
  }

  /// A field after RFC 4180: in quotes when it needs them.
  static func csvField(_ text: String) -> String {
    guard text.contains(where: { ",\"\n\r".contains($0) || $0 == "\r\n" }) else { return text }
    return "\"\(text.replacing("\"", with: "\"\""))\""
  }
}
