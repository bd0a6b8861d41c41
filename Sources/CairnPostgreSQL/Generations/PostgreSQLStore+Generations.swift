import CairnModel
import CairnStore
import Foundation

// Query generations: reads of one state of the store, while others write.

extension PostgreSQLStore: GenerationKeeping {
  package func currentGeneration(
    lasting lifetime: GenerationLifetime
  ) throws -> (any StoreGeneration)? {
    let state = try openState()
    let age: TimeInterval? =
      switch lifetime {
      case .asConfigured: configuration.options.queryGenerationMaximumAge
      case .untilReleased: nil
      }
    do {
      let snapshot = try HeldSnapshot(
        state.pool.separateConnection(), of: state.place.schema, version: state.known.version,
        place: state.place.description, age: age)
      noteGeneration(snapshot)
      return PostgreSQLGeneration(snapshot, content: state.content, store: identity)
    } catch let change as StoreChange {
      _ = try take(change, of: state)
      return nil
    } catch let failure as PostgreSQLFailure {
      throw located(failure.error("read rows of", state.place.description))
    }
  }
}

/// The generations that contexts hold, so that they end with the store.
struct PostgreSQLGenerations {
  private struct Reference {
    weak var snapshot: HeldSnapshot?
  }
  private var references: [Reference] = []

  mutating func add(_ snapshot: HeldSnapshot) {
    references.removeAll { $0.snapshot == nil }
    references.append(Reference(snapshot: snapshot))
  }

  /// Empties the list.
  mutating func removeAll() -> [HeldSnapshot] {
    defer { references = [] }
    return references.compactMap(\.snapshot)
  }
}

/// What contexts hold of a snapshot: it ends when no context holds it any more.
final class PostgreSQLGeneration: StoreGeneration {
  private let snapshot: HeldSnapshot
  private let content: StoreContent
  private let store: StoreIdentity

  init(_ snapshot: HeldSnapshot, content: StoreContent, store: StoreIdentity) {
    self.snapshot = snapshot
    self.content = content
    self.store = store
  }

  var isReadable: Bool { snapshot.isOpen }

  func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try snapshot.read { connection in
      try PostgreSQLFetch(request, content: content, store: store, connection: connection).run()
    }
  }

  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    if objectIDs.isEmpty { return [] }
    return try snapshot.read { connection in
      try PostgreSQLRowReading(content: content, connection: connection).snapshots(for: objectIDs)
    }
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    if owners.isEmpty { return [] }
    return try snapshot.read { connection in
      try PostgreSQLRowReading(content: content, connection: connection).members(
        of: relationship, owners: owners)
    }
  }
}
