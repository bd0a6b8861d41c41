import CairnModel
import CairnPredicates
import CairnStore

/// A fetch as the context runs it: the entity found, values in range, FETCH expressions answered.
struct FetchPlan {
  /// What the stores are to find; the predicate as given, for evaluation in memory.
  private var request: StoreFetchRequest
  let stores: [PersistentStore]?
  let includesPendingChanges: Bool
  let returnsFaults: Bool
  let refreshesObjects: Bool
  /// 0 when rows are read at once.
  let batchSize: Int
  let prefetching: [String]

  init(
    entity: EntityDescription, request: AnyFetchRequest, in context: ManagedObjectContext
  ) throws {
    stores = request.affectedStores
    includesPendingChanges = request.includesPendingChanges
    returnsFaults = request.returnsObjectsAsFaults
    refreshesObjects = request.shouldRefreshRefetchedObjects
    prefetching = request.relationshipKeyPathsForPrefetching ?? []
    let limit = max(request.fetchLimit, 0)
    let size = max(request.fetchBatchSize, 0)
    batchSize =
      request.includesPropertyValues && request.resultType == .managedObjectResultType
        && (limit == 0 || size < limit) ? size : 0
    self.request = StoreFetchRequest(
      entity: entity, includesSubentities: request.includesSubentities,
      predicate: try request.predicate.map {
        try FetchExpressions.answering(in: $0, context: context)
      }, sortDescriptors: request.sortDescriptors ?? [], limit: limit,
      offset: max(request.fetchOffset, 0),
      result: request.includesPropertyValues && batchSize == 0 ? .snapshots : .objectIDs)
    self.request.place = request.place
  }

  /// What a child context asks.
  init(_ request: StoreFetchRequest, stores: [PersistentStore]?, includesPendingChanges: Bool) {
    self.request = request
    if case .objectIDs = request.result {} else { self.request.result = .snapshots }
    self.stores = stores
    self.includesPendingChanges = includesPendingChanges
    returnsFaults = true
    refreshesObjects = false
    batchSize = 0
    prefetching = []
  }

  var entity: EntityDescription { request.entity }
  var includesSubentities: Bool { request.includesSubentities }
  var predicate: ObjectPredicate? { request.predicate }
  var sortDescriptors: [ObjectSortDescriptor] { request.sortDescriptors }
  /// Whether rows or only IDs are read for objects.
  var rowForm: StoreFetchRequest.Result { request.result }
  var monitor: FetchMonitor? {
    get { request.monitor }
    set { request.monitor = newValue }
  }

  func storeRequest(_ result: StoreFetchRequest.Result) -> StoreFetchRequest {
    var request = request
    request.result = result
    request.predicate = request.predicate?.resolvingObjects()
    return request
  }

  func unlimited(_ result: StoreFetchRequest.Result) -> StoreFetchRequest {
    var request = storeRequest(result)
    request.limit = 0
    request.offset = 0
    return request
  }

  func window(_ objects: [ManagedObject]) -> [ManagedObject] {
    if request.limit == 0, request.offset == 0 { return objects }
    let rest = objects.dropFirst(request.offset)
    return Array(request.limit > 0 ? rest.prefix(request.limit) : rest)
  }

  func window(_ count: Int) -> Int {
    let rest = max(0, count - request.offset)
    return request.limit > 0 ? min(request.limit, rest) : rest
  }
}
