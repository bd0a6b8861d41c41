// The ledger claims nothing that is not so. Specification: Part II.

import Foundation
import Testing

@Suite struct LedgerTests {
  /// Symbol, status and last column of each row.
  private func written() throws -> [(name: String, status: String, shownBy: String)] {
    try Ledger.text(Ledger.path).split(separator: "\n").compactMap { line in
      let cells = line.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, cells[1].hasPrefix("`") else { return nil }
      return (cells[1].filter { $0 != "`" }, cells[2], cells[3])
    }
  }

  @Test func theLedgerSaysWhatCompilesAndWhatDoesNot() throws {
    if ProcessInfo.processInfo.environment["RECORD_LEDGER"] != nil {
      let old = Dictionary(
        ((try? written()) ?? []).map { ($0.name, $0.shownBy) }, uniquingKeysWith: { $1 })
      try Ledger.text(of: Ledger.rows(keeping: old)).write(
        to: Ledger.root.appendingPathComponent(Ledger.path), atomically: true, encoding: .utf8)
    }
    let proofs = try Ledger.proofs()
    let inventory = try Ledger.inventory()
    #expect(inventory.count > 1100, "the inventory is not complete")
    let rows = try written()
    #expect(rows.map(\.name) == inventory.map(\.name), "RECORD_LEDGER=1 writes it anew")
    for (row, symbol) in zip(rows, inventory) {
      let status =
        symbol.reasonOutOfScope != nil
        ? "out of scope" : symbol.isProven(by: proofs) ? "done" : "missing"
      #expect(row.status == status, "\(row.name)")
    }
  }

  @Test func theTestsItNamesExistAndUseTheSymbol() throws {
    let tests = try Ledger.tests()
    #expect(tests.count > 300, "the tests are not found")
    let byTitle = Dictionary(tests.map { ($0.title, $0) }, uniquingKeysWith: { first, _ in first })
    let symbols = Dictionary(
      try Ledger.inventory().map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var named = 0
    for row in try written() where row.status == "done" && row.shownBy != "compiled" {
      if row.shownBy.hasPrefix("constants of chapter") {
        #expect(symbols[row.name]?.check.hasPrefix("#expect") ?? false, "\(row.name)")
        continue
      }
      named += 1
      guard let symbol = symbols[row.name] else { continue }
      #expect(
        byTitle[row.shownBy]?.uses(symbol) ?? false,
        "\(row.name): \(row.shownBy) does not use it; RECORD_LEDGER=1 names another")
    }
    #expect(named > 400)
  }

  @Test func itsCountsAreRight() throws {
    let rows = try written()
    let wanted = ["done", "missing", "out of scope"]
      .map { status in "\(rows.filter { $0.status == status }.count)" }.joined(separator: " | ")
    #expect(try Ledger.text(Ledger.path).contains("| all | \(wanted) |"))
  }
}
