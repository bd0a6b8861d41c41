import Foundation

/// The permissions of a database's write-ahead log and its index.
///
/// SQLite makes both with the permissions that the database has at that moment, and never changes them. Beside a database
/// that is read-only for a while it makes them read-only, and goes on refusing to write when a person has made the
/// database writable again.
enum LogPermissions {
  /// Lets the owner of a database write the log and the index beside it, where the owner may write the database.
  ///
  /// Does nothing where the process may not: SQLite then says that it cannot write.
  static func follow(databaseAt path: String) {
    guard let database = permissions(of: path), database & owner == owner else { return }
    for name in ["\(path)-wal", "\(path)-shm"] {
      guard let own = permissions(of: name), own & owner != owner else { continue }
      try? FileManager.default.setAttributes(
        [.posixPermissions: NSNumber(value: own | owner)], ofItemAtPath: name)
    }
  }

  private static let owner = 0o600

  /// Nil for what is no regular file, or not there.
  private static func permissions(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
    return (attributes?[.posixPermissions] as? NSNumber)?.intValue
  }
}
