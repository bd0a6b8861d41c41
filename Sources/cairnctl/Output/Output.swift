// Writing results to standard output, and what several commands say in the same words.
import CairnControl
import CairnPlatform
import Foundation

enum Output {
  /// Writes a line.
  static func line(_ text: String) { write(text + "\n") }

  /// Writes a text; where it cannot be written, the program ends: quietly where the reader of a pipe has seen
  /// enough, else with the reason, since a file that lacks its end looks like a whole one.
  static func write(_ text: String) {
    guard let failure = StandardStream.output.failure(writing: Array(text.utf8)) else { return }
    if failure == .brokenPipe { Foundation.exit(0) }
    let error = CommandFailure(
      message: "the output is not complete: \(failure.explanation)",
      hint: failure.advice ?? "write it to a file on another disk")
    FailureReport.exit(for: error, command: CairnctlCommand.self)
  }

  /// Writes a value as one line of JSON.
  static func json(_ value: some Encodable) throws {
    line(try JSONValueEncoder.encode(value).text)
  }

  /// Writes to standard error, for what is not a result.
  static func note(_ text: String) {
    StandardStream.error.write(Array((text + "\n").utf8))
  }
}

/// What people read of lists that are not tables.
enum Block {
  /// Says that replicas were not read.
  static func note(away: [AwayReplica], damaged: Int = 0) {
    for replica in away {
      TerminalText.wrapped("not read: \(replica.name): \(replica.reason)").forEach(Output.note)
    }
    if damaged > 0 {
      Output.note(
        "\(Readable.count(damaged, "entry", "entries")) cannot be read: `cairnctl verify` checks the files"
      )
    }
  }
}
