// What the daemon did last, also of runs that were killed.
import CairnPlatform
import Foundation
import Synchronization

/// Keeps the last log lines from level debug on, whatever the log's level is and whatever became of the journal.
///
/// In the runtime folder, which systemd keeps over restarts, the lines outlive the process: they tell what a run did
/// that was killed. Two files take turns, so that the older half is dropped as a whole. Without such a folder, or once
/// it is full, the lines are in memory only.
///
/// Mutable state: the lines in memory and the file, inside the mutex.
final class FlightRecorder: Sendable {
  /// What each of the two files holds at most, in bytes, and what there is in memory.
  private static let capacity = 256 * 1024
  /// Lines in memory.
  private static let lineCount = 500

  private struct State {
    var lines: [[UInt8]] = []
    var file: AppendedFile?
    var size = 0
  }

  private let state = Mutex(State())
  /// The file that is written, and the one that was before it.
  private let paths: (current: String, old: String)?
  private let capacity: Int

  /// - Parameter folder: The runtime folder; nil for memory alone.
  init(folder: String?, capacity: Int = FlightRecorder.capacity) {
    self.capacity = capacity
    paths = folder.map { ("\($0)/flight-recorder", "\($0)/flight-recorder.old") }
    state.withLock { open(&$0) }
  }

  func add(_ line: [UInt8]) {
    state.withLock { state in
      state.lines.append(line)
      if state.lines.count > 2 * Self.lineCount { state.lines.removeFirst(Self.lineCount) }
      guard state.file != nil else { return }
      if state.size + line.count > capacity { turn(&state) }
      state.size += line.count
      // A full disk takes no more; what is in memory goes on.
      if state.file?.append(line) != true { state.file = nil }
    }
  }

  /// The oldest first, each ended by a line feed.
  var text: String {
    state.withLock { state in
      var parts: [[UInt8]] = []
      if let paths {
        parts = [paths.old, paths.current].compactMap { FileManager.default.contents(atPath: $0) }
          .map { Array($0.suffix(capacity)) }
      }
      if state.file == nil { parts += state.lines.suffix(Self.lineCount) }
      return String(decoding: parts.joined(), as: UTF8.self)
    }
  }

  private func turn(_ state: inout State) {
    state.file = nil
    guard let paths, rename(paths.current, paths.old) == 0 else { return }
    open(&state)
  }

  private func open(_ state: inout State) {
    guard let paths else { return }
    state.file = try? AppendedFile(path: paths.current)
    state.size = state.file?.initialSize ?? 0
  }
}
