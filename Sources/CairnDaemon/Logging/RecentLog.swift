// The last lines of the log, for a support bundle.
import Synchronization

/// Keeps the last lines that were logged, whatever became of the journal.
///
/// Mutable state: the lines, inside the mutex.
final class RecentLog: Sendable {
  private static let capacity = 500
  private let kept = Mutex<[[UInt8]]>([])

  func add(_ line: [UInt8]) {
    kept.withLock { lines in
      lines.append(line)
      if lines.count > 2 * Self.capacity { lines.removeFirst(Self.capacity) }
    }
  }

  /// The oldest first, each ended by a line feed.
  var text: String {
    String(decoding: kept.withLock { $0.suffix(Self.capacity).joined() }, as: UTF8.self)
  }
}
