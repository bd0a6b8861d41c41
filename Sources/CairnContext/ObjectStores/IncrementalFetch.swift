import CairnModel
import CairnStore
import Foundation

/// A fetch for an incremental store: the request as Core Data hands it over, and the answer as
/// values.
struct IncrementalFetch {
  let store: IncrementalStore
  let context: ManagedObjectContext

  func run(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    let fetch = fetchRequest(for: request)
    let answer: Any
    do {
      answer = try store.execute(fetch, with: context)
    } catch {
      let code = CoreDataError.Code.persistentStoreUnsupportedRequestType.rawValue
      guard case .dictionaries = request.result, (error as NSError).code == code else {
        throw error
      }
      return try dictionariesInMemory(request)
    }
    switch request.result {
    case .snapshots, .objectIDs:
      if let list = answer as? [Any] {
        let ids = PropertyValues.objectIDs(in: list)
        if ids.count == list.count { return .objectIDs(ids) }
      }
    case .count:
      if let number = (answer as? [Any])?.first as? NSNumber ?? answer as? NSNumber {
        return .count(number.intValue)
      }
    case .dictionaries:
      if let rows = answer as? [[String: Any]] {
        return .dictionaries(
          try rows.map { row in
            try row.mapValues(PropertyValues.attributeValue(of:)).filter { !$0.value.isNull }
          })
      }
    }
    throw CoreDataError(
      .persistentStoreOperation,
      "\(type(of: store)).execute(_:with:) answered a fetch of \(request.entity.name ?? "?") with a "
        + "\(type(of: answer)), which does not suit the request's resultType.")
  }

  /// The fetch request of an object's world.
  private func fetchRequest(for request: StoreFetchRequest) -> FetchRequest<any FetchRequestResult>
  {
    let fetch = FetchRequest<any FetchRequestResult>()
    fetch.entity = request.entity
    fetch.includesSubentities = request.includesSubentities
    fetch.predicate = request.predicate
    fetch.sortDescriptors = request.sortDescriptors.isEmpty ? nil : request.sortDescriptors
    fetch.fetchLimit = request.limit
    fetch.fetchOffset = request.offset
    fetch.affectedStores = [store]
    switch request.result {
    case .snapshots: fetch.resultType = .managedObjectResultType
    case .objectIDs: fetch.resultType = .managedObjectIDResultType
    case .count: fetch.resultType = .countResultType
    case .dictionaries(let columns):
      fetch.resultType = .dictionaryResultType
      fetch.propertiesToFetch = columns.columns.map { property(for: $0, of: request.entity) }
      fetch.propertiesToGroupBy =
        columns.groupBy.isEmpty ? nil : columns.groupBy.map { "\($0)" as Any }
      fetch.havingPredicate = columns.having
      fetch.returnsDistinctResults = columns.distinct
    }
    return fetch
  }

  private func property(
    for column: StoreFetchRequest.DictionaryColumns.Column, of entity: EntityDescription
  ) -> Any {
    if let property = entity.propertiesByName[column.key], "\(column.expression)" == column.key {
      return property
    }
    let description = ExpressionDescription()
    description.name = column.key
    description.expression = column.expression
    description.expressionResultType = column.type
    return description
  }

  /// Dictionaries of a store that makes none: from the rows of its objects.
  private func dictionariesInMemory(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    var all = request
    all.result = .objectIDs
    all.sortDescriptors = []
    all.limit = 0
    all.offset = 0
    guard case .objectIDs(let ids) = try run(all) else { return .dictionaries([]) }
    var rest = request
    rest.predicate = nil
    let source = StoreSnapshots(store: store)
    let result = try SnapshotQuery(rest, source: source).run(
      over: try store.snapshots(for: ids).compactMap(\.self))
    if let error = source.error { throw error }
    return result
  }
}

/// Rows and members for key paths that lead through relationships, read from one store.
///
/// Used by one fetch on one thread.
final class StoreSnapshots: SnapshotSource {
  private let store: PersistentStore
  /// The first error of the store; views cannot throw while a key is read.
  private(set) var error: (any Error)?

  init(store: PersistentStore) { self.store = store }

  func snapshot(for id: ManagedObjectID) -> RowSnapshot? {
    do {
      return try store.snapshots(for: [id])[0]
    } catch {
      self.error = self.error ?? error
      return nil
    }
  }

  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    do {
      return try store.members(of: relationship, owners: [owner])[0]
    } catch {
      self.error = self.error ?? error
      return []
    }
  }
}
