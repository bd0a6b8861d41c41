import CairnModel
import Foundation

/// By which transaction a row was inserted: what tells it from another row that gets the same key once the
/// store has been restored from a backup.
///
/// History tells it. A store with a sidecar keeps it there when the insert leaves history before sync has taken
/// up the row, so that sync gives the row the same record ID then as before.
public struct RowBirth: Hashable, Sendable {
  /// The number of the transaction.
  public let transaction: Int64
  public let date: Date

  public init(transaction: Int64, date: Date) {
    self.transaction = transaction
    self.date = date
  }

  /// The map of the sidecar that has the births of rows whose inserts have left history.
  public static let map = "row_births"
  /// The map in which sync has the rows that it has taken up, under the same keys: their births tell nothing
  /// more.
  public static let takenUpMap = "sync_ids"

  /// The key of a row in both maps; nil for an object without one.
  public static func key(of object: ManagedObjectID) -> Data? {
    guard let number = object.rowKey else { return nil }
    let entity = object.entity.rootEntity.name ?? ""
    return Data(entity.utf8) + [0] + bytes(UInt64(bitPattern: number))
  }

  // Bytes: transaction 8 · seconds since 2001 as the bits of a double 8
  public var encoded: Data {
    Self.bytes(UInt64(bitPattern: transaction))
      + Self.bytes(date.timeIntervalSinceReferenceDate.bitPattern)
  }

  /// - Returns: Nil for bytes that are no birth.
  public init?(decoding data: Data) {
    guard data.count == 16 else { return nil }
    let numbers = data.withUnsafeBytes { bytes in
      [0, 8].map { UInt64(bigEndian: bytes.number(at: $0)) }
    }
    transaction = Int64(bitPattern: numbers[0])
    date = Date(timeIntervalSinceReferenceDate: Double(bitPattern: numbers[1]))
  }

  private static func bytes(_ number: UInt64) -> Data {
    withUnsafeBytes(of: number.bigEndian) { Data($0) }
  }
}
