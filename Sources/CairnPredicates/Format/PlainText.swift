import Foundation

/// Values as text for people.
package enum PlainText {
  /// What a value says of itself.
  ///
  /// Foundation on Linux ends the process when the date of no number is asked, so this answers for it.
  package static func of(_ value: Any) -> String {
    if let date = value as? Date, date.timeIntervalSinceReferenceDate.isNaN { return "nan" }
    return "\(value)"
  }
}
