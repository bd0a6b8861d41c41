// Numbers over time in one line.
import Foundation

/// The last values as bars, the newest on the right.
struct Sparkline {
  private var values: [Double] = []
  /// More than a screen shows.
  private static let most = 200

  mutating func add(_ value: Double) {
    values.append(value)
    if values.count > Self.most { values.removeFirst() }
  }

  /// The last values as so many bars, from nothing to the greatest of them; dots stand for times that were
  /// not seen.
  func text(length: Int, isPlain: Bool = Sparkline.isPlain) -> String {
    let bars = Array(isPlain ? "_.-=+*%#" : "▁▂▃▄▅▆▇█")
    let seen = values.suffix(length)
    let greatest = max(seen.max() ?? 0, .leastNonzeroMagnitude)
    let drawn = seen.map { value -> Character in
      if value <= 0 { return bars[0] }
      return bars[min(7, max(1, Int((value / greatest * 7).rounded())))]
    }
    return String(repeating: isPlain ? " " : "·", count: length - seen.count) + String(drawn)
  }

  /// Whether the terminal knows ASCII only.
  static let isPlain: Bool = {
    let environment = ProcessInfo.processInfo.environment
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }
    let locale = names.first { !$0.isEmpty }?.lowercased() ?? ""
    return !(locale.contains("utf-8") || locale.contains("utf8"))
  }()
}
