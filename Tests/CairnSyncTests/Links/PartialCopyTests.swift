import CairnContext
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 4 and 5: what comes in parts is merged as if it had come together.
struct PartialCopyTests {
  /// What becomes of a tag whose name another one gets.
  enum Fate: CaseIterable { case renamed, renamedThenDeleted }

  /// A tag that still has the name at the destination has lost it where the other one comes from.
  @Test(arguments: Fate.allCases, [DeleteConflictPolicy.lastWriter, .deleteWins, .writeWins])
  func aRecordIsUnitedWithNoneThatItsSourceHasRenamedOrDeleted(
    fate: Fate, policy: DeleteConflictPolicy
  ) throws {
    let fleet = Fleet(seed: 60)
    let set: (inout SyncConfiguration) -> Void = {
      $0.deleteConflicts = policy
      $0.batchSize = 1
    }
    let (a, b) = (try fleet.add("a", configure: set), try fleet.add("b", configure: set))
    try a.write { _ = try a.insert("Tag", ["name": "red", "note": "old"], in: $0) }
    _ = try fleet.settle([(a, b)])
    fleet.advance(10)
    try a.write { context in
      try a.find("Tag", "red", in: context)?.setValue("blue", forKey: "name")
      _ = try a.insert("Tag", ["name": "red", "note": "new"], in: context)
    }
    try HistoryCapture(access: a.access).run()
    fleet.advance(10)
    try a.write { context in
      let old = try a.find("Tag", "blue", in: context)
      if fate == .renamed {
        old?.setValue("noted", forKey: "note")
      } else {
        old.map(context.delete)
      }
    }
    try HistoryCapture(access: a.access).run()
    try beginNewLife(of: a)
    _ = try fleet.settle([(a, b)])
    let expected = (fate == .renamed ? ["tag blue noted"] : []) + ["tag red new"]
    for site in [a, b] { #expect(try site.picture() == expected, "\(site.name)") }
  }

  /// Two stores that never met have nothing to say of each other's records.
  @Test func whatTheSourceDoesNotKnowIsUnitedAlsoInParts() throws {
    let fleet = Fleet(seed: 61)
    let (a, b) = (
      try fleet.add("a") { $0.batchSize = 1 }, try fleet.add("b") { $0.batchSize = 1 }
    )
    for site in [a, b] {
      for name in ["red", "blue"] {
        try site.write { _ = try site.insert("Tag", ["name": name], in: $0) }
      }
    }
    _ = try fleet.settle([(a, b)])
    for site in [a, b] {
      #expect(try site.picture() == ["tag blue nil", "tag red nil"], "\(site.name)")
    }
  }

  /// From now on the store is read from the beginning, in parts.
  private func beginNewLife(of site: Fleet.Site) throws {
    let ledger = try site.access.ledger()
    ledger.head.incarnation = StoreID(high: 77, low: 0)
    #expect(try site.access.commit(ledger))
  }
}
