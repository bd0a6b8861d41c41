import CairnSQL

/// A table of entities or of links, with the SQL for the sum of a row of it.
struct SummedTable: Sendable {
  /// What stands for the table in the sums.
  let number: Int64
  let name: String
  /// The column that tells its rows apart.
  let key: String
  /// The entity at the root of the table's hierarchy; nil for a join table.
  let root: SQLEntity?
  let sum: String
  /// Columns that may name files.
  let fileColumns: [String]

  init(
    number: Int64, name: String, key: String, root: SQLEntity?, columns: [String],
    fileColumns: [String]
  ) {
    self.number = number
    self.name = name
    self.key = key
    self.root = root
    self.fileColumns = fileColumns
    var parts: [String] = []
    for start in stride(from: 0, to: columns.count, by: RowSum.argumentLimit) {
      let some = columns[start..<min(start + RowSum.argumentLimit, columns.count)]
      parts.append("\(RowSum.function)(\(some.map { "t.\"\($0)\"" }.joined(separator: ", ")))")
    }
    sum =
      parts.count == 1 ? parts[0] : "\(RowSum.function)(\(parts.joined(separator: ", ")))"
  }
}
