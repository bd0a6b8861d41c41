// Store files that are not what the daemon wants: it says why, stays up, and changes nothing.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
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

  @Test func aVerificationNamesTheReplicaWhoseFileWasCutShort() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("near.sqlite")
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(replicas: [("near", path), ("good", folder.file("good.sqlite"))]))
    try await daemon.start()
    try await daemon.ctl("insert", "Package", "name=bolt")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("checkpoint", "near").code == 0)
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: 0)
    try file.close()
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 1 && verified.output.contains("good  equal"), "\(verified)")
    #expect(verified.output.contains("near  not compared"), "\(verified)")
    #expect(!verified.errors.contains("\"local\""), "\(verified.errors)")
    let repaired = try await daemon.ctl("repair", "near")
    #expect(repaired.code != 0 && !repaired.errors.contains("\"local\""), "\(repaired)")
    #expect(await daemon.stop() == 0)
  }

  @Test func aWaitForAReplicaUnderTwoNamesSaysWhatIsWrong() async throws {
    let folder = try TemporaryFolder()
    let (one, two) = (folder.file("one.sqlite"), folder.file("two.sqlite"))
    let daemon = try Daemon(in: folder, Daemon.Setup(replicas: [("one", one)]))
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    try FileManager.default.linkItem(atPath: one, toPath: two)
    let waited = try await daemon.ctl("wait", "--timeout", "60")
    #expect(waited.code == 1 && waited.errors.contains("has 2 names"), "\(waited.errors)")
    #expect(waited.errors.contains("cairnctl sync one"), "\(waited.errors)")
    #expect(!waited.errors.contains("exists already"), "\(waited.errors)")
    #expect(await daemon.stop() == 0)
  }

  /// Two daemons that have a file by two names do not see each other's log: what one writes destroys the other's.
  @Test(
    .enabled(if: HostIdentity.effectiveUser == 0, "only root can mount"), arguments: [true, false])
  func aFileThatIsAMountPointByItselfIsNotOpened(isLocal: Bool) async throws {
    let folder = try TemporaryFolder()
    let first = try Daemon(in: folder, Daemon.Setup(name: "first"))
    try await first.start()
    try await first.ctl("insert", "Package", "name=nut")
    let mounted = folder.file("mounted.sqlite")
    try Data().write(to: URL(fileURLWithPath: mounted))
    let second = try Daemon(
      in: folder,
      Daemon.Setup(
        name: "second", replicas: isLocal ? [] : [("near", mounted)], local: isLocal ? mounted : nil
      ))
    let (daemon, client) = (
      try #require(Project.program("cairnd")), try #require(Project.program("cairnctl"))
    )
    let script = """
      mount --bind "$1" "$2" || exit 9
      "$3" --config "$4" 2>/dev/null & pid=$!
      for attempt in $(seq 600); do
        found=$("$5" --socket "$6" --json status 2>&1)
        case "$found" in *"mount point by itself"*) break;; esac
        sleep 0.1
      done
      kill $pid; wait $pid; echo "$found"
      """
    let outcome = try await run(
      "/usr/bin/unshare",
      [
        "--mount", "--propagation", "private", "/bin/sh", "-c", script, "sh", first.localPath,
        mounted,
        daemon, second.configPath, client, second.socket,
      ])
    #expect(outcome.output.contains("\(mounted) is a mount point by itself"), "\(outcome)")
    for suffix in ["-wal", "-shm"] {
      #expect(!FileManager.default.fileExists(atPath: mounted + suffix))
    }
    #expect(try await first.ctl("verify").code == 0)
    #expect(await first.stop() == 0)
  }
}
