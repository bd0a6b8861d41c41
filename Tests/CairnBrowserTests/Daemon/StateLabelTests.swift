// What the pages claim of a link.
import CairnControl
import Foundation
import Testing

@testable import CairnBrowser

@Suite struct StateLabelTests {
  private func replica(
    _ state: ReplicaStatus.State = .inSync, lag: Int? = 0, problem: StatusProblem? = nil,
    waits: [StatusWait] = []
  ) -> ReplicaStatus {
    ReplicaStatus(
      name: "nas", type: "sqlite", location: "/nas.sqlite", direction: .both, state: state,
      lagTransactions: lag, problem: problem, waits: waits)
  }

  private func words(
    _ replica: ReplicaStatus, local: StoreStatus.State? = .open, isCurrent: Bool = true
  ) -> String { StateLabel(replica, local: local, isCurrent: isCurrent).words }

  @Test func inSyncIsSaidOfALinkThatNothingSpeaksAgainst() {
    #expect(words(replica()) == "in sync")
    #expect(words(replica(lag: nil)) == "in sync")
  }

  @Test func inSyncIsNotSaidWhereAnythingSpeaksAgainstIt() {
    #expect(words(replica(), isCurrent: false) == "unknown")
    #expect(words(replica(problem: .init(code: "disk-full", message: "no room"))) == "failing")
    for local in [StoreStatus.State.opening, .migrating, .failing, .unavailable, nil] {
      #expect(words(replica(), local: local).hasPrefix("unknown"), "\(local as Any)")
    }
    #expect(words(replica(lag: 3)) == "behind")
    #expect(words(replica(waits: [.init(kind: .leftOut, reason: "")])) == "in sync one way")
    for kind in StatusWait.Kind.allCases where kind != .leftOut {
      #expect(words(replica(waits: [.init(kind: kind, reason: "")])) == "behind", "\(kind)")
    }
    for state in ReplicaStatus.State.allCases where state != .inSync {
      #expect(words(replica(state)) == state.words)
    }
  }

  @Test func openIsNotSaidOfALocalStoreThatFailed() {
    func words(
      _ state: StoreStatus.State, problem: StatusProblem? = nil, isCurrent: Bool = true
    ) -> String {
      StateLabel(
        StoreStatus(name: "local", type: "sqlite", location: "", state: state, problem: problem),
        isCurrent: isCurrent
      ).words
    }
    #expect(words(.open) == "open")
    #expect(words(.open, isCurrent: false) == "unknown")
    #expect(words(.open, problem: .init(code: "store-damaged", message: "")) == "failing")
    for state in StoreStatus.State.allCases where state != .open {
      #expect(words(state) == state.rawValue)
    }
  }

  @Test func aRowClaimsNothingOfADaemonThatIsSilent() {
    var reading = DaemonReading()
    let link = replica(waits: [.init(kind: .held, count: 2, reason: "")])
    let status = DaemonStatus(
      version: "1", pid: 1, startedAt: .now, state: .serving,
      local: StoreStatus(name: "local", type: "sqlite", location: "", state: .open),
      replicas: [link])
    reading.answer = (status, Date())
    let row = LinkRow(link, of: reading, suffix: "")
    #expect(row.held == "2" && row.lag == "0" && row.differs == "none known")
    reading.silence = .init(since: Date(), reason: DaemonUnanswered(ControlClientError.timedOut))
    let silent = LinkRow(link, of: reading, suffix: "")
    #expect(
      [silent.standing.words, silent.held, silent.lag, silent.differs, silent.noTrouble]
        == Array(repeating: "unknown", count: 5))
  }

  @Test func aSentenceIsCutIntoWordsAndCommands() {
    #expect(
      Phrase("`df -h` shows it; then: `ls`").parts == [
        .init(words: "df -h", isCommand: true), .init(words: " shows it; then: ", isCommand: false),
        .init(words: "ls", isCommand: true),
      ])
    #expect(Phrase("a lone ` stays").parts == [.init(words: "a lone ` stays", isCommand: false)])
    #expect(Phrase("").parts.isEmpty)
    #expect(["no", "yes."].map(Phrase.sentence) == ["no.", "yes."])
  }
}
