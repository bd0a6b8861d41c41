import CairnModel
import CairnStore
import Foundation

/// One fetch over several stores: each is asked for as much as could be in the result, then the
/// union is sorted, and offset and limit are applied to it.
struct ResultMerging {
  typealias StoreFetch = (StoreFetchRequest) throws -> StoreFetchResult
  let request: StoreFetchRequest
  let source: CoordinatorSnapshots

  /// The merged result; an empty one without stores.
  func run(_ fetches: [StoreFetch]) throws -> StoreFetchResult {
    switch request.result {
    case .count:
      return .count(window(try fetches.reduce(0) { try $0 + count($1) }))
    case .snapshots:
      return .snapshots(try snapshots(fetches))
    case .objectIDs:
      if request.sortDescriptors.isEmpty {
        let ids = try fetches.flatMap { fetch -> [ManagedObjectID] in
          guard case .objectIDs(let ids) = try fetch(part) else { return [] }
          return ids
        }
        return .objectIDs(Array(window(ids)))
      }
      return .objectIDs(try snapshots(fetches).map(\.objectID))
    case .dictionaries:
      // Groups and aggregates go across stores, so they are made from the rows of all.
      if fetches.isEmpty { return .dictionaries([]) }
      let rows = try fetches.flatMap { try snapshots(of: $0) }
      var shape = request
      shape.predicate = nil
      return try query(shape, over: rows)
    }
  }

  private func snapshots(_ fetches: [StoreFetch]) throws -> [RowSnapshot] {
    let rows = try fetches.flatMap { try snapshots(of: $0) }
    var rest = request
    rest.predicate = nil
    rest.result = .snapshots
    guard case .snapshots(let merged) = try query(rest, over: rows) else { return [] }
    return merged
  }

  /// Sorts and cuts rows in memory.
  private func query(
    _ request: StoreFetchRequest, over rows: [RowSnapshot]
  ) throws -> StoreFetchResult {
    var request = request
    // The stores told it of these rows already.
    request.monitor = nil
    let result = try SnapshotQuery(request, source: source).run(over: rows)
    // Views cannot throw while a key is read: a store's error is kept and thrown here.
    if let error = source.error { throw error }
    return result
  }

  private func snapshots(of fetch: StoreFetch) throws -> [RowSnapshot] {
    switch try fetch(part) {
    case .snapshots(let rows): return rows
    case .objectIDs(let ids): return try source.rows(for: ids)
    case .count, .dictionaries: return []
    }
  }

  private func count(_ fetch: StoreFetch) throws -> Int {
    guard case .count(let count) = try fetch(part) else { return 0 }
    return count
  }

  private var part: StoreFetchRequest { Self.storePart(of: request) }

  /// What one store of several is asked: from its beginning, as much as the union could need.
  static func storePart(of request: StoreFetchRequest) -> StoreFetchRequest {
    var part = request
    part.offset = 0
    switch request.result {
    case .count: part.limit = 0
    case .dictionaries:
      part.result = .snapshots
      part.limit = 0
      part.sortDescriptors = []
    case .snapshots, .objectIDs:
      part.limit = request.limit > 0 ? request.limit + max(request.offset, 0) : 0
      if case .objectIDs = request.result, !request.sortDescriptors.isEmpty {
        part.result = .snapshots
      }
    }
    return part
  }

  private func window<Row>(_ rows: [Row]) -> ArraySlice<Row> {
    let rest = rows.dropFirst(max(request.offset, 0))
    return request.limit > 0 ? rest.prefix(request.limit) : rest
  }

  private func window(_ count: Int) -> Int {
    let rest = max(count - max(request.offset, 0), 0)
    return request.limit > 0 ? min(rest, request.limit) : rest
  }
}

/// Rows and members for sort keys that lead through relationships, read through the coordinator.
///
/// Used by one fetch on one thread.
final class CoordinatorSnapshots: SnapshotSource {
  private let coordinator: PersistentStoreCoordinator
  private let generation: QueryGenerationToken?
  /// The first error of a store.
  private(set) var error: (any Error)?

  init(coordinator: PersistentStoreCoordinator, generation: QueryGenerationToken? = nil) {
    self.coordinator = coordinator
    self.generation = generation
  }

  /// The rows of objects that a store has found; those that have gone meanwhile are left out.
  func rows(for ids: [ManagedObjectID]) throws -> [RowSnapshot] {
    try coordinator.snapshots(for: ids).compactMap(\.self)
  }

  func snapshot(for id: ManagedObjectID) -> RowSnapshot? {
    do {
      return try coordinator.snapshots(for: [id], at: generation).first ?? nil
    } catch {
      self.error = self.error ?? error
      return nil
    }
  }

  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    do {
      return try coordinator.members(of: relationship, owners: [owner], at: generation).first ?? []
    } catch {
      self.error = self.error ?? error
      return []
    }
  }
}
