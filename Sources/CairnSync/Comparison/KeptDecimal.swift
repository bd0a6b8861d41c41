import Foundation

extension Decimal {
  /// What a SQLite store keeps of the number: an integer of 64 bits as it is, all else as a double.
  ///
  /// A PostgreSQL store keeps all digits, and no write brings more of them into the other
  /// (Decisions/0027-PostgreSQLLayout.md).
  var keptBySQLite: Decimal {
    if Decimal(NSDecimalNumber(decimal: self).int64Value) == self { return self }
    guard let double = Double("\(self)"), double.isFinite else { return self }
    return Decimal(string: "\(double)") ?? self
  }
}
