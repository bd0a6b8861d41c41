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
  /// What the daemon or the connection to it said, which decides the exit code.
  var cause: (any Error)?
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
      report(error.description, hint: error.hint, cause: error)
      Foundation.exit(code(of: error))
    case let error as ControlClientError:
      report(error.description, hint: error.hint, cause: error)
      Foundation.exit(code(of: error))
    case let error as CommandFailure:
      report(error.message, hint: error.hint, cause: error.cause)
      Foundation.exit(code(of: error.cause))
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
      let (code, message) = (command.exitCode(for: error).rawValue, command.message(for: error))
      guard isJSON, !message.isEmpty else { command.exit(withError: error) }
      // The parser's own text names the command whose help it is.
      let help = command.fullMessage(for: error).firstMatch(of: /See '(.+)' for more/)?.output.1
      report(
        message, hint: help.map { "`\($0)` says what it takes" },
        name: code == usage ? "usage" : "failed", fields: [:])
      Foundation.exit(code)
    }
  }

  /// - Parameter cause: What the daemon or the connection to it said; nil for a failure of this program.
  private static func code(of cause: (any Error)?) -> Int32 {
    if let error = cause as? ControlClientError { return error == .timedOut ? notYet : unreachable }
    switch cause as? ControlError {
    case .waitTimedOut?, .notReady("starting", _)?: return notYet
    default: return refused
    }
  }

  private static func report(_ message: String, hint: String?, cause: (any Error)?) {
    let error = cause as? ControlError
    report(
      message, hint: hint,
      name: error?.name ?? (cause is ControlClientError ? "unreachable" : "failed"),
      fields: error?.fields ?? [:])
  }

  /// Whether a machine reads; the words are looked at, since they may be no command line.
  private static var isJSON: Bool { CommandLine.arguments.contains("--json") }

  private static func report(
    _ message: String, hint: String?, name: String, fields: [String: JSONValue]
  ) {
    if isJSON {
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
