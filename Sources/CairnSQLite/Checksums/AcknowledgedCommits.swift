import CairnModel
import CairnPlatform
import Foundation
import Synchronization

/// Beside the store, outside its write-ahead log: the number of the last commit that was
/// acknowledged, in `App.sqlite-cairn`.
///
/// Where a log is cut short, or a bit of it flips, SQLite forgets the commits from there on without a
/// word. No writer syncs the number: after a power cut it may be old, which says nothing wrong. Everybody who may write
/// the store may write the file.
final class AcknowledgedCommits: Sendable {
  private static let magic = Data("CAIRNACK".utf8)
  private static let size = 24
  static func path(besides store: String) -> String { store + "-cairn" }

  private let path: String
  private let store: String
  private let storeID: String
  private let handle = Mutex<FileHandle?>(nil)

  init(store path: String, identifier: String) {
    store = path
    self.path = Self.path(besides: path)
    storeID = identifier
  }

  /// The number that was noted for this store; 0 for none.
  func read() -> Int64 {
    guard let data = FileManager.default.contents(atPath: path), data.count >= Self.size,
      data.prefix(8) == Self.magic
    else { return 0 }
    let (number, check) = data.withUnsafeBytes { bytes in
      (Int64(littleEndian: bytes.number(at: 8)), Int64(littleEndian: bytes.number(at: 16)))
    }
    return check == self.check(number) ? SumProgress.credible(number) : 0
  }

  /// Notes a commit.
  ///
  /// Without the file everything else works, so errors are of no interest.
  func write(_ number: Int64) {
    var contents = [UInt8](Self.magic)
    for number in [number, check(number)] {
      withUnsafeBytes(of: number.littleEndian) { contents.append(contentsOf: $0) }
    }
    contents.withUnsafeBytes { contents in
      handle.withLock { handle in
        if handle == nil {
          let isMissing = !FileManager.default.fileExists(atPath: path)
          if isMissing, let facts = try? FileFacts(path: store) {
            try? CompanionFile.make(path, of: facts)?.close()
          }
          handle = FileHandle(forUpdatingAtPath: path)
        }
        if let handle { _ = PositionedWrite.put(contents, at: 0, in: handle.fileDescriptor) }
      }
    }
  }

  /// Belongs to this store and to this number.
  private func check(_ number: Int64) -> Int64 { RowSum.of("\(storeID) \(number)") }
}
