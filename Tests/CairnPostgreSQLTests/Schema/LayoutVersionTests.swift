// Stores that older versions of Cairn made are opened by later ones: a change of the layout has another number.

import CairnModel
import CairnSQL
import Foundation
import Testing

@testable import CairnPostgreSQL

@Suite struct LayoutVersionTests {
  /// The statements that make a store of each kind of table and column, and the locks and channels by which programs of
  /// several versions meet in one.
  private func layout() throws -> String {
    let name = try SchemaName("layout")
    let schema = PostgreSQLSchema(SQLSchema(model: try DerivedAttributeTests.model()), in: name)
    let meetings =
      [TransactionLock.schema, .history].map { "-- lock cairn \($0.rawValue) \(name)" }
      + ["-- channel \(CommitListening.channel(of: name))"]
    let statements =
      BookkeepingTables.statements(in: name) + schema.creationStatements
      + SQLCapture.statements(for: schema)
    return (meetings + statements.map { $0 + ";" }).joined(separator: "\n") + "\n"
  }

  @Test func aLayoutThatIsNotTheWrittenOneHasANumberOfItsOwn() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Golden/layout-\(BookkeepingTables.format).sql")
    let layout = try layout()
    if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil {
      try layout.write(to: file, atomically: true, encoding: .utf8)
    }
    let written = try String(contentsOf: file, encoding: .utf8)
    let difference = layout.split(separator: "\n").difference(from: written.split(separator: "\n"))
    #expect(
      layout == written,
      """
      The layout of stores has changed: \(difference.prefix(4))
      Stores of this format are out there: raise BookkeepingTables.format, have stores of the former one opened, and
      record the new layout (RECORD_GOLDEN=1) beside the old one. Record it under the same number only where nothing
      that reads or writes a store could tell the two apart, such as the words of a comment, or in functions, which
      opening a store makes anew where their number (StoreFunctions.version) is an older one.
      """)
  }
}
