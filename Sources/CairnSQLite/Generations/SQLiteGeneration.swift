import CairnModel
import CairnStore
import Foundation

/// What contexts hold of a transaction: when nobody holds it any more, the transaction ends.
final class SQLiteGeneration: StoreGeneration {
  private let transaction: HeldTransaction
  private let reader: RowReader
  private let release: @Sendable (HeldTransaction) -> Void

  init(
    _ transaction: HeldTransaction, reader: RowReader,
    release: @escaping @Sendable (HeldTransaction) -> Void
  ) {
    self.transaction = transaction
    self.reader = reader
    self.release = release
  }

  deinit { release(transaction) }

  var isReadable: Bool { transaction.isOpen }

  func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try SQLiteStore.fetch(request, schema: reader.schema, store: reader.identity) { _, body in
      try transaction.read(reader, body)
    }
  }

  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    if objectIDs.isEmpty { return [] }
    return try transaction.read(reader) { try $0.snapshots(for: objectIDs) }
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    if owners.isEmpty { return [] }
    return try transaction.read(reader) { try $0.members(of: relationship, owners: owners) }
  }
}
