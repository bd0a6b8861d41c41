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

// What an engine holds, it lets go of.
struct EngineLifeTests {
  // Unchecked: a test writes all of it before it waits, and nothing afterwards.
  private final class Witness: @unchecked Sendable {
    weak var engine: SyncEngine?
    weak var coordinator: PersistentStoreCoordinator?
    weak var store: PersistentStore?
  }

  private func live(_ witness: Witness, replicas: Int) async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    witness.engine = daemon.engine
    witness.coordinator = daemon.site.coordinator
    witness.store = daemon.site.access.store
    try daemon.insert(["a", "b"])
    for number in 0..<replicas {
      let url = scratch.url.appendingPathComponent("replica\(number).sqlite")
      try daemon.engine.addReplica(ReplicaConfiguration(name: "replica\(number)", url: url))
    }
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.close()
  }

  @Test(arguments: [0, 2]) func aStoppedEngineIsReleasedWithAllItHeld(replicas: Int) async throws {
    let witness = Witness()
    try await live(witness, replicas: replicas)
    // The last block of a queue may end after the engine has.
    let isReleased = await eventually {
      witness.engine == nil && witness.coordinator == nil && witness.store == nil
    }
    #expect(isReleased)
  }

  /// Rows that history does not tell of, as programs wrote them that keep none.
  private func fill(_ scratch: Scratch, items count: Int) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(), storeKinds: [InMemoryStoreKind(), SQLiteStoreKind()])
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil,
      at: scratch.url.appendingPathComponent("local.sqlite"), options: nil)
    let item = try #require(coordinator.managedObjectModel.entitiesByName["Item"])
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<count {
        ManagedObject(entity: item, insertInto: context).setValue("k\(number)", forKey: "key")
      }
      try context.save()
    }
    try coordinator.remove(store)
  }

  @Test func aFirstCaptureEndsBetweenTwoCommitsAndGoesOnThereLater() async throws {
    let scratch = try Scratch()
    try fill(scratch, items: 4 * BootstrapScan.rowsPerCommit)
    let engine = Mutex<SyncEngine?>(nil)
    let commits = Mutex(0)
    let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
    var environment = SyncEnvironment.live
    environment.reach = { failpoint in
      guard failpoint == .afterBootstrapCommit else { return }
      commits.withLock { $0 += 1 }
      try engine.withLock { $0 }?.pause()
      continuation.finish()
    }
    let daemon = try SyncEngineTests.Daemon("local", in: scratch, environment: environment)
    engine.withLock { $0 = daemon.engine }
    let nas = ReplicaConfiguration(
      name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite"))
    try daemon.engine.addReplica(nas)
    for await _ in reached {}
    // Waits for the step that runs.
    try await daemon.close()
    #expect(commits.withLock { $0 } == 1)

    let later = try SyncEngineTests.Daemon("local", in: scratch)
    try later.engine.addReplica(nas)
    let report = try await later.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 4 * BootstrapScan.rowsPerCommit)
    try await later.close()
  }
}
