// Says what went wrong, and with which exit code the program ends.
import ArgumentParser
import CairnControl
import CairnPlatform
import Foundation

/// A failure of this program itself, with nothing to do with the daemon.
struct CommandFailure: Error {
  let message: String
  /// What to do next, best as a command.
  let hint: String
}

enum FailureReport {
  private static let refused: Int32 = 1
  private static let usage: Int32 = 64
  private static let unreachable: Int32 = 69
  private static let notYet: Int32 = 75

  /// Reports `error` on standard error and ends the program.
  static func exit(for error: any Error, command: any ParsableCommand.Type) -> Never {
    switch error {
    case let error as ControlError:
      report(error.description, hint: error.hint, name: error.name, fields: error.fields)
      switch error {
      case .waitTimedOut, .notReady("starting", _): Foundation.exit(notYet)
      default: Foundation.exit(refused)
      }
    case let error as ControlClientError:
      report(error.description, hint: error.hint, name: "unreachable", fields: [:])
      switch error {
      case .timedOut: Foundation.exit(notYet)
      case .unreachable, .disconnected, .misunderstood: Foundation.exit(unreachable)
      }
    case let error as CommandFailure:
      report(error.message, hint: error.hint, name: "failed", fields: [:])
      Foundation.exit(refused)
    case _ where command.exitCode(for: error) == .success:
      // Help and version: the parser prints them without a look at whether that works.
      Output.line(command.fullMessage(for: error))
      Foundation.exit(0)
    default:
      let words = Array(CommandLine.arguments.dropFirst())
      if command.exitCode(for: error).rawValue == usage,
        let unknown = UnknownCommand.find(in: words, of: command)
      {
        report(unknown.message, hint: unknown.hint, name: "usage", fields: [:])
        Foundation.exit(usage)
      }
      command.exit(withError: error)
    }
  }

  private static func report(
    _ message: String, hint: String?, name: String, fields: [String: JSONValue]
  ) {
    if CommandLine.arguments.contains("--json") {
      var members: [String: JSONValue] = [
        "error": .string(name), "message": .string(message), "parameters": .object(fields),
      ]
      if let hint { members["hint"] = .string(hint) }
      StandardStream.error.write(Array((JSONValue.object(members).text + "\n").utf8))
      return
    }
    var text = "cairnctl: \(TerminalText.safe(message))\n"
    if let hint { text += "hint: \(TerminalText.safe(hint))\n" }
    StandardStream.error.write(Array(text.utf8))
  }
}
