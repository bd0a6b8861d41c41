import Foundation
import Testing

@testable import CairnSync

/// A replica in PostgreSQL may show more digits of a decimal than a SQLite store keeps.
struct KeptDecimalTests {
  @Test(arguments: [
    ("0.33333333333333333333", "0.3333333333333333"), ("0.1", "0.1"), ("-12.50", "-12.5"),
    ("9007199254740993", "9007199254740993"), ("9007199254740993.5", "9007199254740994"),
    ("1e100", "1e100"),
  ])
  func isWhatADoubleMeansUnlessItIsAnInteger(_ number: String, _ kept: String) throws {
    let decimal = try #require(Decimal(string: number))
    #expect(decimal.keptBySQLite == Decimal(string: kept))
    #expect(decimal.keptBySQLite.keptBySQLite == decimal.keptBySQLite)
  }
}
