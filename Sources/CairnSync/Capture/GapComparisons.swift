import Foundation

/// The stores with which one was compared since its history was lost.
struct GapComparisons: Hashable, Sendable {
  var stores: Set<StoreID> = []

  init(_ stores: Set<StoreID> = []) { self.stores = stores }

  /// Whether no store is left that may have a value as it was before: the store was compared with all that
  /// it has served and all that it has read from.
  ///
  /// Also with those that are expired or removed: should one come back, it has the value as it was, under the same
  /// stamp. A gap that stays open for good costs a look at these lists in each pass, and one at the rows for which
  /// something comes in.
  func isEnough(for readers: Set<StoreID>, and sources: Set<StoreID>) -> Bool {
    !stores.isEmpty && sources.union(readers).isSubset(of: stores)
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
