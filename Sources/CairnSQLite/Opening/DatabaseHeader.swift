import Foundation

/// The first 100 bytes of a file, which tell whether it is a database that this SQLite reads.
enum DatabaseHeader {
  private static let magic = Data("SQLite format 3\0".utf8)
  private static let size = 100
  /// Byte 19: 1 for a rollback journal, 2 for a write-ahead log; a later SQLite may know more.
  private static let readVersion = 19
  private static let knownVersion: UInt8 = 2

  /// Why a file is no such database, in words that follow its name; nil for one that is.
  ///
  /// - Parameter takesEmpty: Whether a file of no bytes passes, which SQLite takes for a database
  ///   without tables.
  static func refusal(at path: String, takesEmpty: Bool = true) -> String? {
    guard let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path)),
      let start = try? file.read(upToCount: size) ?? Data()
      // Opening it says why.
    else { return nil }
    try? file.close()
    if start.isEmpty { return takesEmpty ? nil : "is empty, not a store" }
    if !start.starts(with: magic) {
      return isText(start)
        ? "is not an SQLite database" : "is not an SQLite database, or an encrypted one"
    }
    if start.count < size {
      return "is cut short: its \(start.count) bytes are not even the header of a database"
    }
    let version = start[start.startIndex + readVersion]
    if version > knownVersion {
      return "was written by a newer SQLite: its file format is number \(version), and numbers up "
        + "to \(knownVersion) are known. Update the program, or let the newer one export the store"
    }
    return nil
  }

  private static func isText(_ bytes: Data) -> Bool {
    bytes.allSatisfy { (0x20...0x7e).contains($0) || [9, 10, 13].contains($0) }
  }
}
