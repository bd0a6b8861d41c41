// What the self-test has shown.
import CairnControl
import Foundation

/// The figures of a self-test, as `--json` writes them.
struct DrillReport: Encodable {
  struct Step: Encodable {
    let step: String
    let kills: Int
  }

  let version: String
  let folder: String
  let disk: DrillDisk
  /// The number that the random times and steps come of.
  let seed: UInt64
  var seconds = 0.0
  /// Whether it was ended early.
  var isInterrupted = false
  /// Kills at each step of sync, and at any time.
  var steps: [Step] = []
  var randomKills = 0
  /// How often the power of a file system was cut under the stores, and how often that took away what was not flushed.
  var powerCuts = 0
  var powerCutsThatShow = 0
  /// How often stores were made anew.
  var rounds = 0
  /// How often the three stores were compared, and how many rows in all.
  var comparisons = 0
  var rowsCompared = 0
  /// Saves of rows, and deletes, that writers were told are done.
  var acknowledged = 0
  /// Saves that were not answered, or refused, since the daemon was gone.
  var unanswered = 0
  /// The bytes of the largest store.
  var largestStore = 0
  /// What was lost, or is not the same; nothing follows it.
  var failure: String?
  /// Where the stores of a failure were left.
  var kept: String?
  var notProven: [String] = []

  init(folder: String, disk: DrillDisk, seed: UInt64) {
    version = CairnVersion.text
    self.folder = folder
    self.disk = disk
    self.seed = seed
  }

  var kills: Int { steps.map(\.kills).reduce(randomKills, +) }

  /// For people.
  var lines: [String] {
    var lines = [
      "folder    \(TerminalText.oneLine(folder)) (\(disk.kind)"
        + (disk.flush.map { String(format: ", a flush takes %.2f ms", $0) } ?? "") + ")",
      "seed      \(seed)",
      "time      \(Readable.seconds(seconds))\(isInterrupted ? ", ended early" : "")",
      "kills     \(kills): \(kills - randomKills) at steps of sync, \(randomKills) at any time",
      "writes    \(acknowledged) acknowledged, \(Readable.count(unanswered, "save")) unanswered",
      "compared  \(Readable.count(comparisons, "time")), three stores, \(Readable.count(rowsCompared, "row"))"
        + " in all; the largest store had \(Readable.bytes(largestStore))",
      "",
    ]
    if powerCuts > 0 {
      let cuts = Readable.count(powerCuts, "cut")
      lines.insert("power     \(cuts) of a file system in a file on this disk", at: 4)
    }
    var table = TextTable(["step", "kills"])
    for step in steps {
      table.add([
        .init(step.step),
        .init("\(step.kills)", tone: step.kills == 0 ? .warning : nil, isNumber: true),
      ])
    }
    lines += table.lines() + [""]
    if let failure {
      lines += TerminalText.wrapped("FAILED: \(failure)")
      if let kept { lines.append(TerminalText.oneLine("stores and log: \(kept)")) }
    } else {
      lines += TerminalText.wrapped(
        "proven: after each of these kills\(powerCuts > 0 ? " and cuts" : "") every acknowledged write was there, nothing else was, and all "
          + "three stores held the same rows")
    }
    lines.append("not proven:")
    for text in notProven { lines += TerminalText.wrapped(text, indent: "  ") }
    return lines
  }
}
