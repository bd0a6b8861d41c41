// Writing results to standard output.
import CairnControl
import CairnPlatform
import Foundation

enum Output {
  /// Writes a line; ends the program quietly when nobody reads any more.
  static func line(_ text: String) {
    if !StandardStream.output.write(Array((text + "\n").utf8)) { Foundation.exit(0) }
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
