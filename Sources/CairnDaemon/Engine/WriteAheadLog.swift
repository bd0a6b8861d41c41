// What stands in the write-ahead log beside a SQLite store, and who reads in it.

import CairnControl
import CairnModel
import CairnPlatform
import CairnStore
import Foundation

/// The log of one store.
///
/// Looks at the log's index and at its locks; opens no database, and none of its files:
/// closing one would give up the locks by which SQLite protects the open store from other processes.
struct WriteAheadLog: Sendable {
  /// The store's file.
  let path: String

  /// How long readers are waited for.
  private static let patience = Duration.seconds(3)

  /// Moves the log into the file of an open store.
  ///
  /// - Returns: the log before and after, and who keeps the rest of it.
  func checkpoint(
    _ store: any ResourceReleasing, named name: String
  ) throws -> CheckpointStore.Reply {
    let before = state
    let deadline = ContinuousClock.now + Self.patience
    // Other programs may write into a log that was just emptied.
    while try !store.settleFile() || !isEmpty, ContinuousClock.now < deadline {
      // Nothing tells when a reader ends.
      Thread.sleep(forTimeInterval: 0.05)
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
    guard let head = mappedIndex(100) else { return 0 }
    func word(_ index: Int) -> Int {
      head.withUnsafeBytes { Int($0.number(at: index * 4, as: UInt32.self)) }
    }
    return max(0, word(4) - word(24))
  }

  /// The first bytes of the index, from where SQLite has mapped it into this process.
  private func mappedIndex(_ count: Int) -> Data? {
    let index = URL(fileURLWithPath: path).resolvingSymlinksInPath().path + "-shm"
    guard let maps = Self.kernelText("/proc/self/maps"),
      let address = Self.address(of: index, inMaps: maps),
      let memory = FileHandle(forReadingAtPath: "/proc/self/mem")
    else { return nil }
    defer { try? memory.close() }
    var head = Data(count: count)
    // Where it was unmapped meanwhile, reading fails.
    let read = head.withUnsafeMutableBytes {
      pread(memory.fileDescriptor, $0.baseAddress, count, Int(address))
    }
    return read == count ? head : nil
  }

  /// A file that the kernel writes as it is read: a part of it at a time, and without a size.
  private static func kernelText(_ path: String) -> String? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(file.fileDescriptor, &part, part.count)
      guard count >= 0 else { return nil }
      if count == 0 { return String(decoding: text, as: UTF8.self) }
      text += part[..<count]
    }
  }

  /// Reads lines like `7f0a1000-7f0a9000 rw-s 00000000 fe:01 131  /var/lib/cairn/local.sqlite-shm`.
  static func address(of file: String, inMaps text: String) -> UInt64? {
    for line in text.split(separator: "\n") where line.hasSuffix(file) {
      let words = line.split(separator: " ", maxSplits: 5)
      guard words.count == 6, words[5].drop(while: { $0 == " " }) == file,
        UInt64(words[2], radix: 16) == 0
      else { continue }
      return words[0].split(separator: "-").first.flatMap { UInt64($0, radix: 16) }
    }
    return nil
  }

  /// The processes that read in the log.
  ///
  /// Asked of the locks themselves, since the service sees no `/proc/locks`.
  private func readers() -> [CheckpointStore.Reader] {
    FileUsers.readers(of: URL(fileURLWithPath: path).resolvingSymlinksInPath().path).map {
      CheckpointStore.Reader(process: Int($0.process), program: $0.name)
    }
  }
}
