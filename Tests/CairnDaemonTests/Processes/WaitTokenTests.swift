// Waiting for what a token stands for, with the real daemon.
import CairnControl
import CairnRecords
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct WaitTokenTests {
  private func daemon(_ folder: TemporaryFolder) async throws -> Daemon {
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("near", folder.file("near.sqlite"))]))
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    return daemon
  }

  private func save(_ name: String, by daemon: Daemon) async throws -> String {
    let result = try await daemon.ctl("insert", "Section", "name=\(name)", "--json")
    let reply = try JSONDecoder().decode(SaveRecords.Reply.self, from: Data(result.output.utf8))
    return try #require(reply.token)
  }

  @Test func whatWasSavedIsInTheReplicaOnceItsTokenIsWaitedFor() async throws {
    let folder = try TemporaryFolder()
    let daemon = try await daemon(folder)
    let token = try await save("a", by: daemon)
    let waited = try await daemon.ctl("wait", "--after", token, "--for", "near")
    #expect(waited.code == 0 && waited.output == "in step: near\n", "\(waited)")
    #expect(try await daemon.values("Section", "name", store: "near") == ["a"])
    #expect(try await daemon.ctl("pause", "near").code == 0)
    let later = try await save("b", by: daemon)
    #expect(later != token)
    #expect(try await daemon.ctl("wait", "--after", later).code == 1, "near is paused")
    #expect(await daemon.stop() == 0)
  }

  @Test func theTokenOfAReplicaIsWaitedForInTheLocalStore() async throws {
    let folder = try TemporaryFolder()
    let daemon = try await daemon(folder)
    let path = folder.file("near.sqlite")
    let token = try {
      let near = try ApplicationStore(model: daemon.setup.model, path: path)
      try near.insert("Section", ["name": "from near"])
      return try #require(try near.store.historyToken())
    }()
    #expect(try await daemon.ctl("wait", "--after", token).code == 0)
    #expect(try await daemon.values("Section", "name") == ["from near"])
    #expect(await daemon.stop() == 0)
  }

  @Test func aTokenThatNoStoreHasComeToIsRefused() async throws {
    let folder = try TemporaryFolder()
    let daemon = try await daemon(folder)
    let token = try await save("a", by: daemon)
    let store = try #require(token.split(separator: ":").first)
    for (bad, words) in [
      ("nonsense", "token"), ("\(store):-1", "token"), ("\(store):1:2", "token"),
      ("\(UUID()):1", "no store that is open here"), ("\(store):999", "went back in time"),
    ] {
      let refused = try await daemon.ctl("wait", "--after", bad)
      #expect(refused.code == 1 && refused.errors.contains(words), "\(bad): \(refused.errors)")
    }
    #expect(await daemon.stop() == 0)
  }
}
