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
    var identities = RowIdentities(store: store, born: birth)
    return identities.recordID { $0.append(contentsOf: row) }
  }
}

/// The record IDs of rows of one store with one birth; see ``RowIdentity``.
struct RowIdentities {
  private let start: [UInt8]
  private let end: [UInt8]
  private let milliseconds: UInt64
  /// Used again for each row.
  private var bytes: [UInt8] = []

  /// - Parameter store: The UUID of the store.
  init(store: String, born birth: RowBirth?) {
    var writer = ByteWriter()
    writer.string(store)
    start = [UInt8](writer.data)
    guard let birth else {
      end = []
      milliseconds = 1
      return
    }
    var rest = ByteWriter()
    let date = birth.date.timeIntervalSince1970
    rest.fixed(UInt64(bitPattern: birth.transaction))
    rest.fixed(date.bitPattern)
    end = [UInt8](rest.data)
    // The date comes out of a file, where it can be anything.
    milliseconds = max(1, UInt64(min(max(0, date * 1000), 0x1p47)))
  }

  /// - Parameter key: That of the row in `sync_ids`.
  mutating func recordID(ofRow key: SidecarKey) -> RecordID {
    recordID { bytes in key.withUnsafeBytes { bytes.append(contentsOf: $0) } }
  }

  fileprivate mutating func recordID(_ appendRow: (inout [UInt8]) -> Void) -> RecordID {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: start)
    appendRow(&bytes)
    bytes.append(contentsOf: end)
    let words = SHA256.hash(data: bytes).withUnsafeBytes { hash in
      (UInt64(bigEndian: hash.number(at: 0)), UInt64(bigEndian: hash.number(at: 8)))
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
