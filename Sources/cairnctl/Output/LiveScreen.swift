// The terminal of a command that draws the same screen again and again.
import CairnControl
import CairnPlatform
import Foundation

/// A screen of its own that fits the terminal, whatever size that has by then.
final class LiveScreen {
  private let terminal = RawTerminal()

  /// Gives the terminal back as it was.
  func restore() { terminal.restore() }

  /// How large the terminal is now.
  static var size: (columns: Int, rows: Int) {
    (StandardStream.output.terminalWidth ?? 80, StandardStream.output.terminalHeight ?? 24)
  }

  /// Draws what has room, and says of how much more there is none.
  func draw(_ lines: [String]) {
    let (columns, rows) = Self.size
    var shown = lines
    if lines.count > rows {
      shown = Array(lines.prefix(max(0, rows - 1)))
      shown.append("… and \(Readable.count(lines.count - shown.count, "more line"))")
    }
    terminal.draw(shown.map { TerminalText.clipped($0, to: columns) })
  }

  /// Waits for so long, at most; false once the person has seen enough.
  func wait(_ duration: Duration) -> Bool {
    let end = ContinuousClock.now + duration
    repeat {
      if hasEnded { return false }
      let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
      if let key = terminal.key(within: Int32(max(0, min(100, left)))), isEnd(key) { return false }
    } while ContinuousClock.now < end
    return !hasEnded
  }

  private var hasEnded: Bool { terminal.isInterrupted }

  /// q, Q and Escape.
  private func isEnd(_ key: UInt8) -> Bool { [0x71, 0x51, 0x1B].contains(key) }
}
