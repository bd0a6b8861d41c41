// What stands in the write-ahead log beside a SQLite store, and who reads in it.

import CairnControl
import CairnPlatform
import CairnStore
import Foundation

/// The log of one store.
///
/// Looks at the log's index and at the kernel's list of locks; opens no database.
struct WriteAheadLog: Sendable {
  /// The store's file.
  let path: String

  /// How long readers are waited for.
  private static let patience = Duration.seconds(3)

  /// Moves the log into the file of an open store.
  ///
  /// - Returns: the log before and after, and who keeps the rest of it.
  func checkpoint(
    _ store: any SpaceReleasing, named name: String
  ) throws -> CheckpointStore.Reply {
    let before = state
    let deadline = ContinuousClock.now + Self.patience
    try store.settleFile()
    while !isEmpty, ContinuousClock.now < deadline {
      // Nothing tells when a reader ends.
      Thread.sleep(forTimeInterval: 0.05)
      try store.settleFile()
    }
    return CheckpointStore.Reply(
      store: name, before: before, after: state, readers: isEmpty ? [] : readers())
  }

  private var isEmpty: Bool { state.bytes == 0 }

  var state: CheckpointStore.LogState {
    let bytes = Int((try? FileFacts(path: path + "-wal"))?.size ?? 0)
    return CheckpointStore.LogState(frames: bytes == 0 ? 0 : unmovedFrames, bytes: bytes)
  }

  /// The fifth word of the index is the number of frames; the 25th says how many of them are in the file.
  ///
  /// Source: https://sqlite.org/walformat.html, section 2.
  private var unmovedFrames: Int {
    guard let file = FileHandle(forReadingAtPath: path + "-shm"),
      let head = try? file.read(upToCount: 100), head.count == 100
    else { return 0 }
    func word(_ index: Int) -> Int {
      head.withUnsafeBytes {
        Int($0.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      }
    }
    return max(0, word(4) - word(24))
  }

  /// The processes that hold a reader's lock on the index: its bytes 123 to 127.
  private func readers() -> [CheckpointStore.Reader] {
    guard let facts = try? FileFacts(path: path + "-shm"),
      let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
    else { return [] }
    return Self.readers(of: facts.inode, inLocks: locks).map { process in
      let program = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
      return CheckpointStore.Reader(
        process: process, program: program?.trimmingCharacters(in: .newlines))
    }
  }

  /// Reads lines like `3: POSIX  ADVISORY  READ 4711 fe:01:131 123 123`.
  static func readers(of inode: UInt64, inLocks text: String) -> [Int] {
    var found: Set<Int> = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard let kind = words.firstIndex(of: "POSIX"), words.count >= kind + 7,
        let process = Int(words[kind + 3]), process > 0,
        words[kind + 4].split(separator: ":").last.flatMap({ UInt64($0) }) == inode,
        let first = Int(words[kind + 5]), let last = Int(words[kind + 6]), last >= 123, first <= 127
      else { continue }
      found.insert(process)
    }
    return found.sorted()
  }
}
