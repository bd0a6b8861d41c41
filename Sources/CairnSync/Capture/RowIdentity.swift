import CairnModel
import CairnStore
import Crypto
import Foundation

extension StoreAccess {
  /// The record ID that a row gets when it is taken up.
  ///
  /// It follows from what the file says of the row: whoever takes it up, and whenever, gives it the same.
  /// A store that comes back from a backup made before its rows were taken up has the records that others
  /// know, not second ones beside them.
  ///
  /// - Parameter transaction: The one that inserted the row; nil where history does not tell.
  func recordID(
    forRow object: ManagedObjectID, of transaction: HistoryTransactionRecord?
  ) -> RecordID {
    var writer = ByteWriter()
    writer.string(store.identifier ?? "")
    writer.raw(SyncKey.object(object)?.key ?? Data())
    var milliseconds: UInt64 = 1
    if let transaction {
      let date = transaction.date.timeIntervalSince1970
      writer.fixed(UInt64(bitPattern: transaction.number))
      writer.fixed(date.bitPattern)
      // The date comes out of a file, where it can be anything.
      milliseconds = max(1, UInt64(min(max(0, date * 1000), 0x1p47)))
    }
    var words: (UInt64, UInt64) = (0, 0)
    for (index, byte) in SHA256.hash(data: writer.data).prefix(16).enumerated() {
      if index < 8 {
        words.0 = words.0 << 8 | UInt64(byte)
      } else {
        words.1 = words.1 << 8 | UInt64(byte)
      }
    }
    return RecordID(milliseconds: milliseconds, random: words)
  }
}
