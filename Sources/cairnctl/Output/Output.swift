// Writing results to standard output.
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
