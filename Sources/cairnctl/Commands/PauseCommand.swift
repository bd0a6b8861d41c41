// cairnctl pause
import ArgumentParser
import CairnControl

struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Let links rest; remembered across restarts.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One replica; all of them when left out.", completion: .replicas)
  var name: String?

  func run() throws {
    let reply = try shared.connect().call(PauseSync.self, PauseSync.Parameters(name: name))
    if shared.json { return try Output.json(reply) }
    let names = reply.paused.joined(separator: ", ")
    Output.line(reply.paused.isEmpty ? "no replica paused" : "paused \(names)")
  }
}
