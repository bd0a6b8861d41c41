// cairnctl reload
import ArgumentParser
import CairnControl

struct ReloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Take the configuration on disk over.",
    discussion: """
      Replicas, sync, roles and the log level change while the daemon runs. All changes are taken over \
      or none: where one of them needs a restart, or the configuration is not valid, the exit code is 1 \
      and the daemon goes on as before. `systemctl reload cairnd` does the same.
      It ends when the new configuration is in use or was refused, with and without --wait.
      """)

  @OptionGroup var shared: SharedOptions

  /// For scripts that say so; a reload without an answer could fail unseen.
  @Flag(name: .long, help: "Wait until the configuration is taken over, which is done always.")
  var wait = false

  func run() throws {
    let reply = try shared.connect().call(ReloadConfiguration.self, NoValues())
    if shared.json { return try Output.json(reply) }
    let keys = reply.changed.joined(separator: ", ")
    Output.line(reply.changed.isEmpty ? "nothing has changed" : "changed: \(keys)")
  }
}
