import CairnModel

/// Which columns a SELECT of objects names, and where each entity's slots are among them.
///
/// The first three are always `Z_ENT`, `Z_PK` and `Z_OPT`.
package final class SQLRowShape: Sendable {
  /// How one slot is read.
  package enum Read: Sendable {
    case null
    case attribute(index: Int32, type: AttributeType, isExternal: Bool)
    /// `companion` is -1 when there is no such column.
    case toOne(index: Int32, companion: Int32, destination: Int)
  }

  package let columns: [String]
  /// The columns of the table `t0`, for a SELECT.
  package let list: String
  /// The SELECT of one row by its key, and of many by a JSON list of keys.
  package let byKey: String
  package let byKeys: String
  package let firstNumber: Int
  /// How the slots are read, entity after entity.
  ///
  /// In one array, because the reference to one of an entity's own would be counted row by row.
  package let reads: [Read]
  /// Where each entity's ``reads`` begin, by entity number minus ``firstNumber``, and the last's end.
  package let starts: [Int]

  init(entity: SQLEntity, members: [SQLEntity]) {
    var columns = ["Z_ENT", "Z_PK", "Z_OPT"]
    var indexes: [String: Int32] = [:]
    func index(_ column: String) -> Int32 {
      if let known = indexes[column] { return known }
      let new = Int32(columns.count)
      indexes[column] = new
      columns.append(column)
      return new
    }
    var reads: [Read] = []
    var starts = [0]
    for member in members {
      for slot in member.slots {
        switch slot {
        case .transient: reads.append(.null)
        case .attribute(let column, let type, let isExternal):
          reads.append(.attribute(index: index(column), type: type, isExternal: isExternal))
        case .toOne(let column, let companion, let destination):
          reads.append(
            .toOne(
              index: index(column), companion: companion.map(index) ?? -1,
              destination: destination))
        }
      }
      starts.append(reads.count)
    }
    self.reads = reads
    self.starts = starts
    self.columns = columns
    list = columns.map { "t0.\($0)" }.joined(separator: ", ")
    let select = "SELECT \(list) FROM \(entity.table) t0 WHERE t0.Z_PK "
    byKey = select + "= ?"
    byKeys = select + "IN (SELECT value FROM json_each(?))"
    firstNumber = members.first?.number ?? 0
  }
}
