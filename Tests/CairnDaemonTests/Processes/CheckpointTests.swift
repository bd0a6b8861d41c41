// Write-ahead logs moved by hand, with the real daemon.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct CheckpointTests {
  private func size(_ path: String) -> Int {
    ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
  }

  @Test func theLogIsEmptyAfterwardsAndNothingIsLost() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("near", folder.file("near.sqlite"))]))
    try await daemon.start()
    for index in 0..<5 { try await daemon.ctl("insert", "Section", "name=s\(index)") }
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    for (name, path) in [(nil, daemon.localPath), ("near", folder.file("near.sqlite"))] {
      #expect(size(path + "-wal") > 0)
      let reply = try await offPool {
        try daemon.client().call(CheckpointStore.self, .init(name: name))
      }
      #expect(reply.before.bytes > 0 && reply.after == .init(frames: 0, bytes: 0))
      #expect(reply.readers.isEmpty)
    }
    #expect(try await daemon.values("Section", "name").count == 5)
    let unknown = try await daemon.ctl("checkpoint", "naer")
    #expect(unknown.code == 1 && unknown.errors.contains("did you mean \"near\""))
    #expect(await daemon.stop() == 0)
  }

  /// Without it another program takes the log's index for left over, and empties it under the daemon.
  @Test func theDaemonKeepsItsLockOfTheLogsIndex() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    try await daemon.ctl("insert", "Section", "name=s")
    #expect(try await daemon.holdsIndex(of: daemon.localPath), "before")
    #expect(try await daemon.ctl("checkpoint").code == 0)
    #expect(try await daemon.holdsIndex(of: daemon.localPath), "afterwards")
    #expect(await daemon.stop() == 0)
  }

  @Test func theIndexIsFoundAmongTheMapsOfTheProcess() {
    let maps = """
      7f0a1000-7f0a9000 rw-s 00008000 fe:01 131  /var/lib/cairn/local.sqlite-shm
      7f0b1000-7f0b9000 rw-s 00000000 fe:01 131  /var/lib/cairn/local.sqlite-shm
      7f0c1000-7f0c9000 rw-s 00000000 fe:01 132  /x/var/lib/cairn/local.sqlite-shm
      7f0d1000-7f0d9000 rw-p 00000000 00:00 0
      """
    let found = WriteAheadLog.address(of: "/var/lib/cairn/local.sqlite-shm", inMaps: maps)
    #expect(found == 0x7f0b_1000)
    #expect(WriteAheadLog.address(of: "/var/lib/other.sqlite-shm", inMaps: maps) == nil)
  }

  @Test func aReaderThatKeepsTheLogIsNamed() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    try await daemon.ctl("insert", "Section", "name=old")
    let queue = try DatabaseQueue(patient: daemon.localPath)
    // A transaction that is open while more is written.
    try await queue.writeWithoutTransaction { database in
      try database.execute(sql: "BEGIN")
      _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM ZSECTION")
    }
    for index in 0..<5 { try await daemon.ctl("insert", "Section", "name=s\(index)") }
    let blocked = try await daemon.ctl("checkpoint", "--json")
    #expect(blocked.code == 75, "\(blocked.errors)")
    let value = try JSONParser.parse(Array(blocked.output.utf8.dropLast()))
    let reply = try JSONValueDecoder.decode(CheckpointStore.Reply.self, from: value)
    #expect(reply.after.bytes > 0 && reply.after.frames > 0)
    #expect(reply.readers.map(\.process).contains(Int(ProcessInfo.processInfo.processIdentifier)))
    try await queue.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    try queue.close()
    #expect(try await daemon.ctl("checkpoint").code == 0)
    #expect(await daemon.stop() == 0)
  }
}
