// cairnctl approve
import ArgumentParser
import CairnControl

struct ApproveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Let a replica's link go on that would delete more than is configured.",
    discussion: "`cairnctl status` shows which links wait, and what would be deleted where.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The replica's name.", completion: .replicas)
  var name: String

  @Flag(name: .long, help: "Keep it stopped instead; it can be approved later.")
  var reject = false

  func run() throws {
    let reply = try shared.connect().call(
      ApproveDeletions.self, .init(name: name, reject: reject ? true : nil))
    if shared.json { return try Output.json(reply) }
    let parts = reply.deletions.map { "\($0.deleted) of \($0.total) \($0.entity)" }
    let what = "\(parts.joined(separator: ", ")) in \(reply.store)"
    let text =
      reject
      ? "\(name) stays stopped; it would delete \(what)"
      : "\(name) goes on and deletes \(what)"
    TerminalText.wrapped(text).forEach(Output.line)
  }
}
