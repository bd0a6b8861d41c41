// What the sums cost that a store keeps of its rows: the same work with them and without.

import Cairn
import Foundation

extension Cases {
  var rowSumCases: [(name: String, run: () throws -> CaseResult)] {
    let samples = Sample.rows(rows)
    let parents = max(rows / 10, 1)
    return [
      (
        "row sums insert",
        {
          try comparingRowSums("insert + save, history on", units: rows) { sums in
            try withCairn(filled: false, history: true, rowSums: sums) { try $0.insert(samples) }
          }
        }
      ),
      (
        "row sums update",
        {
          try comparingRowSums("update, save, history on", units: rows / 10) { sums in
            try withReopenedCairn(history: true, rowSums: sums) { stack in
              try timedUpdate(stack)
            }
          }
        }
      ),
      (
        "row sums delete",
        {
          try comparingRowSums("delete with a cascade", units: parents * 11) { sums in
            try withCairnFamily(parents: parents, rowSums: sums) { try timedCascade($0) }
          }
        }
      ),
      (
        "row sums save one",
        {
          try comparingRowSums("save of one object", units: Self.singleSaves) { sums in
            try withReopenedCairn(history: false, rowSums: sums) { stack in
              try timedSaves(stack)
            }
          }
        }
      ),
      (
        "row sums fetch",
        {
          try comparingRowSums("fetch", units: rows) { sums in
            try withCairn(filled: true, rowSums: sums) { stack in
              try timedFetch(stack, asFaults: false)
            }
          }
        }
      ),
    ]
  }

  /// Begins with an empty log: what is left of filling the store must not be moved in one of the two
  /// runs and not in the other.
  private func withReopenedCairn(
    history: Bool, rowSums: Bool, _ body: (CairnStack) throws -> Double
  ) throws -> Double {
    let file = workspace.newFile()
    defer { workspace.remove(file) }
    let filling = try CairnStack(file, history: history, rowSums: rowSums)
    try filling.insert(Sample.rows(rows))
    try filling.close()
    let stack = try CairnStack(file, history: history, rowSums: rowSums)
    let seconds = try body(stack)
    try stack.close()
    return seconds
  }

  private func comparingRowSums(
    _ work: String, units: Int, _ run: @escaping (Bool) throws -> Double
  ) throws -> CaseResult {
    try measure(
      "\(work), with row sums (to the same without)", units: units, rounds: rounds,
      base: "without",
      [
        Contestant(name: "without") { try run(false) },
        Contestant(name: "Cairn") { try run(true) },
      ])
  }
}
