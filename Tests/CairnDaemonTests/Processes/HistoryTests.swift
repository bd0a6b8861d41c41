// The history of stores as callers read it, with the real daemon.
import CairnControl
import CairnSync
import CairnTesting
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@Suite struct HistoryTests {
  private func daemon() async throws -> Daemon {
    try await .started(
      withEntities: """
        <entity name="Item" representedClassName="Item" syncable="YES">
          <attribute name="name" optional="YES" attributeType="String"/>
          <attribute name="size" optional="YES" attributeType="Integer 64" \
        usesScalarValueType="NO"/>
        </entity>
        <entity name="Shelf" representedClassName="Shelf" syncable="YES">
          <attribute name="name" optional="YES" attributeType="String"/>
        </entity>
        """)
  }

  /// Reads until the stream ends.
  private func history(
    _ daemon: Daemon, _ parameters: GetHistory.Parameters = .init()
  ) async throws -> (transactions: [GetHistory.Transaction], token: String) {
    try await offPool {
      var found: [GetHistory.Transaction] = []
      var token = ""
      try daemon.client().stream(GetHistory.self, parameters) { reply in
        found += reply.transactions
        token = reply.token
      }
      return (found, token)
    }
  }

  private func insert(_ daemon: Daemon, _ entity: String, _ name: String) async throws -> String {
    try await offPool {
      try daemon.client().call(
        SaveRecords.self,
        .init(inserts: [.init(entity: entity, values: ["name": .string(name)])], author: name)
      ).inserted[0]
    }
  }

  /// Another program may have written anything there.
  @Test(arguments: [1e300, -1e300, 9e18])
  func aTransactionOfAnyDateIsShown(_ seconds: Double) async throws {
    let daemon = try await daemon()
    _ = try await insert(daemon, "Item", "nut")
    let queue = try DatabaseQueue(patient: daemon.localPath)
    try await queue.write {
      try $0.execute(sql: "UPDATE ATRANSACTION SET ZTIMESTAMP = ?", arguments: [seconds])
    }
    try queue.close()
    let shown = try await daemon.ctl("history")
    #expect(shown.code == 0 && shown.output.contains("transaction 1"), "\(shown)")
    #expect(await daemon.stop() == 0)
  }

  /// The newest are looked for backwards from the counter, which another program may have set.
  @Test func theNewestAreFoundFarBelowTheCounter() async throws {
    let daemon = try await daemon()
    for name in ["nut", "bolt"] { _ = try await insert(daemon, "Item", name) }
    let queue = try DatabaseQueue(patient: daemon.localPath)
    try await queue.write {
      try $0.execute(
        sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1152921504606846976 WHERE Z_NAME = 'TRANSACTION'")
    }
    try queue.close()
    let found = try await history(daemon).transactions
    #expect(found.map(\.author) == ["nut", "bolt"])
    #expect(await daemon.stop() == 0)
  }

  /// An export has a connection of its own, which finds what the open store has not read again.
  @Test func anExportOfAStoreWhoseMetadataAreDamagedSaysWhy() async throws {
    let daemon = try await daemon()
    let queue = try DatabaseQueue(patient: daemon.localPath)
    try await queue.write { try $0.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = 1.5") }
    try queue.close()
    let exported = try await daemon.ctl("export")
    #expect(exported.code == 1 && !exported.errors.contains("did not expect"), "\(exported)")
    #expect(await daemon.stop() == 0)
  }

  @Test func eachTransactionSaysWhatWhenAndWho() async throws {
    let daemon = try await daemon()
    let nut = try await insert(daemon, "Item", "nut")
    let shelf = try await insert(daemon, "Shelf", "top")
    try await daemon.ctl("update", "Item", nut, "name=bolt", "size=3")
    try await daemon.ctl("delete", "Shelf", shelf)
    let found = try await history(daemon).transactions
    #expect(found.map(\.number) == [1, 2, 3, 4])
    #expect(found.map(\.author) == ["nut", "top", "cairnctl", "cairnctl"])
    #expect(found.map(\.changes.first?.kind) == [.inserted, .inserted, .updated, .deleted])
    #expect(found[0].changes == [.init(kind: .inserted, entity: "Item", id: nut)])
    #expect(found[2].changes.first?.properties == ["name", "size"])
    #expect(found[2].changes.first?.id == nut)
    #expect(found[3].changes.first?.entity == "Shelf")
    #expect(found == found.sorted { $0.date < $1.date })

    let items = try await history(daemon, .init(entity: "Item", limit: 1)).transactions
    #expect(items.map(\.number) == [3], "the newest that is wanted")
    let top = try await history(daemon, .init(author: "top")).transactions
    #expect(top.map(\.number) == [2])
    let first = try await history(daemon, .init(since: found[0].date, limit: 1)).transactions
    #expect(first.map(\.number) == [2], "the first behind a time")
    #expect(try await history(daemon, .init(limit: 0)).transactions.isEmpty)
    // Sync wrote the same to the replica, under its own name.
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let near = try await history(daemon, .init(name: "near", entity: "Item")).transactions
    #expect(near.flatMap(\.changes).contains { $0.id == nut })
    #expect(await daemon.stop() == 0)
  }

  @Test func aTokenGoesOnWhereTheReaderWas() async throws {
    let daemon = try await daemon()
    for name in ["a", "b", "c"] { _ = try await insert(daemon, "Item", name) }
    let first = try await history(daemon, .init(limit: 0)).token
    for name in ["d", "e"] { _ = try await insert(daemon, "Shelf", name) }
    let rest = try await history(daemon, .init(after: first))
    #expect(rest.transactions.map(\.author) == ["d", "e"])
    // Over what is not wanted, too.
    let none = try await history(daemon, .init(after: first, entity: "Item"))
    #expect(none.transactions.isEmpty && none.token == rest.token)
    for transaction in rest.transactions {
      let later = try await history(daemon, .init(after: transaction.token)).transactions
      #expect(later.allSatisfy { $0.number > transaction.number })
    }
    let half = try await history(daemon, .init(after: first, limit: 1))
    #expect(half.token == half.transactions.last?.token)
    #expect(try await history(daemon, .init(after: half.token)).transactions.map(\.author) == ["e"])
    #expect(await daemon.stop() == 0)
  }

  @Test func aLargeTransactionComesInParts() async throws {
    let daemon = try await daemon()
    let count = 1203
    _ = try await offPool {
      try daemon.client().call(
        SaveRecords.self,
        .init(
          inserts: (0..<count).map { .init(entity: "Item", values: ["name": .string("\($0)")]) }))
    }
    let parts = try await history(daemon)
    #expect(parts.transactions.map(\.continues) == [true, true, false])
    #expect(parts.transactions.map(\.number) == [1, 1, 1])
    #expect(Set(parts.transactions.flatMap(\.changes).map(\.id)).count == count)
    // A reader that was cut short begins it again.
    let again = try await history(daemon, .init(after: parts.transactions[0].token))
    #expect(again.transactions.flatMap(\.changes).count == count)
    let shown = try await daemon.ctl("history")
    #expect(shown.output.contains("... and 1183 changes more; --json shows all"))
    #expect(await daemon.stop() == 0)
  }

  /// What a stream has brought.
  private final class Received: Sendable {
    let authors = Mutex<[String?]>([])
    let answers = Mutex(0)
    let error = Mutex<(any Error)?>(nil)

    func read(_ parameters: GetHistory.Parameters, from daemon: Daemon) {
      Task {
        do {
          try await offPool {
            try daemon.client().stream(GetHistory.self, parameters) { reply in
              self.authors.withLock { $0 += reply.transactions.map(\.author) }
              self.answers.withLock { $0 += 1 }
            }
          }
        } catch {
          self.error.withLock { $0 = error }
        }
      }
    }
  }

  /// The daemon tells a reader of each commit, its own and another program's, without being asked again.
  @Test func followingShowsEachCommitAndEndsWithTheDaemon() async throws {
    let daemon = try await daemon()
    _ = try await insert(daemon, "Item", "before")
    let received = Received()
    received.read(.init(limit: 0, follow: true), from: daemon)
    #expect(await eventually { received.answers.withLock { $0 } == 1 }, "it says that it follows")
    _ = try await insert(daemon, "Item", "one")
    #expect(await eventually { received.authors.withLock { $0 } == ["one"] })
    do {
      let application = try ApplicationStore(model: daemon.setup.model, path: daemon.localPath)
      try application.insert("Item", ["name": "two"])
    }
    #expect(await eventually { received.authors.withLock { $0 } == ["one", "application"] })
    // A reader that goes away ends nothing for others.
    let other = try daemon.client()
    try other.send(GetHistory.self, .init(follow: true))
    other.close()
    _ = try await insert(daemon, "Item", "three")
    #expect(
      await eventually { received.authors.withLock { $0 } == ["one", "application", "three"] })
    #expect(await daemon.stop() == 0)
    #expect(await eventually { received.error.withLock { $0 != nil } }, "it is no end like another")
    #expect(!daemon.logText.contains("event=callFailed"))
  }

  @Test func aFollowerGoesOnAfterARestartWithWhatWasCommittedMeanwhile() async throws {
    let daemon = try await daemon()
    let session = try TerminalSession(
      ["history", "--follow", "--json"], columns: 100, socket: daemon.socket)
    @Sendable func isShown(_ author: String) -> Bool {
      session.text.contains("\"author\":\"\(author)\"")
    }
    _ = try await insert(daemon, "Item", "one")
    #expect(await eventually { isShown("one") }, "\(session.text)")
    #expect(await daemon.stop() == 0)
    #expect(await eventually { session.text.contains("note: ") }, "\(session.text)")
    do {
      let application = try ApplicationStore(model: daemon.setup.model, path: daemon.localPath)
      try application.insert("Item", ["name": "two"])
    }
    try await daemon.start()
    _ = try await insert(daemon, "Item", "three")
    #expect(await eventually { isShown("three") }, "\(session.text)")
    let shown = session.text.matches(of: /"author":"(one|application|three)"/).map(\.output.1)
    #expect(shown == ["one", "application", "three"])
    try session.press("\u{3}")
    #expect(try await session.end() != 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func aTokenWithoutHistoryBehindItIsRefusedWithTheWayOn() async throws {
    let daemon = try await daemon()
    for name in ["a", "b", "c"] { _ = try await insert(daemon, "Item", name) }
    let token = try await history(daemon, .init(limit: 0)).token
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let near = try await history(daemon, .init(name: "near", limit: 0)).token
    let identifier = String(token.prefix { $0 != ":" })
    let cases: [(arguments: [String], words: [String])] = [
      (["--since", near], ["it is of \"near\"", "history --since \(identifier):0"]),
      (
        ["--store", "near", "--since", token],
        ["it is of \"local\"", "history --store near --since"]
      ),
      (["--since", "\(UUID()):1"], ["another store"]),
      (["--since", "\(identifier):99"], ["has come to transaction 3 only"]),
      (["--store", "naer"], ["did you mean \"near\""]),
      (["--entity", "Itme"], ["did you mean \"Item\""]),
    ]
    for (arguments, words) in cases {
      let outcome = try await daemon.ctl(["history"] + arguments)
      #expect(
        outcome.code == 1 && words.allSatisfy { outcome.errors.contains($0) },
        "\(arguments): \(outcome.errors)")
    }
    for parameters in [
      GetHistory.Parameters(after: "x"), .init(after: token, since: .now), .init(limit: -1),
      .init(after: token, limit: 1, follow: true),
    ] {
      await #expect(throws: ControlError.self) { try await history(daemon, parameters) }
    }
    #expect(try await daemon.ctl("history", "--since", "yesterday").code == 64)

    // What was purged is not passed over in silence.
    try await offPool {
      let application = try ApplicationStore(model: daemon.setup.model, path: daemon.localPath)
      try application.purgeHistory(before: 3)
    }
    let purged = try await daemon.ctl("history", "--since", "\(identifier):1")
    #expect(purged.code == 1 && purged.errors.contains("purged"), "\(purged.errors)")
    #expect(purged.errors.contains("cairnctl history --since \(identifier):2"))
    let kept = try await daemon.ctl("history", "--since", "\(identifier):2")
    #expect(kept.code == 0 && kept.output.contains("transaction 3"))
    let old = try await daemon.ctl("history", "--since", "30d")
    #expect(old.code == 0 && old.errors.contains("has been purged"), "\(old.errors)")
    #expect(try await daemon.ctl("history").output.contains("transaction 3"))
    #expect(await daemon.stop() == 0)
  }

  @Test func aFileShowsItsHistoryWithoutADaemon() async throws {
    let daemon = try await daemon()
    _ = try await insert(daemon, "Item", "nut")
    #expect(await daemon.stop() == 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: daemon.localPath))
    let shown = try await daemon.ctl("history", "--file", daemon.localPath)
    #expect(shown.code == 0 && shown.output.contains("inserted Item x-coredata://"))
    #expect(shown.output.contains("next: cairnctl history --file \(daemon.localPath) --since"))
    let expired = try await daemon.ctl(
      "history", "--file", daemon.localPath, "--since", "\(UUID()):1")
    #expect(expired.code == 1 && expired.errors.contains("history --file \(daemon.localPath)"))
    #expect(try await daemon.ctl("history", "--file", daemon.localPath, "--follow").code == 64)
    #expect(try Data(contentsOf: URL(fileURLWithPath: daemon.localPath)) == before)
  }

  /// Who reads the history knows by them what sync itself has written.
  @Test(arguments: SyncConfiguration.ownAuthors.sorted())
  func noProgramSavesUnderAnAuthorNameOfSync(_ author: String) async throws {
    let daemon = try await daemon()
    let imported = try await daemon.ctl(
      "import", "-", "--entity", "Item", "--author", author, input: "{\"name\":\"nut\"}\n")
    #expect(imported.code == 1 && imported.errors.contains("author"), "\(imported.errors)")
    let saved = await #expect(throws: ControlError.self) {
      try await offPool {
        _ = try daemon.client().call(
          SaveRecords.self,
          .init(inserts: [.init(entity: "Item", values: ["name": .string("nut")])], author: author))
      }
    }
    #expect(
      saved
        == .notPossible(
          code: "author-reserved",
          reason: "the author \"\(author)\" is sync's own, and reserved; choose another name"))
    #expect(try await history(daemon).transactions.isEmpty)
    #expect(await daemon.stop() == 0)
  }
}
