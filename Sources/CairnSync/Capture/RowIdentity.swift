import CairnModel
import CairnStore
import Crypto
import Foundation

/// What the record ID of a row follows from when it is taken up: what the file itself says of the row.
///
/// Every capture of the row, at any time, gives it the same. A store that comes back from a backup made before
/// its rows were taken up has the records that others know, not second ones beside them, also where their
/// inserts have left history by then.
struct RowIdentity: Hashable, Sendable {
  /// The UUID of the store, which a restored one shares with the one that was backed up.
  let store: String
  /// The key of the row, with its root entity.
  let row: Data
  /// Tells the row from another one that got the same key after a backup came back; nil where neither
  /// history nor the sidecar tells.
  let birth: RowBirth?

  var recordID: RecordID {
    var writer = ByteWriter()
    writer.string(store)
    writer.raw(row)
    var milliseconds: UInt64 = 1
    if let birth {
      let date = birth.date.timeIntervalSince1970
      writer.fixed(UInt64(bitPattern: birth.transaction))
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

extension RowBirth {
  init(_ transaction: HistoryTransactionRecord) {
    self.init(transaction: transaction.number, date: transaction.date)
  }
}

extension StoreAccess {
  func identity(ofRow object: ManagedObjectID, born birth: RowBirth?) -> RowIdentity {
    RowIdentity(
      store: store.identifier ?? "", row: SyncKey.object(object)?.key ?? Data(), birth: birth)
  }
}
