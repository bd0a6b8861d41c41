// cairnctl drain
import ArgumentParser
import CairnControl

struct DrainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain", abstract: "Finish what is under way before a planned shutdown.",
    discussion: """
      The daemon takes no more calls that need its stores, brings what is committed to the replicas \
      within --timeout (30 seconds), closes the stores and says what could not be brought: that follows \
      after the next start. A replica that cannot be reached is tried once more at once, and not waited \
      for when its next attempt would come too late. Programs may go on writing to the local store. Exit \
      code 75: a replica lacks something. The way back is systemctl restart cairnd.
      """)

  @OptionGroup var shared: SharedOptions

  func run() throws {
    let client = try shared.connect(for: "bringing what is committed to the replicas")
    // The stores are closed after the passes.
    client.timeout = .seconds((shared.timeout ?? 30) + 30)
    let reply = try client.call(DrainDaemon.self, .init(timeout: shared.timeout))
    if shared.json { try Output.json(reply) } else { lines(reply).forEach(Output.line) }
    if reply.replicas.contains(where: { $0.reason != nil }) { throw ExitCode(75) }
  }

  private func lines(_ reply: DrainDaemon.Reply) -> [String] {
    var lines = [
      "drained"
        + (reply.lastTransaction.map { "; the local store is at transaction \($0)" }
          ?? "; the local store was not open")
    ]
    for replica in reply.replicas {
      lines += TerminalText.wrapped("\(replica.name) \(standing(of: replica))", indent: "  ")
    }
    lines.append("`systemctl stop cairnd` ends it now; `systemctl restart cairnd` goes on")
    return lines
  }

  private func standing(of replica: DrainDaemon.Replica) -> String {
    guard let reason = replica.reason else {
      return replica.leftOut.map { "has all that it gets: \($0)" } ?? "has all of it"
    }
    guard let behind = replica.behind else { return "was not asked what it lacks: \(reason)" }
    if behind == 0 { return "has all that is known here, but is not in step: \(reason)" }
    // Transactions may hold nothing that it gets.
    let most = replica.leftOut == nil ? "" : "at most "
    return "lacks \(most)\(Readable.count(behind, "transaction")): \(reason)"
  }
}
