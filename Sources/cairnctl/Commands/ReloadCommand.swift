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
      """)

  @OptionGroup var shared: SharedOptions

  func run() throws {
    let reply = try shared.connect().call(ReloadConfiguration.self, NoValues())
    if shared.json { return try Output.json(reply) }
    let keys = reply.changed.joined(separator: ", ")
    Output.line(reply.changed.isEmpty ? "nothing has changed" : "changed: \(keys)")
  }
}
