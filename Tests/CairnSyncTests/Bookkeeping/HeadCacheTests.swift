import Foundation
import Testing

@testable import CairnSync

/// A step reads what stands at the head of a store's bookkeeping once, and again where that matters.
struct HeadCacheTests {
  /// A store as a pass takes it, beside the same as another program's.
  private func stores(seed: UInt64) throws -> (step: StoreAccess, other: StoreAccess) {
    let access = try Fleet(seed: seed).add("a").access
    return (access.cachingHead(), access)
  }

  private func move(_ access: StoreAccess) throws {
    let ledger = try access.freshLedger()
    ledger.head.sequence += 1
    #expect(try access.commit(ledger))
  }

  @Test func whatOthersCommitIsSeenWhereItMattersAndInTheNextStep() throws {
    let (step, other) = try stores(seed: 61)
    let first = try step.ledger().head.sequence
    try move(other)
    #expect(try step.ledger().head.sequence == first)
    #expect(try step.freshLedger().head.sequence == first + 1)
    try move(other)
    step.headCache?.forget()
    #expect(try step.ledger().head.sequence == first + 2)
  }

  @Test func aStepSeesItsOwnCommits() throws {
    let (step, _) = try stores(seed: 62)
    let first = try step.ledger().head.sequence
    try move(step)
    #expect(try step.ledger().head.sequence == first + 1)
  }

  @Test func aCommitOnWhatIsNotSoAnyMoreFailsAndTheNextAttemptReadsIt() throws {
    let (step, other) = try stores(seed: 63)
    let ledger = try step.ledger()
    try move(other)
    ledger.head.sequence += 1
    #expect(try !step.commit(ledger))
    #expect(try step.ledger().head.sequence == other.ledger().head.sequence)
  }
}
