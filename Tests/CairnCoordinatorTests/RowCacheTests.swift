// What the rows that contexts share become when threads overtake each other.

import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnCoordinator

@Suite struct RowCacheTests {
  private let identity: StoreIdentity
  private let id: ManagedObjectID
  private let cache = RowCache()

  init() throws {
    let model = Fixture.noteModel()
    try model.prepareForUse()
    identity = StoreIdentity(identifier: "A", model: model)
    let entity = try #require(model.entitiesByName["Note"])
    id = ManagedObjectID(entity: entity, storeIdentity: identity, key: .row(7))
  }

  private func row(_ version: Int64) -> RowSnapshot {
    .make(objectID: id, version: version, values: [.string("v\(version)"), .integer(version)])
  }

  @Test func anEarlierCommitThatArrivesLateReplacesNothingNewer() {
    cache.commit([row(1)], deleted: [], in: identity, holding: 1)
    let before = cache.commitCount(of: identity)
    // Both have asked the store; the second one, which began after it, is told first.
    cache.commit([row(3)], deleted: [], in: identity, after: before)
    cache.commit([row(2)], deleted: [], in: identity, after: before)
    #expect(cache.snapshot(for: id)?.version == 3)
  }

  @Test func anEarlierCommitThatArrivesLateBringsNoDeletedRowBack() {
    cache.commit([row(1)], deleted: [], in: identity, holding: 1)
    let before = cache.commitCount(of: identity)
    cache.commit([], deleted: [id], in: identity, after: before)
    cache.commit([row(2)], deleted: [], in: identity, after: before)
    #expect(cache.snapshot(for: id) == nil)
  }

  @Test func commitsInTheirOrderReplaceWhatThereIs() {
    for version in Int64(1)...3 {
      let before = cache.commitCount(of: identity)
      cache.commit([row(version)], deleted: [], in: identity, after: before)
      #expect(cache.snapshot(for: id)?.version == version)
    }
  }
}
