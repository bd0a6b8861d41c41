// The disk of a hub's server is full for a while.
import CairnControl
import CairnTesting
import Foundation
import TestServers
import TestSupport
import Testing

/// Specification: sync.md 2, promise 5: a full replica delays no other one.
@Suite(.needsServer) struct HubDiskTests {
  /// A file system of a few megabytes with a folder that is the server's.
  private final class SmallDisk: Sendable {
    let folder: TemporaryFolder
    let path: String

    /// - Returns: nil where this user may not mount one.
    init?(_ megabytes: Int, for server: PostgreSQLServer) async throws {
      folder = try TemporaryFolder()
      path = folder.file("disk")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let mounted = try await run(
        "/usr/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path])
      guard mounted.code == 0 else { return nil }
      // The server makes folders of its own there.
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
      let made = try await run(
        "/bin/sh",
        ["-c", "mkdir \(path)/space && chown --reference=\(server.folder) \(path)/space"])
      try #require(made.code == 0, "\(made.errors)")
    }

    /// Also while the server has files there, which goes with the test.
    func unmount() { _ = try? ChildProcess.run("/usr/bin/umount", ["--lazy", path]) }
  }

  /// A daemon with the hub and a file as replicas, and a record that both have.
  private func inStep(_ hub: HubDaemons) async throws -> Daemon {
    let daemon = try hub.make("a")
    try await daemon.start()
    let near = hub.folder.file("near.sqlite")
    #expect(try await daemon.ctl("store", "add", "near", "sqlite", near).code == 0)
    #expect(try await daemon.ctl("insert", "Package", "name=apt").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    return daemon
  }

  @Test(.timeLimit(.minutes(10)))
  func aFullDiskOfTheServerIsSaidSoAndOthersGoOnUntilThereIsRoom() async throws {
    let server = try PostgreSQLServer()
    guard let disk = try await SmallDisk(4, for: server) else {
      print("NOT RUN: \(Self.self), which mounts a small file system and needs root for that")
      return
    }
    defer { disk.unmount() }
    let hub = try HubDaemons(server)
    _ = try server.query("CREATE TABLESPACE small LOCATION '\(disk.path)/space'")
    _ = try server.query("ALTER ROLE owner SET default_tablespace = small")
    let daemon = try await inStep(hub)
    // Another program takes what is left.
    _ = try server.query(
      "CREATE TABLE filler (text text); ALTER TABLE filler ALTER text SET STORAGE PLAIN")
    #expect(throws: ServerProblem.self) {
      try server.query("INSERT INTO filler SELECT repeat('x', 7000) FROM generate_series(1, 2000)")
    }
    let summary = String(repeating: "long ", count: 200)
    let rows = (0..<100).map { #"{"name":"late\#($0)","summary":"\#(summary)"}"# }
    let imported = try await daemon.ctl(
      "import", "-", "--entity", "Package", "--key", "name", input: rows.joined(separator: "\n"))
    #expect(imported.code == 0, "\(imported.errors)")
    #expect(try await daemon.ctl("wait", "--for", "near", "--timeout", "60").code == 0)
    #expect(await eventually { (try? daemon.replica("hub")?.problem?.code) == "disk-full" })
    let problem = try #require(try daemon.replica("hub")?.problem)
    let cure = "The server's disk is full; nothing was written. Make room there"
    #expect(problem.message.contains(cure), "\(problem)")
    #expect(await daemon.logs(cure))
    let shown = try await daemon.ctl("status").output.split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    #expect(shown.contains(cure) && shown.contains("(disk-full)"), "\(shown)")
    #expect(try hub.sql("SELECT count(*) FROM @package") == "1", "all of it or nothing")

    _ = try server.query("DROP TABLE filler")
    let waited = try await daemon.ctl("wait", "--timeout", "120")
    #expect(waited.code == 0, "\(waited.errors)")
    #expect(try hub.sql("SELECT count(*) FROM @package") == "101")
    #expect(await daemon.stop() == 0)
  }

  /// Without room for its log a server ends, and ends again whenever it is started.
  @Test(.timeLimit(.minutes(10)))
  func aServerWhoseLogHasNoRoomIsGoneUntilItHasAndNothingIsLostOrTwice() async throws {
    let server = try PostgreSQLServer()
    guard let disk = try await SmallDisk(12, for: server) else {
      print("NOT RUN: \(Self.self), which mounts a small file system and needs root for that")
      return
    }
    defer { disk.unmount() }
    for size in ["min_wal_size = '2MB'", "max_wal_size = '4MB'"] {
      _ = try server.query("ALTER SYSTEM SET \(size)")
    }
    try server.stop()
    let log = "\(server.folder)/data/pg_wal"
    let moved = try await run(
      "/bin/sh",
      [
        "-c",
        """
        set -e; owner=$(stat -c %u \(server.folder)/data)
        setpriv --reuid "$owner" --regid "$(id -g "$owner")" --clear-groups -- \
          \(try #require(PostgreSQLServer.programs))/pg_resetwal --wal-segsize=1 -D \(server.folder)/data
        cp -a \(log)/. \(disk.path)/space; rm -r \(log); ln -s \(disk.path)/space \(log)
        """,
      ])
    try #require(moved.code == 0, "\(moved.errors)")
    try server.start()
    let hub = try HubDaemons(server)
    let daemon = try await inStep(hub)
    // Another program takes what is left.
    let filler = "\(disk.path)/filler"
    _ = try await run("/bin/dd", ["if=/dev/zero", "of=\(filler)", "bs=64k"])
    // The server cannot make that shorter.
    let rows = (0..<600).map { number in
      let summary = (0..<270).map { _ in UUID().uuidString }.joined()
      return #"{"name":"late\#(number)","summary":"\#(summary)"}"#
    }
    let imported = try await daemon.ctl(
      "import", "-", "--entity", "Package", "--key", "name", input: rows.joined(separator: "\n"))
    #expect(imported.code == 0, "\(imported.errors)")
    #expect(try await daemon.ctl("wait", "--for", "near", "--timeout", "120").code == 0)
    #expect(await eventually { (try? daemon.replica("hub")?.problem) != nil })
    let early = try await daemon.ctl("wait", "--for", "hub", "--timeout", "1")
    #expect(early.code != 0, "what is not at the server is not called so")

    try FileManager.default.removeItem(atPath: filler)
    try server.killAndStart()
    let waited = try await daemon.ctl("wait", "--timeout", "180")
    #expect(waited.code == 0, "\(waited.errors)")
    #expect(
      try hub.sql("SELECT count(*), count(DISTINCT name) FROM @package") == "601|601")
    #expect(await daemon.stop() == 0)
  }
}
