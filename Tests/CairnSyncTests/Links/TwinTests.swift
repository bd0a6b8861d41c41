// Two machines that were made from one image: their local stores have one identity until they meet.
import CairnContext
import CairnCoordinator
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

struct TwinTests {
  typealias Daemon = SyncEngineTests.Daemon

  private let scratch: Scratch
  private let shared: ReplicaConfiguration

  init() throws {
    scratch = try Scratch()
    shared = ReplicaConfiguration(
      name: "shared", url: scratch.url.appendingPathComponent("shared.sqlite"))
  }

  private func keys(_ site: Fleet.Site) throws -> Set<String> {
    try site.write { context in
      Set(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")).compactMap {
          $0.value(forKey: "key") as? String
        })
    }
  }

  /// Two daemons whose local stores are copies of one that was in step with the shared replica.
  private func twins() async throws -> (one: Daemon, other: Daemon) {
    let image = try Daemon("one", in: scratch)
    try image.engine.addReplica(shared)
    try image.insert(["k"])
    try await image.engine.wait(timeout: .patience)
    try await image.close()
    let path = scratch.url.appendingPathComponent("one.sqlite").path
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(
        atPath: path + suffix,
        toPath: scratch.url.appendingPathComponent("other.sqlite\(suffix)").path)
    }
    return (try Daemon("one", in: scratch), try Daemon("other", in: scratch))
  }

  /// One has looked at the beginning of its pass, and read what there was; then the other serves the replica under the
  /// same identity.
  @Test func whatOneHasStaysItsOwnAlthoughTheOtherServedTheReplicaInBetween() async throws {
    let (one, other) = try await twins()
    try one.engine.addReplica(shared)
    for number in 0..<6 { try other.insert(["other\(number)"]) }
    let store = try other.site.coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: shared.url,
      options: [StoreOptionKey.historyTracking: true])
    let own = other.site.access
    let replica = StoreAccess(
      store: store, schema: own.schema, environment: own.environment,
      configuration: own.configuration)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = other.site.coordinator
    let pass = SyncPass(local: own, replica: replica, context: context)
    func run(beforePushing body: () async throws -> Void = {}) async throws {
      var machine = PassState(direction: .both)
      var hasPushed = false
      while let step = machine.step {
        if case .move(.push) = step, !hasPushed {
          hasPushed = true
          try await body()
        }
        let report = try context.performAndWait { try pass.perform(step) }
        machine.take(report.event)
      }
    }
    let error = await #expect(throws: SyncError.self) {
      try await run {
        for number in 0..<3 { try one.insert(["one\(number)"]) }
        try await one.engine.wait(timeout: .patience)
      }
    }
    #expect(try #require(error).recovery == .retry)
    for _ in 0..<3 {
      try await run()
      try await one.engine.wait(timeout: .patience)
    }
    let all = Set((0..<3).map { "one\($0)" } + (0..<6).map { "other\($0)" } + ["k"])
    for site in [one.site, other.site] { #expect(try keys(site) == all) }
    #expect(
      try keys(Fleet.Site(name: "shared", access: replica, coordinator: other.site.coordinator))
        == all)
    try await one.close()
    try await other.close()
  }
}
