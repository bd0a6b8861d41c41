// A bar that shows how far a long command is, on a terminal only.
import CairnPlatform
import Foundation

/// Draws progress on standard error when a person looks at it; draws nothing otherwise.
final class ProgressBar {
  private let isShown: Bool
  private let width: Int
  private var lastDrawn: UInt64 = 0
  private var isDrawn = false

  /// Whether a person looks at standard error.
  static var canBeSeen: Bool { StandardStream.error.isTerminal }

  init(isShown: Bool = ProgressBar.canBeSeen) {
    self.isShown = isShown
    width = StandardStream.error.terminalWidth ?? 80
  }

  /// Shows `fraction` (0 to 1, nil when unknown) with a text; at most ten times a second.
  func show(_ fraction: Double?, _ text: String) {
    let now = MonotonicClock.nanoseconds
    guard isShown, now - lastDrawn >= 100_000_000 else { return }
    lastDrawn = now
    isDrawn = true
    let line = Self.line(fraction, TerminalText.oneLine(text), width: width)
    StandardStream.error.write(Array("\r\u{1B}[K\(line)".utf8))
  }

  /// Takes the bar away.
  func clear() {
    guard isDrawn else { return }
    isDrawn = false
    StandardStream.error.write(Array("\r\u{1B}[K".utf8))
  }

  static func line(_ fraction: Double?, _ text: String, width: Int) -> String {
    guard let fraction else { return TerminalText.clipped(text, to: width - 1) }
    let share = min(1, max(0, fraction))
    let cells = max(10, min(40, width - TextTable.width(text) - 10))
    let filled = Int(share * Double(cells))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: cells - filled)
    let percent = String(format: "%3d%%", Int(share * 100))
    return TerminalText.clipped("[\(bar)] \(percent) \(text)", to: width - 1)
  }
}
