// Numbers in text for people.
import Foundation

/// Numbers, sizes and times as people read them.
public enum Readable {
  /// A number of bytes, in units of 1000.
  public static func bytes(_ count: Int) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"]
    var value = Double(count)
    var unit = 0
    while value >= 1000, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return unit == 0 ? "\(count) B" : String(format: "%.1f %@", value, units[unit] as NSString)
  }

  /// A time in seconds, in the unit that says enough.
  public static func seconds(_ value: Double) -> String {
    switch value {
    case ..<10: String(format: "%.1f s", value)
    case ..<120: "\(Int(value)) s"
    case ..<7200: "\(Int(value / 60)) min"
    case ..<172_800: "\(Int(value / 3600)) h"
    default: "\(Int(value / 86400)) d"
    }
  }

  /// UTC to the second.
  public static func moment(_ date: WireDate) -> String {
    guard let text = WireDate.text(date.date) else { return "?" }
    return text.replacingOccurrences(of: "T", with: " ").prefix { $0 != "." } + "Z"
  }

  /// A number with its noun.
  public static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
  }
}
