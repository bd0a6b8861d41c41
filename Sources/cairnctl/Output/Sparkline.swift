// Numbers over time in one line.
import Foundation

/// The last values as bars, the newest on the right.
struct Sparkline {
  private var values: [Double] = []
  private let length: Int

  init(length: Int) { self.length = length }

  mutating func add(_ value: Double) {
    values.append(value)
    if values.count > length { values.removeFirst() }
  }

  /// Bars from nothing to the greatest value; dots stand for times that were not seen.
  func text(isPlain: Bool = Sparkline.isPlain) -> String {
    let bars = Array(isPlain ? "_.-=+*%#" : "▁▂▃▄▅▆▇█")
    let greatest = max(values.max() ?? 0, .leastNonzeroMagnitude)
    let drawn = values.map { value -> Character in
      if value <= 0 { return bars[0] }
      return bars[min(7, max(1, Int((value / greatest * 7).rounded())))]
    }
    return String(repeating: isPlain ? " " : "·", count: length - values.count) + String(drawn)
  }

  /// Whether the terminal knows ASCII only.
  static let isPlain: Bool = {
    let environment = ProcessInfo.processInfo.environment
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }
    let locale = names.first { !$0.isEmpty }?.lowercased() ?? ""
    return !(locale.contains("utf-8") || locale.contains("utf8"))
  }()
}
