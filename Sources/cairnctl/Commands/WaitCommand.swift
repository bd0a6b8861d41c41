// cairnctl wait
import ArgumentParser
import CairnControl

struct WaitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Return when everything committed before now has arrived.",
    discussion: """
      --timeout says how long (60 seconds when left out); then the exit code is 75. It is 1 when waiting \
      longer does not help: records wait for a person, or stay where they are because a link goes in one \
      direction only.
      """)

  @OptionGroup var shared: SharedOptions

  @Option(
    name: .customLong("for"), help: ArgumentHelp("One replica, or all.", valueName: "name"),
    completion: .replicasOrAll)
  var replica = "all"

  func run() throws {
    let patience = shared.timeout ?? 60
    let reply = try shared.connect().call(
      WaitForSync.self,
      WaitForSync.Parameters(name: replica == "all" ? nil : replica, timeout: patience),
      timeout: .seconds(patience + 30))
    if shared.json { return try Output.json(reply) }
    Output.line(
      reply.reached.isEmpty
        ? "no replica to wait for" : "in step: \(reply.reached.joined(separator: ", "))")
  }
}
