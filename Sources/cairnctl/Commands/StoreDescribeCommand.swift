// cairnctl store describe
import ArgumentParser
import CairnControl

struct StoreDescribeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "describe", abstract: "Show everything about one store.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The store's name.", completion: .stores)
  var name: String

  func run() throws {
    let reply = try shared.connect().call(DescribeStore.self, .init(name: name))
    if shared.json { return try Output.json(reply) }
    let rows = Self.rows(reply)
    let width = (rows.map(\.name.count).max() ?? 0) + 2
    for row in rows {
      let label = row.name + String(repeating: " ", count: width - row.name.count)
      Output.line(label + TerminalText.oneLine(row.value))
    }
  }

  private static func rows(_ reply: DescribeStore.Reply) -> [(name: String, value: String)] {
    let store = reply.store
    var rows = [
      ("name", store.name), ("role", store.role.rawValue), ("type", store.type),
      ("location", store.location), ("state", store.state), ("named by", store.origin.rawValue),
    ]
    if let direction = store.direction { rows.append(("direction", direction.rawValue)) }
    if let identifier = store.identifier { rows.append(("identifier", identifier)) }
    if let file = reply.file {
      let log = file.logBytes > 0 ? ", and \(Readable.bytes(file.logBytes)) of log" : ""
      rows.append(("file", Readable.bytes(file.bytes) + log))
      if let last = file.lastTransaction { rows.append(("history", "up to transaction \(last)")) }
      if let checksum = file.checksum { rows.append(("model", checksum)) }
    }
    if let records = reply.local?.records { rows.append(("records", String(records))) }
    if let replica = reply.replica { rows += self.rows(replica) }
    if let counters = reply.counters { rows += self.rows(counters) }
    if let problem = reply.replica?.problem ?? reply.local?.problem {
      rows.append(("problem", "\(problem.message) (\(problem.code))"))
    }
    for wait in reply.replica?.waits ?? [] {
      rows.append(("waits", wait.reason + (wait.command.map { ": \($0)" } ?? "")))
    }
    return rows
  }

  private static func rows(_ replica: ReplicaStatus) -> [(name: String, value: String)] {
    var rows = [("required", replica.required ? "yes" : "no")]
    if let last = replica.lastPass { rows.append(("last pass", Readable.moment(last))) }
    if let lag = replica.lagTransactions {
      rows.append(("lag", Readable.count(lag, "transaction")))
    }
    if let next = replica.nextAttempt { rows.append(("next try", Readable.moment(next))) }
    return rows
  }

  /// Since the daemon was started.
  private static func rows(_ done: DescribeStore.Counters) -> [(name: String, value: String)] {
    [
      ("passes", "\(done.passes), and \(done.failedPasses) that failed"),
      ("pulled", "\(Readable.count(done.recordsPulled, "record")), \(done.linksPulled) members"),
      ("pushed", "\(Readable.count(done.recordsPushed, "record")), \(done.linksPushed) members"),
      ("conflicts", String(done.conflicts)), ("quarantined", String(done.quarantined)),
      ("replans", String(done.replans)),
    ]
  }
}
