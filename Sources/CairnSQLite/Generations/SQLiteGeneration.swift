import CairnModel
import CairnStore
import Foundation

/// What contexts hold of a transaction: when none holds it any more, the transaction ends.
final class SQLiteGeneration: StoreGeneration {
  private let transaction: HeldTransaction
  private let reader: RowReader
  /// Tells which of some files the store names now.
  private let named: @Sendable (Set<String>) throws -> Set<String>
  private let release: @Sendable (HeldTransaction) -> Void

  init(
    _ transaction: HeldTransaction, reader: RowReader,
    named: @escaping @Sendable (Set<String>) throws -> Set<String>,
    release: @escaping @Sendable (HeldTransaction) -> Void
  ) {
    self.transaction = transaction
    self.reader = reader
    self.named = named
    self.release = release
  }

  deinit { release(transaction) }

  var isReadable: Bool { transaction.isOpen }

  func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try SQLiteStore.fetch(request, schema: reader.schema, store: reader.identity) { _, body in
      try read(body)
    }
  }

  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    if objectIDs.isEmpty { return [] }
    return try read { try $0.snapshots(for: objectIDs) }
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    if owners.isEmpty { return [] }
    return try read { try $0.members(of: relationship, owners: owners) }
  }

  /// Executes a read of the generation.
  ///
  /// The store keeps files that the generation names; other programs and other coordinators do not
  /// know of it and remove theirs. Without one of them the generation is not what it was.
  private func read<T>(_ body: (RowLookup) throws -> T) throws -> T {
    do {
      return try transaction.read(reader, lost: [], body)
    } catch let missing as MissingFiles {
      guard try named(missing.names) == missing.names else {
        transaction.giveUp("a large value of it was replaced by another program and is gone")
        throw transaction.givenUp
      }
      return try transaction.read(reader, lost: missing.names, body)
    }
  }
}
