import CairnCoordinator
import CairnModel
import CairnPostgreSQL
import CairnSQLite
import CairnStore
import Foundation
import TestSupport

@testable import CairnSync

/// One machine with a daemon: its clock, its coordinator and engine over the local store, its replicas.
final class SimulatedMachine {
  let name: String
  let local: SimulatedStore
  let replicas: [SimulatedStore]
  private let scheduler: Scheduler
  /// Which the next start goes by.
  var policy: DeleteConflictPolicy
  private let denies: Bool
  private let batchSize: Int
  /// By replica, where changes go; both ways where nothing is said.
  var directions: [String: SyncDirection]
  /// The replicas that have no leaves from here.
  var withoutLeaves: Set<String> = []
  private let retention: Int
  private let deletions: DeletionLimit
  var version = SampleModel.Version.current
  /// A replica that is no store.
  var member: SimulatedMember?
  /// The lines by which other machines' daemons call this one's.
  var lines: [SimulatedLine] = []
  private(set) var engine: SyncEngine?
  private var coordinator: PersistentStoreCoordinator?
  var isRunning: Bool { engine != nil }

  init(
    _ name: String, local: SimulatedStore, replicas: [SimulatedStore], scheduler: Scheduler,
    policy: DeleteConflictPolicy, denies: Bool, directions: [String: SyncDirection],
    batchSize: Int, retention: Int, deletions: DeletionLimit
  ) {
    self.deletions = deletions
    self.retention = retention
    self.denies = denies
    self.batchSize = batchSize
    self.directions = directions
    self.name = name
    self.local = local
    self.replicas = replicas
    self.scheduler = scheduler
    self.policy = policy
  }

  static let pollInterval: UInt64 = 5000

  private var configuration: SyncConfiguration {
    var configuration = SyncConfiguration()
    configuration.batchSize = batchSize
    // The clock moves between turns only: it would tell of writes without pause all the time.
    configuration.gatheringLimit = .zero
    configuration.retention = .milliseconds(retention)
    configuration.deleteConflicts = policy
    configuration.deletionLimit = deletions
    configuration.pollInterval = .milliseconds(Int64(Self.pollInterval))
    configuration.backoff = Backoff(first: .milliseconds(200), longest: .seconds(10))
    return configuration
  }

  /// Starts the daemon.
  ///
  /// - Throws: When the local store cannot be opened; nothing runs then.
  func start() async throws {
    guard engine == nil else { return }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(version, denies: denies),
      storeKinds: [
        DerivedStoreKind(of: SQLiteStoreKind(), storeClass: SeededStore.self),
        PostgreSQLStoreKind(),
      ])
    scheduler.kill(name, after: nil)
    let options: [AnyHashable: Any] = [
      StoreOptionKey.historyTracking: true, StoreOptionKey.migrateAutomatically: true,
      StoreOptionKey.inferMappingModel: true, StoreOptionKey.timeout: 0.02,
    ]
    let environment = scheduler.environment(of: name)
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: local.url, options: options)
    do {
      let engine = try Scheduler.$actor.withValue("\(name)/engine") {
        try SyncEngine(
          coordinator: coordinator, local: store, configuration: configuration,
          environment: environment,
          kinds: [member].compactMap { $0?.replicaKind(on: name) })
      }
      for replica in replicas { try add(replica, to: engine) }
      if let member { try add(member, to: engine) }
      let service = PeerService(engine)
      for line in lines { line.lead(to: service) }
      self.engine = engine
      self.coordinator = coordinator
      await scheduler.settle()
    } catch {
      try? coordinator.remove(store)
      throw error
    }
  }

  private func add(_ replica: SimulatedStore, to engine: SyncEngine) throws {
    let link = "\(name)/\(replica.name)"
    scheduler.expect(link)
    try Scheduler.$actor.withValue(link) {
      try engine.addReplica(
        ReplicaConfiguration(
          name: replica.name, type: replica.kind.type, url: replica.url,
          direction: direction(of: replica.name),
          entities: entities(of: replica.name), timeout: 0.02))
    }
  }

  private func add(_ member: SimulatedMember, to engine: SyncEngine) throws {
    let link = "\(name)/\(member.name)"
    scheduler.expect(link)
    try Scheduler.$actor.withValue(link) { try engine.addReplica(member.configuration) }
  }

  func direction(of replica: String) -> SyncDirection { directions[replica] ?? .both }

  /// What is exchanged with a replica; nil for all.
  private func entities(of replica: String) -> Set<String>? {
    guard withoutLeaves.contains(replica) else { return nil }
    return Set(["Item", "Tag", "Part"] + (version == .muchNewer ? ["Fresh"] : []))
  }

  /// Whether all links go both ways with all there is.
  var exchangesAll: Bool { withoutLeaves.isEmpty && directions.values.allSatisfy { $0 == .both } }

  /// Makes all links go both ways from now on, with all there is.
  func exchangeBothWays() async throws {
    let replicas = replicas.filter {
      direction(of: $0.name) != .both || withoutLeaves.contains($0.name)
    }
    directions = [:]
    withoutLeaves = []
    for replica in replicas { try await addAnew(replica) }
  }

  /// Removes a replica and adds it anew, as an operator does for one that is another store now.
  func addAnew(_ replica: SimulatedStore) async throws {
    guard let engine else { return }
    try await engine.removeReplica(named: replica.name)
    scheduler.forget("\(name)/\(replica.name)")
    try add(replica, to: engine)
    await scheduler.settle()
  }

  /// The same for what is no store.
  func addAnew(_ member: SimulatedMember) async throws {
    guard let engine else { return }
    try await engine.removeReplica(named: member.name)
    scheduler.forget("\(name)/\(member.name)")
    try add(member, to: engine)
    await scheduler.settle()
  }

  /// Ends the daemon; after a death at a failpoint, all it still does is to let go of its files.
  func stop() async {
    guard let engine else { return }
    for line in lines { line.lead(to: nil) }
    await engine.stop()
    for link in links { scheduler.forget(link) }
    if let coordinator {
      for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
    self.engine = nil
    coordinator = nil
    scheduler.kill(name, after: nil)
  }

  /// Calls all links, as a person does who tells the daemon to sync now.
  func syncNow() async throws {
    guard let engine else { return }
    for link in links { scheduler.note(callTo: link) }
    try engine.syncNow()
    await scheduler.settle()
  }

  /// Decides about what a link waits to be approved, if it does.
  func decide(_ plan: DeletionPlan, isApproved: Bool) async throws {
    guard let engine else { return }
    scheduler.note(callTo: "\(name)/\(plan.replica)")
    do {
      try await Scheduler.$actor.withValue("\(name)/engine") {
        _ =
          isApproved
          ? try await engine.approve(plan.replica, plan: plan.id)
          : try await engine.reject(plan.replica, plan: plan.id)
      }
    } catch {
      // Where the link was not called, it is now: the scheduler expects it.
      try engine.syncNow(names: [plan.replica])
      await scheduler.settle()
      throw error
    }
    await scheduler.settle()
  }

  func notice(_ replica: String) async {
    scheduler.waking { engine?.poke(replica: replica) }
    await scheduler.settle()
  }

  var replicaNames: [String] { replicas.map(\.name) + [member].compactMap { $0?.name } }
  var links: [String] { replicaNames.map { "\(name)/\($0)" } }
}
