import CairnPlatform
import CairnStore
import Foundation
import GRDB

/// The write-ahead log that was found beside a closed file, and whether it belongs to the file.
///
/// A log says nothing of which database it is of: SQLite takes any whose own checksums are right,
/// such as one left behind when another file was put in the database's place. Three things give it
/// away: the file alone is a store and with the log it is none; the store has another identifier
/// with the log and does not hold together; pages that SQLite refuses. A log of the same store at
/// another time that happens to fit is not noticed here.
struct LeftLog {
  let path: String
  private var log: String { path + "-wal" }

  /// Whether there is one with something in it.
  var isThere: Bool {
    guard let facts = try? FileManager.default.attributesOfItem(atPath: log) else { return false }
    return ((facts[.size] as? NSNumber)?.int64Value ?? 0) > Self.headerSize
  }

  private static let headerSize: Int64 = 32

  /// - Throws: ``CoreDataError`` (134080) when what was read with the log is not of this file.
  func check(_ metadata: [String: Any]?, _ connection: SQLiteConnection) throws {
    guard isThere, let own = identifierOfFileAlone() else { return }
    if metadata?[StoreMetadataKey.uuid] as? String == own { return }
    // A copy of another store that was not checkpointed yet has another identifier, and a store
    // that was destroyed has none; both are whole.
    if try isWhole(connection) { return }
    throw refusal(nil)
  }

  /// The error to throw for one that came up as the file was read with its log.
  func explain(_ error: any Error) -> any Error {
    let failure = SQLiteResultCode.failure(in: error)
    let isNoStore = (error as? CoreDataError)?.code == .persistentStoreInvalidType
    guard isNoStore || failure.map(SQLiteResultCode.isDamage) == true, isThere,
      identifierOfFileAlone() != nil
    else { return error }
    return refusal(error)
  }

  /// The error for a file in which damage was found, if that came with the log: the file alone is a whole store.
  ///
  /// - Parameter limit: How long to look.
  func explainDamage(within limit: Duration) -> CoreDataError? {
    guard isThere else { return nil }
    let isWholeAlone = readFileAlone { connection in
      try Deadline.holding(limit, on: connection.database.sqliteConnection) {
        try MetadataTable.read(connection, path: path) != nil && isWhole(connection)
      }
    }
    return isWholeAlone == true ? refusal(nil) : nil
  }

  private func isWhole(_ connection: SQLiteConnection) throws -> Bool {
    let check = try connection.statement("PRAGMA integrity_check(1)")
    defer { check.reset() }
    return try check.step() && check.string(0) == "ok"
  }

  private func refusal(_ error: (any Error)?) -> CoreDataError {
    CoreDataError(
      .persistentStoreOpen,
      "The write-ahead log \(log) does not belong to the store \(path): without it the file is a "
        + "store, with it the file is damaged. If another file was put in the store's place, move "
        + "the log and \(path)-shm away and open the store again; else put back the file that the "
        + "log belongs to.",
      userInfo: [NSFilePathErrorKey: path], underlyingError: error)
  }

  /// `Z_UUID` as the database file has it without the log; nil when it is no store.
  private func identifierOfFileAlone() -> String? {
    let metadata = readFileAlone { try MetadataTable.read($0, path: path) }
    return metadata??[StoreMetadataKey.uuid] as? String
  }

  /// Reads the database file without the log; nil when that fails.
  private func readFileAlone<Value>(_ body: (SQLiteConnection) throws -> Value) -> Value? {
    guard
      let escaped = path.addingPercentEncoding(
        withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "/-._~")))
    else { return nil }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.acceptsDoubleQuotedStringLiterals = true
    configuration.prepareDatabase(SQLiteDefences.installForInspection)
    guard
      let queue = try? DatabaseQueue(
        path: "file:\(escaped)?immutable=1", configuration: configuration)
    else { return nil }
    defer { try? queue.close() }
    return try? queue.read { try body(SQLiteConnection(database: $0)) }
  }
}
