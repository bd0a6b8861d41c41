// What writers were told is saved, and what of it is not there.
import CairnControl

/// The rows that writers own, each written by one of them, with counts that grow.
struct DrillPromises {
  private struct Row {
    /// The last count that was asked to be saved, and the last that was acknowledged.
    var attempted: Int
    var acknowledged: Int?
    var isDeletionAttempted = false
    var isDeletionAcknowledged = false
  }

  private var rows: [String: Row] = [:]
  /// Saves of rows, and deletes, that were acknowledged.
  private(set) var acknowledgedCount = 0

  /// Notes what a writer is about to save.
  mutating func attempt(_ name: String, count: Int) {
    rows[name, default: Row(attempted: count)].attempted = count
  }

  mutating func attemptDeletion(_ name: String) { rows[name]?.isDeletionAttempted = true }

  /// Notes that the rows were saved, as they were attempted last.
  mutating func acknowledge(_ names: [String]) {
    for name in names {
      guard var row = rows[name] else { continue }
      if row.isDeletionAttempted {
        row.isDeletionAcknowledged = true
      } else {
        row.acknowledged = row.attempted
      }
      rows[name] = row
      acknowledgedCount += 1
    }
  }

  /// What is known when the power went after `moment`: what was acknowledged since may be lost, or may not.
  ///
  /// A flush that is under way just then may be answered, which no real loss of power does.
  func doubtful(since moment: DrillPromises) -> DrillPromises {
    var result = self
    for name in rows.keys {
      let known = moment.rows[name]
      result.rows[name]?.acknowledged = known?.acknowledged
      result.rows[name]?.isDeletionAcknowledged = known?.isDeletionAcknowledged ?? false
    }
    result.acknowledgedCount = moment.acknowledgedCount
    return result
  }

  /// What is not as it was acknowledged, in words; empty when all is there.
  ///
  /// A save without an answer may have been made or not.
  func broken(in counts: [String: Int]) -> [String] {
    var result: [String] = []
    for (name, row) in rows.sorted(by: { $0.key < $1.key }) {
      switch counts[name] {
      case nil where row.acknowledged != nil && !row.isDeletionAttempted:
        result.append("\(name) was acknowledged and is gone")
      case _? where row.isDeletionAcknowledged:
        result.append("\(name) is there, and its deletion was acknowledged")
      case let count? where count < row.acknowledged ?? 0:
        result.append("\(name) holds \(count), and \(row.acknowledged ?? 0) was acknowledged")
      case let count? where count > row.attempted:
        result.append("\(name) holds \(count), which was never written")
      case _: break
      }
    }
    // Each writer's rows begin with its name, and only that writer writes them.
    for name in counts.keys.sorted() where DrillWriter.isOwned(name) && rows[name] == nil {
      result.append("\(name) is there, and was never written")
    }
    return result
  }
}
