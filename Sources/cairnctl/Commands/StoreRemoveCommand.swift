// cairnctl store remove
import ArgumentParser
import CairnControl

struct StoreRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "End the link to a replica; its file stays.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The replica's name.", completion: .replicas)
  var name: String

  func run() throws {
    let reply = try shared.connect().call(RemoveStore.self, RemoveStore.Parameters(name: name))
    if shared.json { return try Output.json(reply) }
    Output.line("removed \(name)")
  }
}
