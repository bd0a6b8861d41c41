import CairnModel
import CairnPredicates
import CairnStore

/// A fetch as the context runs it: the entity found, values in range, FETCH expressions answered.
struct FetchPlan {
  /// What the stores are to find; the predicate as given, for evaluation in memory.
  private(set) var request: StoreFetchRequest
  let stores: [PersistentStore]?
  let includesPendingChanges: Bool
  let returnsFaults: Bool
  let refreshesObjects: Bool
  /// 0 when rows are read at once.
  let batchSize: Int
  let prefetching: [String]
  /// Whether the context's objects decide what is found and in which order: blocks and comparators
  /// are given objects, which stores do not have.
  let isDecidedByObjects: Bool

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
    isDecidedByObjects = Self.isDecidedByObjects(self.request)
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
    isDecidedByObjects = Self.isDecidedByObjects(request)
  }

  private static func isDecidedByObjects(_ request: StoreFetchRequest) -> Bool {
    request.predicate?.node.hasBlock ?? false
      || request.sortDescriptors.contains(where: \.hasCustomComparator)
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

  /// What the stores are asked when objects decide: for the rows that may be among the results.
  ///
  /// Comparators that compare nothing stand for those of the request, so that a store that has none
  /// refuses the fetch, and another one calls no closure of the program.
  func candidates() throws -> StoreFetchRequest {
    try KeyPathCheck.check(request)
    var candidates = unlimited(.snapshots)
    candidates.predicate = candidates.predicate.flatMap { predicate in
      let members = predicate.node.conjunction.filter { !$0.hasBlock }
      return members.isEmpty ? nil : ObjectPredicate.make(.compound(.and, members))
    }
    candidates.sortDescriptors = sortDescriptors.map { descriptor in
      guard descriptor.hasCustomComparator else { return descriptor }
      return ObjectSortDescriptor(key: descriptor.key, ascending: descriptor.ascending) { _, _ in
        .orderedSame
      }
    }
    return candidates
  }

  /// Those of the candidates that are results, in order, without offset and limit.
  ///
  /// - Parameter keepsChanged: Whether changed objects stay whatever they are, as an overlay tests
  ///   them.
  func decide(
    among candidates: [ManagedObject], keepsChanged: Bool
  ) throws -> [ManagedObject] {
    // Without a comparator the stores' order is the right one.
    let isOrdered = !sortDescriptors.contains(where: \.hasCustomComparator)
    let isBounded = isOrdered && !keepsChanged && request.limit > 0
    let (end, isBeyond) = request.offset.addingReportingOverflow(request.limit)
    let enough = isBounded && !isBeyond ? end : .max
    var found: [ManagedObject] = []
    for object in candidates where found.count < enough {
      let isFound =
        try keepsChanged && object.hasChanges ? true : predicate?.test(object) ?? true
      if isFound { found.append(object) }
    }
    return isOrdered ? found : try ObjectSorting.ordered(found, by: sortDescriptors) { $0 }
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

extension PredicateNode {
  /// Whether a closure of the program is somewhere in it.
  var hasBlock: Bool {
    !isPlain && findsBlock { _ = rewriting(predicates: $0, expressions: $1) }
  }

  /// What must all hold for it to hold.
  fileprivate var conjunction: [PredicateNode] {
    guard case .compound(.and, let members) = self else { return [self] }
    return members.flatMap(\.conjunction)
  }
}

extension ExpressionNode {
  /// Whether a closure of the program is somewhere in it.
  var hasBlock: Bool { findsBlock { _ = rewriting(predicates: $0, $1) } }
}

/// Blocks that only refuse, which stand for what nests too deep, are none of the program's.
///
/// - Parameter visit: Hands over all parts of a tree.
private func findsBlock(
  _ visit: ((PredicateNode) -> PredicateNode, (ExpressionNode) -> ExpressionNode) -> Void
) -> Bool {
  var found = false
  visit(
    { predicate in
      if case .block(let block) = predicate, block.refusal == nil { found = true }
      return predicate
    },
    { expression in
      if case .block(let block, _) = expression, block.refusal == nil { found = true }
      return expression
    })
  return found
}
