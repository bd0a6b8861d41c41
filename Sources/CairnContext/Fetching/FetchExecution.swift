import CairnModel
import CairnStore
import Foundation

/// Runs fetches: stores first, then unsaved changes on top.
struct FetchExecution {
  let context: ManagedObjectContext

  // MARK: From requests

  func results<T>(of request: FetchRequest<T>) throws -> [T] {
    context.confinement.check()
    if let type = T.self as? ManagedObject.Type { ObjectClasses.learn(type) }
    let plan = try plan(of: request)
    let results: [Any]
    switch request.resultType {
    case .managedObjectIDResultType: results = try objectIDs(plan)
    case .countResultType: results = [NSNumber(value: try count(plan))]
    case .dictionaryResultType:
      results = try dictionaries(plan, columns: try FetchColumns(request: request, plan: plan))
    default:
      let objects = try objects(plan)
      try prefetch(request.relationshipKeyPathsForPrefetching ?? [], of: objects)
      if T.self == ManagedObject.self, let typed = objects as? [T] { return typed }
      results = objects
    }
    return try results.map { result in
      if let typed = result as? T { return typed }
      throw CoreDataError(
        .coreData,
        "The fetch of \(plan.entity.name ?? "?") gives \(type(of: result)), not \(T.self). Check "
          + "the request's resultType, and that the class in the model is found: "
          + "\(T.self).registerClass(forEntityName:) makes sure.")
    }
  }

  func count(of request: AnyFetchRequest) throws -> Int {
    context.confinement.check()
    return try count(plan(of: request))
  }

  private func plan(of request: AnyFetchRequest) throws -> FetchPlan {
    guard let coordinator = context.persistentStoreCoordinator else {
      throw CoreDataError(
        .coreData, "The context has no persistent store coordinator; set one before fetching.")
    }
    return FetchPlan(
      entity: try request.entity(in: coordinator.managedObjectModel), request: request)
  }

  // MARK: For a child context

  /// Runs a fetch for a child: its rows are the objects here as they are now.
  func run(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includesPendingChanges: Bool
  ) throws -> StoreFetchResult {
    var plan = FetchPlan(request, stores: stores)
    plan.includesPendingChanges = includesPendingChanges
    switch request.result {
    case .count: return .count(try count(plan))
    case .objectIDs: return .objectIDs(try objectIDs(plan))
    case .snapshots:
      let objects = try objects(plan)
      try FaultFiring.fill(objects)
      return .snapshots(
        objects.filter { !$0.isFault }.map { ParentRows.row(of: $0, under: $0.objectID) })
    case .dictionaries:
      return try read(plan.storeRequest(request.result), plan)
    }
  }

  // MARK: Forms

  private func objects(_ plan: FetchPlan) throws -> [ManagedObject] {
    guard let overlay = overlay(for: plan) else {
      return try storedObjects(plan.storeRequest(plan.rowForm), plan)
    }
    let stored = try storedObjects(plan.unlimited(plan.rowForm), plan)
    return plan.window(try overlay.apply(to: stored))
  }

  private func objectIDs(_ plan: FetchPlan) throws -> [ManagedObjectID] {
    guard let overlay = overlay(for: plan) else {
      guard case .objectIDs(let ids) = try read(plan.storeRequest(.objectIDs), plan) else {
        return []
      }
      return ids
    }
    let stored = try storedObjects(plan.unlimited(plan.rowForm), plan)
    return plan.window(try overlay.apply(to: stored)).map(\.objectID)
  }

  private func count(_ plan: FetchPlan) throws -> Int {
    guard let overlay = overlay(for: plan) else {
      guard case .count(let count) = try read(plan.storeRequest(.count), plan) else { return 0 }
      return count
    }
    guard case .objectIDs(let ids) = try read(plan.unlimited(.objectIDs), plan) else { return 0 }
    return plan.window(try overlay.count(over: ids))
  }

  private func dictionaries(
    _ plan: FetchPlan, columns: FetchColumns
  ) throws -> [NSDictionary] {
    let request = plan.storeRequest(.dictionaries(columns.storeColumns))
    guard case .dictionaries(let rows) = try read(request, plan) else { return [] }
    return rows.map { row in
      let dictionary = NSMutableDictionary(capacity: row.count)
      for (key, value) in row {
        if let value = AttributeCoding.decode(value, for: columns.attributes[key]) {
          dictionary[key] = value
        }
      }
      return dictionary
    }
  }

  // MARK: Reading

  private func overlay(for plan: FetchPlan) -> PendingChangesOverlay? {
    guard plan.includesPendingChanges else { return nil }
    context.processPendingChanges()
    return PendingChangesOverlay(context: context, plan: plan)
  }

  private func read(
    _ request: StoreFetchRequest, _ plan: FetchPlan
  ) throws -> StoreFetchResult {
    guard let source = context.rowSource else { return .snapshots([]) }
    return try source.fetch(
      request, in: plan.stores, includingPending: plan.includesPendingChanges)
  }

  /// The store's matches as objects of the context.
  private func storedObjects(
    _ request: StoreFetchRequest, _ plan: FetchPlan
  ) throws -> [ManagedObject] {
    context.releaseAbandonedRows()
    let lookup = ObjectLookup(context: context)
    switch try read(request, plan) {
    case .objectIDs(let ids): return ids.map { lookup.object(found: $0) }
    case .count, .dictionaries: return []
    case .snapshots(let rows):
      var objects: [ManagedObject] = []
      objects.reserveCapacity(rows.count)
      var held: [ManagedObjectID] = []
      for row in rows {
        let (object, isNew) = lookup.object(for: row)
        objects.append(object)
        if isNew {
          object.flags.insert(.retainsRow)
          held.append(row.objectID)
        } else if object.isFault {
          object.snapshot = row
        } else if plan.refreshesObjects, !object.hasChanges {
          ObjectRefreshing(context: context).rebase(object, onto: row)
        }
        if !plan.returnsFaults, object.isFault { FaultFiring.become(object, row) }
      }
      if !held.isEmpty { context.rowSource?.retainRows(held) }
      return objects
    }
  }

  private func prefetch(_ keyPaths: [String], of objects: [ManagedObject]) throws {
    if keyPaths.isEmpty || objects.isEmpty { return }
    try RelationshipPrefetching(context: context).prefetch(keyPaths, of: objects)
  }
}

/// A fetch as the context runs it: the entity found, the predicate free of live objects.
struct FetchPlan {
  let entity: EntityDescription
  let includesSubentities: Bool
  /// As given, for evaluation in memory.
  let predicate: ObjectPredicate?
  let sortDescriptors: [ObjectSortDescriptor]
  let limit: Int
  let offset: Int
  let stores: [PersistentStore]?
  var includesPendingChanges: Bool
  let returnsFaults: Bool
  let refreshesObjects: Bool
  let rowForm: StoreFetchRequest.Result

  init(entity: EntityDescription, request: AnyFetchRequest) {
    self.entity = entity
    includesSubentities = request.includesSubentities
    predicate = request.predicate
    sortDescriptors = request.sortDescriptors ?? []
    limit = max(request.fetchLimit, 0)
    offset = max(request.fetchOffset, 0)
    stores = request.affectedStores
    includesPendingChanges = request.includesPendingChanges
    returnsFaults = request.returnsObjectsAsFaults
    refreshesObjects = request.shouldRefreshRefetchedObjects
    rowForm = request.includesPropertyValues ? .snapshots : .objectIDs
  }

  init(_ request: StoreFetchRequest, stores: [PersistentStore]?) {
    entity = request.entity
    includesSubentities = request.includesSubentities
    predicate = request.predicate
    sortDescriptors = request.sortDescriptors
    limit = request.limit
    offset = request.offset
    self.stores = stores
    includesPendingChanges = true
    returnsFaults = true
    refreshesObjects = false
    rowForm = .snapshots
  }

  func storeRequest(_ result: StoreFetchRequest.Result) -> StoreFetchRequest {
    StoreFetchRequest(
      entity: entity, includesSubentities: includesSubentities,
      predicate: predicate?.resolvingObjects(), sortDescriptors: sortDescriptors, limit: limit,
      offset: offset, result: result)
  }

  func unlimited(_ result: StoreFetchRequest.Result) -> StoreFetchRequest {
    var request = storeRequest(result)
    request.limit = 0
    request.offset = 0
    return request
  }

  func window(_ objects: [ManagedObject]) -> [ManagedObject] {
    let rest = objects.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }

  func window(_ count: Int) -> Int {
    let rest = max(0, count - offset)
    return limit > 0 ? min(limit, rest) : rest
  }
}
