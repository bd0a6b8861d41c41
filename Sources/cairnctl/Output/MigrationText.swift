// A migration as text.
import CairnControl
import CairnRecords
import Foundation
import Synchronization

enum MigrationText {
  static func lines(_ plans: [VersionMigrationPlan]) -> [String] {
    if plans.isDone, let plan = plans.first {
      return [TerminalText.oneLine("\(plan.file) is of \(plan.comparison.new.version) already")]
    }
    return Array(plans.map(lines).joined(separator: [""]))
  }

  private static func lines(_ plan: VersionMigrationPlan) -> [String] {
    let comparison = plan.comparison
    var lines = [
      TerminalText.oneLine("from  \(comparison.old.version), \(comparison.old.checksum)"),
      TerminalText.oneLine("to    \(comparison.new.version), \(comparison.new.checksum)"),
      "",
    ]
    switch comparison.way {
    case .mapping:
      lines += TerminalText.wrapped("by the mapping model \(comparison.mapping ?? "")")
      lines += TerminalText.wrapped(
        "which values its expressions drop cannot be told; entities that it leaves out are below")
    case .lightweight: lines.append("by lightweight migration")
    case .missing, .none:
      lines.append("a mapping model is needed, and none is in the package or beside it")
    }
    if !plan.touched.isEmpty {
      lines.append("")
      var table = TextTable(["ENTITY", "CHANGE", "ROWS"])
      for touched in plan.touched {
        table.add([
          .init(touched.entity), .init(touched.change.rawValue),
          .init("\(touched.rows)", isNumber: true),
        ])
      }
      lines += table.lines()
    }
    if !plan.drops.isEmpty {
      lines.append("")
      var table = TextTable(["DROPPED", "ROWS WITH VALUES"])
      for drop in plan.drops {
        table.add([
          .init(drop.place),
          .init("\(drop.values)", tone: drop.values > 0 ? .bad : nil, isNumber: true),
        ])
      }
      lines += table.lines()
    }
    if !plan.obstacles.isEmpty {
      lines.append("")
      for obstacle in plan.obstacles {
        lines += TerminalText.wrapped("cannot be done: \(obstacle.place): \(obstacle.reason)")
      }
    }
    return lines
  }
}

/// A bar that any thread may move.
///
/// Mutable state: the bar, inside the mutex.
final class MigrationProgress: Sendable {
  private let bar: Mutex<ProgressBar>

  init(isShown: Bool) {
    bar = Mutex(ProgressBar(isShown: isShown && ProgressBar.canBeSeen))
  }

  func show(_ fraction: Double) { bar.withLock { $0.show(fraction, "migrating") } }
  func clear() { bar.withLock { $0.clear() } }
}
