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
  // Bytes: count 8 · found 8 · 0 quick, 1 full, + 2 of what is held · lasting 8 · [contradictions 8 · [unreadable 8]]
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(UInt64(count))
    writer.fixed(found)
    writer.byte((level == .full ? 1 : 0) | (areOfHeld ? 2 : 0))
    writer.fixed(UInt64(lasting))
    if contradictions > 0 { writer.fixed(UInt64(contradictions)) }
    if unreadable > 0 { writer.fixed(UInt64(unreadable)) }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    let count = Int(clamping: try reader.fixed())
    let found = try reader.fixed()
    let flags = try reader.byte()
    let lasting = Int(clamping: try reader.fixed())
    self.init(
      count: count, found: found, level: flags & 1 != 0 ? .full : .quick, lasting: lasting,
      contradictions: reader.isAtEnd ? 0 : Int(clamping: try reader.fixed()),
      unreadable: reader.isAtEnd ? 0 : Int(clamping: try reader.fixed()),
      areOfHeld: flags & 2 != 0)
  }
}
