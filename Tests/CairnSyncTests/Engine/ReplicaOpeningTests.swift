import CairnAtomicStores
import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Synchronization
import Testing

@testable import CairnSync

// Replicas at other versions of the model, and replicas that hang while they are opened.
struct ReplicaOpeningTests {
  typealias Daemon = SyncEngineTests.Daemon

  @Test func anOlderReplicaIsMigratedWhileTheOthersRunAndEndsEqual() async throws {
    let scratch = try Scratch()
    let old = ReplicaConfiguration(
      name: "old", url: scratch.url.appendingPathComponent("old.sqlite"))
    let nas = ReplicaConfiguration(
      name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite"))
    // An older program writes a replica and has one write that the replica alone knows.
    let before = try Daemon("elsewhere", in: scratch, model: SampleModel.make(.older))
    try before.engine.addReplica(old)
    try before.insert((0..<20).map { "old\($0)" })
    try await before.engine.wait(timeout: .patience)
    try await before.close()

    let daemon = try Daemon("local", in: scratch)
    try daemon.insert(["new"])
    try daemon.engine.addReplica(nas)
    let events = daemon.engine.events()
    try daemon.engine.addReplica(old)
    try await daemon.engine.wait(timeout: .patience)
    try daemon.site.write {
      try daemon.site.find("Item", "old3", in: $0)?.setValue(2.5, forKey: "other")
    }
    for _ in 0..<2 { try await daemon.engine.wait(timeout: .patience) }
    for name in ["old", "nas"] {
      let report = try await daemon.engine.verify(name: name, timeout: .patience)
      #expect(report.isEqual && report.records == 21, "\(report.differences)")
    }
    await daemon.engine.stop()
    var phases: [ReplicaPhase] = []
    for await event in events {
      if case .phaseChanged("old", let phase) = event { phases.append(phase) }
    }
    #expect(phases.contains { if case .migrating = $0 { true } else { false } })
  }

  @Test func aReplicaThatCannotBeBroughtToTheModelStopsItsLinkOnly() async throws {
    let scratch = try Scratch()
    let url = scratch.url.appendingPathComponent("other.sqlite")
    let before = try Daemon("other", in: scratch, model: SampleModel.make(.otherType))
    try before.insert(["theirs"])
    try await before.close()
    let bytes = try Data(contentsOf: url)

    let daemon = try Daemon("local", in: scratch)
    try daemon.insert(["k"])
    try daemon.engine.addReplica(ReplicaConfiguration(name: "other", url: url))
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(for: ["other"], timeout: .patience)
    }
    #expect(error?.code == .incompatibleModel && error?.recovery == .person)
    #expect(error?.message.contains(url.path) == true)
    try await daemon.engine.wait(for: ["nas"], timeout: .patience)
    let status = try daemon.engine.status().replicas.first { $0.configuration.name == "other" }
    if case .failed(let reason) = status?.phase {
      #expect(reason.code == .incompatibleModel)
    } else {
      Issue.record("the link is \(String(describing: status?.phase))")
    }
    await daemon.engine.stop()
    #expect(try Data(contentsOf: url) == bytes)
  }

  /// Specification: sync.md 6, "No daemon ever migrates a store … to a model that lacks something".
  @Test func aModelThatTheProgramKnowsIsNoConsentToMigrateAReplicaDown() throws {
    let scratch = try Scratch()
    let url = scratch.url.appendingPathComponent("hub.sqlite")
    let newer = SampleModel.make(.newer)
    func open(_ model: ManagedObjectModel, _ options: [AnyHashable: Any]) throws {
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: model, storeKinds: [SQLiteStoreKind()])
      let store = try coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil, at: url, options: options)
      try coordinator.remove(store)
    }
    try open(newer, [:])
    var options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      // As if it lay beside the executable.
      StoreOptionKey.migrationSourceModels: [newer],
    ]
    let opening = ReplicaOpening(
      coordinator: PersistentStoreCoordinator(
        managedObjectModel: SampleModel.make(), storeKinds: [SQLiteStoreKind()]),
      configuration: ReplicaConfiguration(name: "hub", url: url), neighbours: [],
      expectedIdentifier: nil, progress: { _ in })
    let own = opening.description().options
    #expect((own[StoreOptionKey.refuseLossyMigration] as? NSNumber)?.boolValue == true)
    let bytes = try Data(contentsOf: url)
    var refused = options
    refused[StoreOptionKey.refuseLossyMigration] = true
    let error = #expect(throws: CoreDataError.self) { try open(SampleModel.make(), refused) }
    #expect(error?.message.contains("Item.extra") == true, "\(error?.message ?? "")")
    #expect(try Data(contentsOf: url) == bytes)
    // To a model that has all of it: yes.
    options[StoreOptionKey.refuseLossyMigration] = true
    options[StoreOptionKey.migrationSourceModels] = [SampleModel.make(.older)]
    let older = scratch.url.appendingPathComponent("older.sqlite")
    let source = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(.older), storeKinds: [SQLiteStoreKind()])
    try source.remove(
      source.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil, at: older, options: nil))
    let target = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(), storeKinds: [SQLiteStoreKind()])
    try target.remove(
      target.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil, at: older, options: options))
  }

  /// A kind of store whose files hang when they are looked at, until the gate opens.
  struct HangingKind: StoreKind {
    let gate = DispatchSemaphore(value: 0)
    let reached = DispatchSemaphore(value: 0)
    var type: String { "Hanging" }
    var storeClass: PersistentStore.Type { InMemoryStore.self }
    var keepsFiles: Bool { false }
    func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
      reached.signal()
      gate.wait()
      throw CoreDataError(.persistentStoreOpen, "\(url.path) hung")
    }
    func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOptions) throws {}
    func destroy(at url: URL, options: StoreOptions) throws {}
    func replace(at destination: URL, withStoreAt source: URL, options: StoreOptions) throws {}
  }

  @Test func replicasThatHangWhileTheyAreOpenedDelayNobody() async throws {
    let scratch = try Scratch()
    let kind = HangingKind()
    let daemon = try Daemon("local", in: scratch, kinds: [kind])
    try daemon.insert(["k"])
    let count = ProcessInfo.processInfo.activeProcessorCount + 4
    for number in 0..<count {
      let url = scratch.url.appendingPathComponent("hung\(number)")
      try Data().write(to: url)
      try daemon.engine.addReplica(
        ReplicaConfiguration(name: "hung\(number)", type: "Hanging", url: url))
    }
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(for: ["nas"], timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas").records == 1)
    // Neither does taking one out, nor the end.
    try await daemon.engine.removeReplica(named: "hung0")
    await daemon.engine.stop()
    for _ in 0..<(count * 100) { kind.gate.signal() }
  }
}
