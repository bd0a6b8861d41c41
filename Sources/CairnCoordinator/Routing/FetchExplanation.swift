import CairnModel
import CairnStore

/// How a fetch runs: what each store is asked, and what is done with the answers afterwards.
///
/// Made by ``PersistentStoreCoordinator/explain(_:in:)`` and by a context's `explain(_:)`. Its
/// ``description`` is for people; what it says may change with any version of Cairn or SQLite.
public struct FetchExplanation: Sendable, CustomStringConvertible {
  public let entityName: String
  /// The stores that are asked, in order.
  public let stores: [StoreFetchExplanation]
  /// Whether the results of several stores are put together, sorted and cut in memory.
  public var mergesStores: Bool { stores.count > 1 }
  /// How many unsaved objects of a context are tested against the predicate in memory.
  public var pendingObjectCount = 0
  /// The size of the batches in which rows are read when they are first used; 0 for at once.
  public var batchSize = 0
  /// Relationships that are read along.
  public var prefetchedKeyPaths: [String] = []

  /// Whether the databases of the stores do all the work.
  public var isCompleteInDatabase: Bool {
    pendingObjectCount == 0 && !mergesStores && stores.allSatisfy(\.isCompleteInDatabase)
  }

  /// Several lines for people.
  public var description: String {
    var lines = ["fetch of \(entityName) from \(stores.count) store(s)"]
    lines += stores.map(\.description)
    if mergesStores { lines.append("the stores' results are merged in memory") }
    if pendingObjectCount > 0 {
      lines.append("\(pendingObjectCount) unsaved object(s) are tested in memory")
    }
    if batchSize > 0 { lines.append("rows are read in batches of \(batchSize)") }
    if !prefetchedKeyPaths.isEmpty {
      lines.append("prefetched: " + prefetchedKeyPaths.joined(separator: ", "))
    }
    return lines.joined(separator: "\n")
  }
}

extension PersistentStoreCoordinator {
  /// How a fetch would run over the stores that hold the entity, or over those of `stores`.
  ///
  /// - Throws: What the fetch itself would throw before it reads a row: 134060 for a key path that
  ///   leads nowhere, for example.
  package func explanation(
    of request: StoreFetchRequest, in stores: [PersistentStore]? = nil
  ) throws -> FetchExplanation {
    let targets = routing.stores(
      holding: request.entity, includesSubentities: request.includesSubentities,
      restriction: stores)
    var part = request
    if targets.count > 1 { part = ResultMerging.storePart(of: request) }
    return FetchExplanation(
      entityName: request.entity.name ?? "",
      stores: try targets.map { store in
        if let explaining = store.capabilities.explanations { return try explaining.explain(part) }
        try KeyPathCheck.check(part)
        return StoreFetchExplanation(
          inMemory: part, type: store.type, identifier: store.identity.identifier)
      })
  }
}
