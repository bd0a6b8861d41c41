// What is read of the local store for the status, once for each state of its files.

import CairnModel
import CairnPlatform
import CairnStore
import CairnSync
import Foundation
import Synchronization

/// Keeps what was last read as long as the store's files are as they were.
///
/// A file that was changed a moment ago may be changed again without
/// being told from before, since its time has the kernel's ticks: until a tick has passed nothing is kept.
///
/// Mutable state: what was read last, inside the mutex.
final class LocalReadings: Sendable {
  /// What was read.
  struct Content: Sendable {
    let sync: LocalReading
    /// Nil when they cannot be counted.
    let records: Int?
  }

  /// The store's files at one moment.
  struct Files: Sendable, Equatable {
    private let main: FileFacts?
    private let log: FileFacts?
    private let index: FileFacts?

    fileprivate init(_ paths: (main: String, log: String, index: String)) {
      main = try? FileFacts(path: paths.main)
      log = try? FileFacts(path: paths.log)
      index = try? FileFacts(path: paths.index)
    }

    /// Whether no file is where the store was opened.
    var isGone: Bool { main == nil }

    /// Bytes on disk, journals included.
    var bytes: Int { [main, log, index].reduce(0) { $0 + Int($1?.size ?? 0) } }

    /// Those whose changes tell of other content; nil where there is none.
    fileprivate var content: [FileFacts?] { [main, log] }
  }

  private struct Kept {
    let files: [FileFacts?]
    let content: Content
  }
  private let kept = Mutex<Kept?>(nil)
  private let paths: (main: String, log: String, index: String)

  init(path: String) { paths = (path, path + "-wal", path + "-shm") }

  /// The files as they are now.
  var files: Files { Files(paths) }

  /// Whether what was read last is what the store holds.
  ///
  /// - Parameter files: The files as they have just been.
  func areCurrent(of files: Files) -> Bool {
    let files = files.content
    return kept.withLock { $0?.files == files }
  }

  /// What the store holds now.
  ///
  /// - Parameters:
  ///   - files: The files as they have just been.
  ///   - read: Reads the store.
  func current(of files: Files, _ read: () throws -> Content) rethrows -> Content {
    let files = files.content
    if let content = kept.withLock({ $0?.files == files ? $0?.content : nil }) { return content }
    let now = Duration.seconds(Date().timeIntervalSince1970)
    let content = try read()
    let isSettled = files.allSatisfy { $0.map { Self.isSettled($0.modified, now) } ?? true }
    kept.withLock { $0 = isSettled ? Kept(files: files, content: content) : nil }
    return content
  }

  /// Whether a change from now on gets another time; file systems that keep whole seconds only are given
  /// longer.
  private static func isSettled(_ modified: Duration, _ now: Duration) -> Bool {
    now - modified > (modified.components.attoseconds == 0 ? .seconds(3) : .milliseconds(50))
  }
}
