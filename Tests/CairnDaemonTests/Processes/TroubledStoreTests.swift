// Store files that are not what the daemon wants: it says why, stays up, and changes nothing.
import CairnControl
import CairnTesting
import Foundation
import Testing

@Suite struct TroubledStoreTests {
  /// The bytes of a file and the names beside it that begin like it.
  ///
  /// Without the empty log, and its index, that SQLite leaves beside a file that it only reads.
  private func traces(of path: String) throws -> (bytes: Data, names: [String]) {
    let url = URL(fileURLWithPath: path)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: url.deletingLastPathComponent().path
    ).filter { $0.hasPrefix(url.lastPathComponent) }.sorted()
    let log = try? Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    let isLogEmpty = log?.isEmpty ?? true
    return (
      try Data(contentsOf: url),
      names.filter { !isLogEmpty || !($0.hasSuffix("-wal") || $0.hasSuffix("-shm")) }
    )
  }

  @Test(arguments: TroubledFile.allCases)
  func aTroubledLocalStoreMakesADegradedDaemonAndStaysAsItWas(_ trouble: TroubledFile) async throws
  {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(model: try TroubledFile.model(in: folder), isUnprivileged: true))
    var holder = try trouble.make(at: daemon.localPath, in: folder)
    try daemon.handOver()
    // Reading a file that is locked here would give the lock up: the lock comes without content.
    let before = trouble == .locked ? nil : try traces(of: daemon.localPath)
    try await daemon.start()
    let status = try daemon.status()
    #expect(status.state == .degraded)
    let problem = try #require(status.problems.first)
    #expect(problem.code == trouble.code, "\(problem)")
    #expect(problem.message.contains(daemon.localPath), "\(problem)")
    #expect(problem.message.contains(trouble.words), "\(problem)")
    let refused = try await daemon.ctl("fetch", "Item")
    #expect(refused.code == 1 && refused.errors.contains("the daemon is degraded"))
    #expect(refused.errors.contains(trouble.words), "\(refused.errors)")
    if let before {
      #expect(await daemon.stop() == 0)
      let after = try traces(of: daemon.localPath)
      #expect(after.bytes == before.bytes)
      #expect(after.names == before.names)
    } else {
      _ = consume holder
      holder = nil
      #expect(try await eventually { try daemon.status().state == .serving })
      #expect(try await daemon.values("Item", "name") == ["nut"])
      #expect(await daemon.stop() == 0)
    }
  }

  @Test func aReplicaOfANewerVersionIsServedAndReadAtThatVersion() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica.sqlite")
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(model: try TroubledFile.model(in: folder), replicas: [("newer", path)]))
    _ = try TroubledFile.newerModel.make(at: path, in: folder)
    try await daemon.start()
    try await daemon.ctl("insert", "Item", "name=bolt")
    #expect(try await daemon.ctl("wait", "--for", "newer", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Item", "name").sorted() == ["bolt", "nut"])
    let theirs = try await daemon.ctl(
      "fetch", "Item", "--store", "newer", "--properties", "name,weight", "--format", "jsonl")
    #expect(theirs.code == 0 && theirs.output.contains("weight"), "\(theirs)")
    #expect(theirs.output.split(separator: "\n").count == 2)
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test(arguments: TroubledFile.replicas)
  func aTroubledReplicaDelaysNobodyAndStaysAsItWas(_ trouble: TroubledFile) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica.sqlite")
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: try TroubledFile.model(in: folder),
        replicas: [("bad", path), ("good", folder.file("good.sqlite"))],
        extra: "sync: {maxRetryDelay: 1s}", isUnprivileged: true))
    var holder = try trouble.make(at: path, in: folder)
    try daemon.handOver()
    let before = trouble == .locked ? nil : try traces(of: path)
    try await daemon.start()
    try await daemon.ctl("insert", "Item", "name=bolt")
    #expect(try await daemon.ctl("wait", "--for", "good", "--timeout", "60").code == 0)
    #expect(
      try await eventually { try daemon.replica("bad")?.problem != nil })
    let replica = try #require(try daemon.replica("bad"))
    let problem = try #require(replica.problem)
    #expect(problem.code == trouble.code, "\(problem)")
    #expect(problem.message.contains(path) && problem.message.contains(trouble.words), "\(problem)")
    #expect(replica.state == (trouble.mendsItself ? .unavailable : .stopped), "\(replica)")
    let waited = try await daemon.ctl("wait", "--for", "bad", "--timeout", "0.2")
    #expect(waited.code == (trouble.mendsItself ? 75 : 1), "\(waited.errors)")
    if let before {
      #expect(await daemon.stop() == 0)
      let after = try traces(of: path)
      #expect(after.bytes == before.bytes)
      #expect(after.names == before.names)
    } else {
      _ = consume holder
      holder = nil
      #expect(
        try await eventually { try daemon.replica("bad")?.state == .inSync })
      #expect(try await daemon.values("Item", "name") == ["bolt", "nut"])
      #expect(await daemon.stop() == 0)
    }
  }
}
