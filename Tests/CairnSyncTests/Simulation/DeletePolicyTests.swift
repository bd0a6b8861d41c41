import CairnContext
import Foundation
import Testing

@testable import CairnSync

/// A delete carries the policy of the daemon that took it up, which decides in every store.
///
/// Specification: sync.md 2.1 and 4, "Delete against write".
struct DeletePolicyTests {
  /// Two stores with a record, whose daemons go by these policies.
  private func pair(
    _ first: DeleteConflictPolicy, _ second: DeleteConflictPolicy
  ) throws -> (fleet: Fleet, a: Fleet.Site, b: Fleet.Site) {
    let fleet = Fleet(seed: 21)
    let a = try fleet.add("a") { $0.deleteConflicts = first }
    let b = try fleet.add("b") { $0.deleteConflicts = second }
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "old"], in: $0) }
    try fleet.pass(a, b)
    return (fleet, a, b)
  }

  private func write(_ value: String, at site: Fleet.Site) throws {
    try site.write { try site.find("Item", "k", in: $0)?.setValue(value, forKey: "value") }
    try HistoryCapture(access: site.access).run()
  }

  /// The site after its daemon was configured anew.
  private func configured(
    _ site: Fleet.Site, _ policy: DeleteConflictPolicy
  ) throws -> Fleet.Site {
    var configuration = site.access.configuration
    configuration.deleteConflicts = policy
    return Fleet.Site(
      name: site.name,
      access: StoreAccess(
        store: site.access.store,
        schema: try SyncSchema(
          model: site.coordinator.managedObjectModel, defaultPolicy: policy, policies: [:]),
        environment: site.access.environment, configuration: configuration),
      coordinator: site.coordinator)
  }

  @Test(arguments: [
    (DeleteConflictPolicy.deleteWins, DeleteConflictPolicy.lastWriter, []),
    (.lastWriter, .deleteWins, ["item k later nil ^- []"]),
    (.writeWins, .deleteWins, ["item k later nil ^- []"]),
  ])
  func aDeleteGoesByThePolicyOfItsDaemonInEveryStore(
    deleter: DeleteConflictPolicy, writer: DeleteConflictPolicy, expected: [String]
  ) throws {
    let (fleet, a, b) = try pair(deleter, writer)
    try a.delete("k")
    fleet.advance(50)
    try write("later", at: b)
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == expected)
    #expect(try b.picture() == expected)
  }

  /// What was decided by the former policy stays: also of a record that is written to afterwards.
  @Test func aChangeOfThePolicyConcernsLaterDeletesAlone() throws {
    var (fleet, a, b) = try pair(.lastWriter, .lastWriter)
    try a.delete("k")
    fleet.advance(50)
    try write("later", at: b)
    _ = try fleet.settle([(a, b)])
    a = try configured(a, .deleteWins)
    fleet.advance(50)
    try write("again", at: b)
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == ["item k again nil ^- []"])
    #expect(try b.picture() == a.picture())

    fleet.advance(50)
    try a.delete("k")
    fleet.advance(50)
    try write("too late", at: b)
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == [])
    #expect(try b.picture() == [])
  }

  /// Builds before this one kept no policy with a delete.
  @Test func aDeleteWithoutAPolicyGoesByThatOfEachDaemon() throws {
    let id = RecordID(high: 1, low: 1)
    let store = StoreID(high: 0, low: 1)
    let deletion = Deletion(stamp: Stamp(clock: ClockReading(bits: 5), store: store))
    let write = PropertyWrite(stamp: Stamp(clock: ClockReading(bits: 9), store: store))
    let state = RecordState(
      id: id, entity: "Item", registers: ["value": Register(value: .null, write: write)],
      deletion: deletion)
    #expect(state.isAlive(under: .lastWriter))
    #expect(!state.isAlive(under: .deleteWins))
  }

  @Test(arguments: [nil] + DeleteConflictPolicy.allCases)
  func thePolicyOfADeleteIsStoredAndTravels(_ policy: DeleteConflictPolicy?) throws {
    let stamp = Stamp(clock: ClockReading(bits: 5), store: StoreID(high: 0, low: 1))
    let state = RecordState(
      id: RecordID(high: 1, low: 1), entity: "Item",
      deletion: Deletion(stamp: stamp, policy: policy),
      survivor: RecordID(high: 1, low: 2))
    let set = ChangeSet(source: stamp.store, after: 0, upTo: 1, records: [state])
    #expect(try ChangeSet(decoding: set.encoded()) == set)
    var entry = RecordEntry(entity: "Item", key: nil)
    entry.takeWrites(from: state)
    #expect(try RecordEntry(decoding: entry.encoded) == entry)
    #expect(entry.deletion?.policy == policy)
  }
}
