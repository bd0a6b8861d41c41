import CFaultVFS
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 2.5: trouble with a replica mends itself when the disk does.
struct FailingDiskTests {
  @Test func aReplicaWhoseDiskFailedOnceIsOpenedAnewAndGoesOn() async throws {
    try #require(cfault_install() == 0)
    let scratch = try Scratch()
    let disk = scratch.url.appendingPathComponent("disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
    let number = cfault_begin(disk.path)
    try #require(number >= 0)
    defer { cfault_end(number) }
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: disk.appendingPathComponent("nas.sqlite")))
    try daemon.insert(["k"])
    try await daemon.engine.wait(timeout: .patience)
    cfault_arm(number, UInt32(CFAULT_WRITE), 1, 0, Int32(CFAULT_FAILS))
    try daemon.insert(["late"])
    // Far more than the waits between the attempts: who never opens it anew hangs here.
    try await daemon.engine.wait(timeout: .seconds(60))
    #expect(cfault_injected(number) == 1)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 2)
    try await daemon.close()
  }

  /// The local store cannot write down that the replica was removed: a person joins the two all the same.
  @Test func aReplicaThatIsRemovedWhileTheLocalStoreTakesNoWritesIsNewWhenItIsAdded() async throws {
    try #require(cfault_install() == 0)
    let scratch = try Scratch()
    let disk = try Scratch()
    let number = cfault_begin(disk.url.path)
    try #require(number >= 0)
    defer { cfault_end(number) }
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    let daemon = try SyncEngineTests.Daemon("local", in: disk)
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try daemon.insert(["k"])
    try await daemon.engine.wait(timeout: .patience)
    try daemon.engine.pause()
    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try await other.close()
    for end in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: url.path + end)
      let place = scratch.url.appendingPathComponent("other.sqlite").path + end
      if FileManager.default.fileExists(atPath: place) {
        try FileManager.default.moveItem(atPath: place, toPath: url.path + end)
      }
    }
    try daemon.engine.resume()
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    #expect(try daemon.engine.status().replicas[0].lastError?.code == .anotherStore)
    cfault_arm(number, UInt32(CFAULT_WRITE), 1, 0, Int32(CFAULT_FAILS))
    try await daemon.engine.removeReplica(named: "nas")
    #expect(cfault_injected(number) == 1)
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    #expect(
      await eventually {
        (try? daemon.engine.status().replicas.first?.storeID).flatMap { $0 } != nil
      })
    try await daemon.close()
  }
}
