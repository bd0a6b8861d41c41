// Durations as people write them: 250ms, 30s, 5m, 12h, 30d.

/// Reads and writes durations with a unit.
enum DurationText {
  private static let units: [(suffix: String, duration: Duration)] = [
    ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3600)),
    ("d", .seconds(86400)), ("w", .seconds(604800)),
  ]

  private static let longest = Duration.seconds(Int64.max)

  /// What the units are, for messages.
  static let remedy = "write a number and a unit: 250ms, 30s, 5m, 12h, 30d or 2w"

  /// The duration, or nil when the text is none; one that is beyond any bounds is the longest that there is.
  static func parse(_ text: String) -> Duration? {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let suffix = text[number.endIndex...]
    guard let amount = Double(number), let unit = units.first(where: { $0.suffix == suffix })
    else { return nil }
    if amount >= 1e9 { return longest }
    // Through whole milliseconds: a duration times a fraction is not exact.
    let milliseconds =
      unit.duration.components.seconds * 1000
      + unit.duration.components.attoseconds / 1_000_000_000_000_000
    return .milliseconds(Int64((Double(milliseconds) * amount).rounded()))
  }
}
