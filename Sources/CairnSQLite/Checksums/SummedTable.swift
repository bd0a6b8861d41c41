import CairnSQL

/// A table of entities or of links, with the SQL for the sum of a row of it.
final class SummedTable: Sendable {
  /// What stands for the table in the sums.
  let number: Int64
  let name: String
  /// The column that tells its rows apart.
  let key: String
  /// The entity at the root of the table's hierarchy; nil for a join table.
  let root: SQLEntity?
  /// Columns that may name files.
  let fileColumns: [String]
  /// Whether rows of the table change that history does not tell of.
  let changesUntold: Bool
  private let sum: String
  /// Key and sum of every row between two keys, in ascending order, and what its columns of external
  /// data begin with.
  let rowsBetween: String
  /// The same of the rows with up to ``portion`` keys, in the order of the keys.
  let rowsAmong: String

  /// So many keys that lie apart are read with one statement, which costs more than reading a row.
  static let portion = 16

  init(
    number: Int64, name: String, key: String, root: SQLEntity?, columns: [String],
    fileColumns: [String], changesUntold: Bool
  ) {
    self.number = number
    self.name = name
    self.key = key
    self.root = root
    self.fileColumns = fileColumns
    self.changesUntold = changesUntold
    // The names are the file's, and can be any.
    let columns = columns.map { "t.\($0.quotedAsName)" }
    var parts: [String] = []
    for start in stride(from: 0, to: columns.count, by: RowSum.argumentLimit) {
      let some = columns[start..<min(start + RowSum.argumentLimit, columns.count)]
      parts.append("\(RowSum.function)(\(some.joined(separator: ", ")))")
    }
    sum =
      parts.count == 1 ? parts[0] : "\(RowSum.function)(\(parts.joined(separator: ", ")))"
    // The first 38 bytes hold the tag and, for a file, its name.
    let files = fileColumns.map { ", substr(t.\($0), 1, 38)" }.joined()
    let select = "SELECT t.\(key), \(sum)\(files) FROM \(name) t"
    let order = "ORDER BY t.\(key)"
    rowsBetween = "\(select) WHERE t.\(key) BETWEEN ?1 AND ?2 \(order)"
    // A list with IN would be gathered and sorted first.
    let keys = (1...Self.portion).map { "(?\($0))" }.joined(separator: ", ")
    rowsAmong =
      "WITH wanted (K) AS (VALUES \(keys)) "
      + "SELECT t.\(key), \(sum)\(files) FROM wanted CROSS JOIN \(name) t ON t.\(key) = wanted.K"
  }

  /// Key and sum of every row in ascending order, and other columns of it.
  func allRows(with columns: [String]) -> String {
    let others = columns.map { ", t.\($0)" }.joined()
    return "SELECT t.\(key), \(sum)\(others) FROM \(name) t ORDER BY t.\(key)"
  }
}
