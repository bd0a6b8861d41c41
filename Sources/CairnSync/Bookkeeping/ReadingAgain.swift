import CairnStore
import Foundation

// A store that has lost something of what it had read reads it once more from the beginning.

extension Ledger {
  /// Has sync read once more all that it has read from other stores.
  ///
  /// - Parameter names: Entities (`Item`) and relationships (`Item.tags`) of which the store has lost all it had: that
  ///   it knows nothing of a record of theirs does not mean that it was deleted.
  func readOthersAgain(havingLost names: Set<String> = []) throws {
    let cursors = try store.capabilities.sidecar?.sidecarEntries(
      of: SyncMap.cursors.rawValue, from: nil, to: nil, limit: 0)
    var isReading = false
    for (key, value) in cursors ?? [] {
      let cursor = try SyncCursor(decoding: value)
      isReading = isReading || cursor.isStreaming
      setCursor(cursor.fromStart, for: try SyncKey.identity(StoreID.self, in: key))
    }
    // What was lost before is there again once all was read.
    let lost = isReading ? names.union(try lostNames()) : names
    put(SyncKey.lost, lost.isEmpty ? nil : MigrationTrace(lost).encoded)
  }

  /// The entities and relationships of which the store had lost all when it began to read the others again.
  func lostNames() throws -> Set<String> {
    try value(SyncKey.lost).map(MigrationTrace.init(decoding:))?.names ?? []
  }

  func renameLost(by translation: SchemaTranslation) throws {
    let names = try lostNames()
    if names.isEmpty { return }
    let renamed = names.map { name in
      name.contains(".") ? translation.relationship(name) : translation.entity(name)
    }
    put(SyncKey.lost, MigrationTrace(renamed).encoded)
  }
}
