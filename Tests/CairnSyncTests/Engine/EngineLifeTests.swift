import CairnCoordinator
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

// What an engine holds, it lets go of.
struct EngineLifeTests {
  private final class Witness {
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
    #expect(witness.engine == nil)
    #expect(witness.coordinator == nil)
    #expect(witness.store == nil)
  }
}
