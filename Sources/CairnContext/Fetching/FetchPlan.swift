import CairnModel
import CairnStore

/// A fetch as the context runs it: the entity found, values in range, FETCH expressions answered.
struct FetchPlan {
  let entity: EntityDescription
  let includesSubentities: Bool
  /// As given, for evaluation in memory.
  let predicate: ObjectPredicate?
  let sortDescriptors: [ObjectSortDescriptor]
  let limit: Int
  let offset: Int
  let place: StoreFetchRequest.Place?
  let stores: [PersistentStore]?
  var includesPendingChanges: Bool
  let returnsFaults: Bool
  let refreshesObjects: Bool
  let rowForm: StoreFetchRequest.Result
  /// 0 when rows are read at once.
  let batchSize: Int
  let prefetching: [String]
  var monitor: FetchMonitor?

  init(
    entity: EntityDescription, request: AnyFetchRequest, in context: ManagedObjectContext
  ) throws {
    self.entity = entity
    includesSubentities = request.includesSubentities
    predicate = try request.predicate.map {
      try FetchExpressions.answering(in: $0, context: context)
    }
    sortDescriptors = request.sortDescriptors ?? []
    limit = max(request.fetchLimit, 0)
    offset = max(request.fetchOffset, 0)
    place = request.place
    stores = request.affectedStores
    includesPendingChanges = request.includesPendingChanges
    returnsFaults = request.returnsObjectsAsFaults
    refreshesObjects = request.shouldRefreshRefetchedObjects
    prefetching = request.relationshipKeyPathsForPrefetching ?? []
    let size = max(request.fetchBatchSize, 0)
    batchSize =
      request.includesPropertyValues && request.resultType == .managedObjectResultType
        && (limit == 0 || size < limit) ? size : 0
    rowForm = request.includesPropertyValues && batchSize == 0 ? .snapshots : .objectIDs
  }

  init(_ request: StoreFetchRequest, stores: [PersistentStore]?) {
    entity = request.entity
    includesSubentities = request.includesSubentities
    predicate = request.predicate
    sortDescriptors = request.sortDescriptors
    limit = request.limit
    offset = request.offset
    place = request.place
    self.stores = stores
    includesPendingChanges = true
    returnsFaults = true
    refreshesObjects = false
    if case .objectIDs = request.result { rowForm = .objectIDs } else { rowForm = .snapshots }
    batchSize = 0
    prefetching = []
    monitor = request.monitor
  }

  func storeRequest(_ result: StoreFetchRequest.Result) -> StoreFetchRequest {
    var request = StoreFetchRequest(
      entity: entity, includesSubentities: includesSubentities,
      predicate: predicate?.resolvingObjects(), sortDescriptors: sortDescriptors, limit: limit,
      offset: offset, result: result)
    request.place = place
    request.monitor = monitor
    return request
  }

  func unlimited(_ result: StoreFetchRequest.Result) -> StoreFetchRequest {
    var request = storeRequest(result)
    request.limit = 0
    request.offset = 0
    return request
  }

  func window(_ objects: [ManagedObject]) -> [ManagedObject] {
    if limit == 0, offset == 0 { return objects }
    let rest = objects.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }

  func window(_ count: Int) -> Int {
    let rest = max(0, count - offset)
    return limit > 0 ? min(limit, rest) : rest
  }
}
