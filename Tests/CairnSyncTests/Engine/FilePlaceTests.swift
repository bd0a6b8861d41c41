import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "The file under the name".
struct FilePlaceTests {
  private func files(_ url: URL) -> [String] {
    ["", "-wal", "-shm"].map { url.path + $0 }.filter(FileManager.default.fileExists(atPath:))
  }

  /// A daemon with a replica in step, and where the replica is.
  private func pair(
    in scratch: Scratch
  ) async throws -> (daemon: SyncEngineTests.Daemon, replica: URL) {
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try daemon.insert(["k"])
    try await daemon.engine.wait(timeout: .patience)
    return (daemon, url)
  }

  private func move(_ url: URL, to name: String) throws -> URL {
    let target = url.deletingLastPathComponent().appendingPathComponent(name)
    for file in files(url) {
      let suffix = file.dropFirst(url.path.count)
      try FileManager.default.moveItem(atPath: file, toPath: target.path + suffix)
    }
    return target
  }

  @Test func aReplicaThatIsRemovedIsReportedAndNotWrittenTo() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await pair(in: scratch)
    for file in files(url) { try FileManager.default.removeItem(atPath: file) }
    try daemon.insert(["late"])
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    // Whether a write or the look at its name noticed first.
    #expect(error?.message.contains("was removed") == true, "\(error?.message ?? "")")
    #expect(files(url) == [])
    let status = try #require(try daemon.engine.status().replicas.first)
    #expect(status.lastError?.code == .storeUnavailable)
    // As a new one it is made anew.
    try await daemon.engine.removeReplica(named: "nas")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 2)
    await daemon.engine.stop()
  }

  @Test func aReplicaThatComesBackGoesOn() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await pair(in: scratch)
    let aside = try move(url, to: "aside.sqlite")
    try daemon.insert(["late"])
    // Which does not wait for a replica that cannot be reached.
    await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    _ = try move(aside, to: "nas.sqlite")
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 2)
    await daemon.engine.stop()
  }

  @Test func anotherStoreUnderTheNameIsNotTakenForTheReplica() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await pair(in: scratch)
    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try other.insert(["foreign"])
    try await other.close()
    for file in files(url) { try FileManager.default.removeItem(atPath: file) }
    _ = try move(scratch.url.appendingPathComponent("other.sqlite"), to: "nas.sqlite")
    try daemon.insert(["late"])
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .anotherStore)
    #expect(try daemon.site.picture().count == 2)
    await daemon.engine.stop()
  }

  @Test func aLocalStoreThatIsRemovedTakesNoMoreWrites() async throws {
    let scratch = try Scratch()
    let (daemon, _) = try await pair(in: scratch)
    for file in files(scratch.url.appendingPathComponent("local.sqlite")) {
      try FileManager.default.removeItem(atPath: file)
    }
    let failure = #expect(throws: CoreDataError.self) { try daemon.insert(["lost"]) }
    #expect(failure?.message.contains("removed, moved or replaced") == true)
    // The next pass finds it, however busy the machine is.
    daemon.engine.poke(replica: "nas")
    #expect(
      try await eventually { try daemon.engine.link("nas").life.lastError != nil })
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    #expect(error?.message.contains("local.sqlite") == true)
    await daemon.engine.stop()
  }
}
