// cairnctl resume
import ArgumentParser
import CairnControl

struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Let paused links run again.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One replica; all of them when left out.", completion: .replicas)
  var name: String?

  func run() throws {
    let reply = try shared.connect().call(ResumeSync.self, ResumeSync.Parameters(name: name))
    if shared.json { return try Output.json(reply) }
    let names = reply.resumed.joined(separator: ", ")
    Output.line(reply.resumed.isEmpty ? "no replica resumed" : "resumed \(names)")
  }
}
