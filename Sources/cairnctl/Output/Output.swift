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

/// Numbers, sizes and times as people read them.
enum Readable {
  static func bytes(_ count: Int) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"]
    var value = Double(count)
    var unit = 0
    while value >= 1000, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return unit == 0 ? "\(count) B" : String(format: "%.1f %@", value, units[unit] as NSString)
  }

  static func seconds(_ value: Double) -> String {
    switch value {
    case ..<10: String(format: "%.1f s", value)
    case ..<120: "\(Int(value)) s"
    case ..<7200: "\(Int(value / 60)) min"
    case ..<172_800: "\(Int(value / 3600)) h"
    default: "\(Int(value / 86400)) d"
    }
  }

  /// UTC to the second.
  static func moment(_ date: WireDate) -> String {
    guard let text = WireDate.text(date.date) else { return "?" }
    return text.replacingOccurrences(of: "T", with: " ").prefix { $0 != "." } + "Z"
  }

  static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
  }
}
