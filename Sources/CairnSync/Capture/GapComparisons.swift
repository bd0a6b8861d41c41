import Foundation

/// The stores with which one was compared since its history was lost.
struct GapComparisons: Hashable, Sendable {
  var stores: Set<StoreID> = []

  init(_ stores: Set<StoreID> = []) { self.stores = stores }

  /// Whether no store is left that may have a value as it was before: the store was compared with all that
  /// it serves and all that it has read from, but for those that it waits for no longer.
  ///
  /// A store that it only reads from tells of itself in no note: it counts for as long as there is a cursor.
  func isEnough(for readers: [StoreID: ReaderNote], and sources: Set<StoreID>) -> Bool {
    !stores.isEmpty
      && sources.union(readers.keys).allSatisfy {
        stores.contains($0) || readers[$0]?.isExpired ?? false
      }
  }

  // Bytes: store IDs, in their order
  var encoded: Data {
    var writer = ByteWriter()
    for store in stores.sorted() { writer.identity(store) }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    while !reader.isAtEnd { stores.insert(try reader.identity(StoreID.self)) }
  }
}

extension Ledger {
  func gapComparisons() throws -> GapComparisons {
    try value(SyncKey.gapComparisons).map(GapComparisons.init(decoding:)) ?? GapComparisons()
  }

  func setGapComparisons(_ comparisons: GapComparisons) {
    put(SyncKey.gapComparisons, comparisons.stores.isEmpty ? nil : comparisons.encoded)
  }
}
