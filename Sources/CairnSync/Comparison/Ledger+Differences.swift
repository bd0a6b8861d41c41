import CairnStore
import Foundation

// What comparisons have found is kept in the local store, so that a restart does not forget it.

extension StoreAccess {
  /// What the last comparison with a store found and none has found to be over.
  func knownDifferences(with other: StoreID) throws -> KnownDifferences? {
    try ledger().value(SyncKey.differences(other)).map(KnownDifferences.init(decoding:))
  }

  func setKnownDifferences(_ differences: KnownDifferences?, with other: StoreID) throws {
    try keep(differences?.encoded, at: SyncKey.differences(other))
  }
}

extension KnownDifferences {
  // Bytes: count 8 · found 8 · 0 quick, 1 full · lasting 8
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(UInt64(count))
    writer.fixed(found)
    writer.byte(level == .full ? 1 : 0)
    writer.fixed(UInt64(lasting))
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    count = Int(clamping: try reader.fixed())
    found = try reader.fixed()
    level = try reader.byte() == 1 ? .full : .quick
    lasting = Int(clamping: try reader.fixed())
  }
}
