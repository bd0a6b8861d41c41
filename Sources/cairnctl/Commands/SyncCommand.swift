// cairnctl sync
import ArgumentParser
import CairnControl

struct SyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Start a sync pass now.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One replica; all of them when left out.", completion: .replicas)
  var name: String?

  @Flag(name: .long, help: "Wait until everything committed before now has arrived.")
  var wait = false

  func run() throws {
    let client = try shared.connect()
    let reply = try client.call(SyncNow.self, SyncNow.Parameters(name: name))
    if wait {
      _ = try WaitCommand.wait(for: name.map { [$0] }, by: client, shared.timeout ?? 60)
    }
    if shared.json { return try Output.json(reply) }
    let names = reply.started.joined(separator: ", ")
    Output.line(
      reply.started.isEmpty ? "no replica to sync" : "\(wait ? "synced" : "started") \(names)")
  }
}
