// cairnctl log-level
import ArgumentParser
import CairnControl

extension LogLevelName: ExpressibleByArgument {}

struct LogLevelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log-level", abstract: "Show or set how much the daemon logs.",
    discussion: """
      What is set here lasts until the next reload or restart, which go back to log.level of the \
      configuration.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "trace, debug, info, notice, warning, error or critical; none to look.")
  var level: LogLevelName?

  func run() throws {
    let reply = try shared.connect().call(SetLogLevel.self, .init(level: level))
    if shared.json { return try Output.json(reply) }
    if reply.level == reply.configured {
      return Output.line("\(reply.level.rawValue), as configured")
    }
    Output.line(
      "\(reply.level.rawValue) until the next reload or restart; configured is "
        + reply.configured.rawValue)
  }
}
