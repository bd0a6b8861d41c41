// A planned shutdown, with the real daemon.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct DrainTests {
  @Test func whatIsCommittedIsBroughtAndNothingMoreIsAccepted() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(replicas: [
        ("near", folder.file("near.sqlite")), ("far", folder.file("far.sqlite")),
      ]))
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("pause", "far").code == 0)
    for index in 0..<20 { try await daemon.ctl("insert", "Section", "name=s\(index)") }
    let drained = try await daemon.ctl("drain", "--timeout", "60")
    #expect(drained.code == 75, "far lacks what was written: \(drained.errors)")
    #expect(drained.output.contains("near has all of it"), "\(drained.output)")
    #expect(drained.output.contains("far lacks"), "\(drained.output)")
    do {
      let near = try ApplicationStore(
        model: daemon.setup.model, path: folder.file("near.sqlite"), isReadOnly: true)
      #expect(try near.values("Section", "name").count == 20)
    }
    for arguments in [["insert", "Section", "name=x"], ["fetch", "Section"], ["sync"]] {
      let refused = try await daemon.ctl(arguments)
      #expect(refused.code == 1 && refused.errors.contains("drained"), "\(refused.errors)")
    }
    #expect(try daemon.status().state == .draining)
    #expect(try await daemon.ctl("status").code == 0)
    #expect(try await daemon.ctl("drain").output == drained.output, "again, it says the same")
    // The stores are closed: their logs are gone.
    #expect(!FileManager.default.fileExists(atPath: daemon.localPath + "-wal"))
    let reload = try await daemon.ctl("reload")
    #expect(reload.code == 1, "\(reload.output)")
    #expect(await daemon.stop() == 0)
    try await daemon.start()
    #expect(try await daemon.ctl("resume", "far").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Section", "name", store: "far").count == 20)
    let whole = try await daemon.ctl("drain", "--json")
    #expect(whole.code == 0 && !whole.output.contains("reason"), "\(whole.output)")
    #expect(await daemon.stop() == 0)
  }

  @Test func aDaemonWithoutAStoreIsDrainedAtOnce() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try Data("rubbish".utf8).write(to: URL(fileURLWithPath: daemon.localPath))
    try await daemon.start()
    #expect(try daemon.status().state == .degraded)
    let drained = try await daemon.ctl("drain")
    #expect(drained.code == 0 && drained.output.contains("was not open"), "\(drained.errors)")
    #expect(await daemon.stop() == 0)
  }
}
