import Foundation
import GRDBSQLite

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
    // Opening it says why it cannot be read.
    guard let start = bytes(at: path) else { return nil }
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

  /// The header, or all of a shorter file; nil when it cannot be read.
  ///
  /// SQLite reads it: any other way of opening the file and closing it again would drop the locks of
  /// every connection that this process has to it, and with them the log could be taken away.
  static func bytes(at path: String) -> Data? {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil) == SQLITE_OK else {
      return nil
    }
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard
      sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file, let methods = file.pointee.pMethods, let read = methods.pointee.xRead,
      let measure = methods.pointee.xFileSize
    else { return nil }
    var length: sqlite3_int64 = 0
    guard measure(file, &length) == SQLITE_OK else { return nil }
    var bytes = Data(count: min(size, Int(length)))
    let code = bytes.withUnsafeMutableBytes { bytes in
      bytes.isEmpty ? SQLITE_OK : read(file, bytes.baseAddress, Int32(bytes.count), 0)
    }
    return code == SQLITE_OK ? bytes : nil
  }

  private static func isText(_ bytes: Data) -> Bool {
    bytes.allSatisfy { (0x20...0x7e).contains($0) || [9, 10, 13].contains($0) }
  }
}
