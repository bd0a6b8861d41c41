// Two daemons, one local store.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct OwnershipTests {
  @Test func theSecondDaemonIsToldWhoHasTheStoreAndEndsWith69() async throws {
    let folder = try TemporaryFolder()
    let first = try Daemon(in: folder)
    try await first.start()
    // The same file by another name, and another configuration and socket.
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("other.sqlite"), withDestinationPath: first.localPath)
    let second = try Daemon(in: folder, Daemon.Setup(name: "other"))
    let program = try #require(Project.program("cairnd"), "build the products first")
    let outcome = try await run(program, ["--config", second.configPath])
    #expect(outcome.code == 69)
    #expect(outcome.errors.contains("another cairnd serves \(second.localPath)"), "\(outcome)")
    #expect(outcome.errors.contains("process \(first.pid)"), "\(outcome.errors)")
    #expect(try first.status().state == .serving, "the first is not disturbed")
    #expect(!FileManager.default.fileExists(atPath: second.socket))
    // A daemon loses it when it ends, however that happens.
    first.kill()
    try await second.start()
    #expect(try second.status().state == .serving)
    #expect(await second.stop() == 0)
  }

  /// What ends is started again for ever: a daemon of systemd waits instead.
  @Test func underAServiceManagerTheSecondWaitsAndTakesOver() async throws {
    let folder = try TemporaryFolder()
    let first = try Daemon(in: folder)
    try await first.start()
    #expect(try await first.ctl("insert", "Package", "name=one").code == 0)
    let second = try Daemon(
      in: folder,
      Daemon.Setup(
        name: "other", environment: ["NOTIFY_SOCKET": folder.file("nobody")],
        local: first.localPath))
    try await second.start()
    let status = try second.status()
    #expect(status.state == .degraded)
    #expect(status.problems.map(\.code) == ["store-taken"])
    #expect(status.problems[0].message.contains("process \(first.pid)"), "\(status.problems)")
    let refused = try await second.ctl("insert", "Package", "name=two")
    #expect(refused.code == 1 && refused.errors.contains("process \(first.pid)"), "\(refused)")
    let shown = try await second.ctl("status")
    #expect(shown.output.contains("takes the store over"), "\(shown.output)")
    #expect(try first.status().state == .serving, "the first is not disturbed")
    // However long it waits, it has said so once.
    let entries = { second.logText.components(separatedBy: "event=degraded").count - 1 }
    #expect(entries() == 1)
    first.kill()
    #expect(try await eventually { try second.status().state == .serving })
    #expect(try await second.values("Package", "name") == ["one"])
    #expect(await second.logs("event=recovered"))
    #expect(entries() == 1)
    #expect(await second.stop() == 0)
  }

  @Test func anOwnerIsReadFromWhatItWrote() {
    for owner in [StoreOwner(process: 7, unit: "cairnd@a.service"), .init(process: 8, unit: nil)] {
      #expect(StoreOwner(note: owner.note) == owner)
    }
    for note in ["", "pid=", "pid=-1", "pid=x\nunit=y", "\0\0\0"] {
      #expect(StoreOwner(note: note) == nil)
    }
    #expect(
      StoreOwner(process: 7, unit: "cairnd.service").description == "process 7 (cairnd.service)")
  }

  @Test func theUnitIsFoundInTheControlGroups() {
    func unit(_ text: String) -> String? { StoreOwner.unit(inControlGroups: text) }
    #expect(unit("0::/system.slice/cairnd.service\n") == "cairnd.service")
    #expect(
      unit("0::/system.slice/system-cairnd.slice/cairnd@one.service\n") == "cairnd@one.service")
    #expect(unit("1:name=systemd:/a.service/init.scope\n") == "a.service")
    #expect(unit("0::/user.slice\n") == nil)
  }
}
