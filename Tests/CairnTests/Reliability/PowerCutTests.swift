// Power cuts at any moment of a save: what was synced is there, the rest is there in part.

import Cairn
import CairnSQLite
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: operations.md 3.3 – with `full` no acknowledged save is lost; with `normal` some
/// are, and the store is whole either way.
@Suite struct PowerCutTests {
  /// Saves until the power goes, and looks.
  ///
  /// - Returns: How many acknowledged saves are gone.
  private func lost(
    _ level: String, seed: UInt64, _ numbers: inout SeededNumbers
  ) throws -> Int {
    let folder = try FaultFolder()
    try folder.refill(from: FaultLoopTests.template.get().url)
    folder.rememberUnsynced()
    let pragmas = ["synchronous": level, "wal_autocheckpoint": "20"]
    let shop = try Shop(at: folder.store, options: [StoreOptionKey.sqlitePragmas: pragmas])
    folder.arm(
      Fault(
        kind: [.write, .tornWrite, .sync].randomElement(using: &numbers) ?? .write,
        nth: Int.random(in: 1...600, using: &numbers), lasts: true))
    var saved: [String] = []
    shop.context.performAndWait {
      for number in 0..<40 {
        shop.insert("kept \(number)")
        do {
          try shop.context.save()
        } catch {
          break
        }
        // A checkpoint may have failed after a commit that did not.
        saved.append("kept \(number)")
        if shop.store.failure != nil { break }
      }
    }
    folder.cutPower()
    try? shop.close()
    folder.disarm()
    try folder.restore(seed: seed)
    let again = try Shop(at: folder.store)
    defer { try? again.close() }
    let findings = again.store.findings
    let problems = try again.store.verifyIntegrity()
    #expect(problems == findings, "\(level), seed \(seed): \(problems)")
    let names = try again.context.performAndWait {
      try again.items().compactMap { $0.value(forKey: "name") as? String }
    }
    #expect(names.filter { $0.hasPrefix("item") }.count == 12)
    let lost = saved.filter { !names.contains($0) }.count
    // What is lost is noticed.
    #expect(lost == 0 || !findings.isEmpty, "\(level), seed \(seed): \(lost) lost, \(findings)")
    return lost
  }

  @Test(.timeLimit(.minutes(10)))
  func fullLosesNothingAndNormalDoes() throws {
    var numbers = SeededNumbers(seed: TestSeed.get("power cuts"))
    var lostWithNormal = 0
    for round in 0..<12 {
      let seed = round % 3 == 0 ? 0 : UInt64.random(in: 1 ... .max, using: &numbers)
      #expect(try lost("FULL", seed: seed, &numbers) == 0, "seed \(seed)")
      lostWithNormal += try lost("NORMAL", seed: seed, &numbers)
    }
    #expect(lostWithNormal > 0, "a test that cannot fail proves nothing")
  }
}
