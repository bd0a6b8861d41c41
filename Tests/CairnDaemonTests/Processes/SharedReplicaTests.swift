// Two real daemons that share one replica file, killed at random while both import.
import CairnControl
import Foundation
import TestSupport
import Testing

@Suite struct SharedReplicaTests {
  @Test(.timeLimit(.minutes(10)))
  func killedAtRandomWhileBothImportTheyEndEqualAndNothingAnsweredIsLost() async throws {
    let folder = try TemporaryFolder()
    let daemons = try ["a", "b"].map { name in
      try Daemon(
        in: folder,
        Daemon.Setup(
          name: name, replicas: [("hub", folder.file("hub.sqlite"))],
          extra: "sync: {maxRetryDelay: 1s, pollInterval: 1s}"))
    }
    for daemon in daemons { try await daemon.start() }
    try await SharedImport(daemons).run()
  }

  @Test func daemonsOfOneMachineHaveNamesOfTheirOwnInWhatTheyShare() async throws {
    let folder = try TemporaryFolder()
    let daemons = try ["a", "b"].map { name in
      try Daemon(
        in: folder, Daemon.Setup(name: name, replicas: [("hub", folder.file("hub.sqlite"))]))
    }
    for daemon in daemons {
      try await daemon.start()
      #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    }
    let reply = try await daemons[0].answer(
      PurgeHistory.Reply.self, to: "purge", ["hub", "--dry-run"])
    let names = reply.stores.flatMap(\.readers).map(\.name)
    for daemon in daemons {
      #expect(names.count { $0.hasSuffix(":" + daemon.localPath) } == 1, "\(names)")
    }
    for daemon in daemons { #expect(await daemon.stop() == 0) }
  }
}
