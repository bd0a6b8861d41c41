// A value of the local store that a disk has changed, and what a repair makes of it.
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct DamagedValueTests {
  /// A daemon whose local store has another value than was saved; its replica has it as it was.
  private func daemon() async throws -> Daemon {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("near", folder.file("near.sqlite"))]))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Section", "name=as-it-was").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(await daemon.stop() == 0)
    let url = URL(fileURLWithPath: daemon.localPath)
    var bytes = try Data(contentsOf: url)
    var count = 0
    while let range = bytes.range(of: Data("as-it-was".utf8)) {
      bytes.replaceSubrange(range, with: Data("as-it-is-".utf8))
      count += 1
    }
    #expect(count > 0)
    try bytes.write(to: url)
    try await daemon.start()
    return daemon
  }

  private func values(_ daemon: Daemon) async throws -> [[String]] {
    var found: [[String]] = []
    for store in ["local", "near"] {
      found.append(try await daemon.values("Section", "name", store: store))
    }
    return found
  }

  @Test func aRepairTakesTheValueThatIsStoredAsItWasSaved() async throws {
    let daemon = try await daemon()
    let repaired = try await daemon.ctl("repair")
    #expect(repaired.code == 0, "\(repaired.output)\(repaired.errors)")
    #expect(try await values(daemon) == [["as-it-was"], ["as-it-was"]])
    #expect(try await daemon.ctl("conflicts").output.contains("as-it-is-"))
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func whoPrefersTheOtherFindsWhatItReplacedInTheJournal() async throws {
    let daemon = try await daemon()
    _ = try await daemon.ctl("repair", "--prefer", "local")
    #expect(try await values(daemon) == [["as-it-is-"], ["as-it-is-"]])
    #expect(try await daemon.ctl("conflicts").output.contains("as-it-was"))
    let verified = try await daemon.ctl("verify", "local")
    #expect(verified.code == 0, "it counts as saved now: \(verified.output)")
    #expect(try daemon.status().state == .serving)
    #expect(await daemon.stop() == 0)
  }
}
