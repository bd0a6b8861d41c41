import CairnCoordinator
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
    return try reportingEvaluation {
      if request.resultType == .managedObjectResultType {
        let objects = try prefetched(try objects(plan), plan)
        // As a whole: element by element a cast counts one more reference of each.
        if T.self == ManagedObject.self, let typed = (objects as Any) as? [T] { return typed }
        return try typed(objects, request, plan)
      }
      return try typed(otherResults(of: request, plan), request, plan)
    }
  }

  /// The results of a type that is not objects.
  private func otherResults(of request: AnyFetchRequest, _ plan: FetchPlan) throws -> [Any] {
    switch request.resultType {
    case .managedObjectIDResultType: return try objectIDs(plan)
    case .countResultType: return [NSNumber(value: try count(plan))]
    default:
      let columns = try FetchColumns(request: request, entity: plan.entity)
      return try dictionaryRows(plan, columns).map(columns.dictionary(of:))
    }
  }

  private func typed<T>(
    _ results: [Any], _ request: AnyFetchRequest, _ plan: FetchPlan
  ) throws -> [T] {
    try results.map { result in
      if let typed = result as? T { return typed }
      throw CoreDataError(
        .coreData,
        "The fetch of \(plan.entity.name ?? "?") gives \(type(of: result)), not \(T.self). Check "
          + "the request's resultType, and that the class in the model is found: "
          + "\(T.self).registerClass(forEntityName:) (@_spi(Runtime)) makes sure.")
    }
  }

  /// How many results the request would have.
  func count(of request: AnyFetchRequest) throws -> Int {
    context.confinement.check()
    let plan = try plan(of: request)
    return try reportingEvaluation {
      guard request.resultType == .dictionaryResultType else { return try count(plan) }
      return try dictionaryRows(plan, FetchColumns(request: request, entity: plan.entity)).count
    }
  }

  /// How the request would run.
  func explain(_ request: AnyFetchRequest) throws -> FetchExplanation {
    context.confinement.check()
    let plan = try plan(of: request)
    let overlay = request.resultType == .dictionaryResultType ? nil : overlay(for: plan)
    let form: StoreFetchRequest.Result
    switch request.resultType {
    case .countResultType: form = overlay == nil ? .count : .objectIDs
    case .dictionaryResultType:
      form = .dictionaries(try FetchColumns(request: request, entity: plan.entity).storeColumns)
    default: form = plan.rowForm
    }
    guard let coordinator = context.persistentStoreCoordinator else { throw Self.noCoordinator }
    var explanation = try coordinator.explanation(
      of: overlay == nil ? plan.storeRequest(form) : plan.unlimited(form), in: plan.stores)
    explanation.pendingObjectCount = overlay?.count ?? 0
    explanation.batchSize = plan.batchSize
    if request.resultType == .managedObjectResultType {
      explanation.prefetchedKeyPaths = plan.prefetching
    }
    return explanation
  }

  static var noCoordinator: CoreDataError {
    CoreDataError(
      .coreData, "The context has no persistent store coordinator; set one before fetching.")
  }

  func plan(of request: AnyFetchRequest) throws -> FetchPlan {
    guard let coordinator = context.persistentStoreCoordinator else { throw Self.noCoordinator }
    let entity = try request.entity(in: coordinator.managedObjectModel)
    try FetchRules.check(request, entity: entity)
    return try FetchPlan(entity: entity, request: request, in: context)
  }

  /// What evaluation in memory refuses is an error of the request.
  private func reportingEvaluation<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PredicateEvaluationError {
      throw CoreDataError(
        .persistentStoreOperation, "The fetch cannot be evaluated: \(error.reason)",
        underlyingError: error)
    }
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
        objects.filter { !$0.isFault }.map { $0.row(under: $0.objectID) })
    case .dictionaries:
      return try read(plan.storeRequest(request.result), plan)
    }
  }

  // MARK: In two steps, for asynchronous fetches

  /// What a store is asked for a request; to be run anywhere, on any thread.
  func storeRequest(
    for plan: FetchPlan, _ request: AnyFetchRequest
  ) throws -> StoreFetchRequest {
    if request.resultType == .dictionaryResultType {
      let columns = try FetchColumns(request: request, entity: plan.entity)
      return plan.storeRequest(.dictionaries(columns.storeColumns))
    }
    let isCount = request.resultType == .countResultType
    guard overlay(for: plan) == nil else {
      return plan.unlimited(isCount ? .objectIDs : plan.rowForm)
    }
    return plan.storeRequest(isCount ? .count : plan.rowForm)
  }

  /// The results over what a store answered, with unsaved changes as they are now.
  func results<T>(
    of request: FetchRequest<T>, _ plan: FetchPlan, from answer: StoreFetchResult,
    isWindowed: Bool
  ) throws -> [T] {
    if let type = T.self as? ManagedObject.Type { ObjectClasses.learn(type) }
    return try reportingEvaluation {
      let overlay = request.resultType == .dictionaryResultType ? nil : overlay(for: plan)
      switch request.resultType {
      case .dictionaryResultType:
        guard case .dictionaries(let rows) = answer else { return [] }
        let columns = try FetchColumns(request: request, entity: plan.entity)
        return try typed(rows.map(columns.dictionary(of:)), request, plan)
      case .countResultType:
        var count = 0
        if case .count(let stored) = answer { count = stored }
        if case .objectIDs(let ids) = answer {
          count = plan.window(try overlay?.count(over: ids) ?? ids.count)
        }
        return try typed([NSNumber(value: count)], request, plan)
      default: break
      }
      var objects = objects(from: answer, plan)
      if let overlay { objects = try overlay.apply(to: objects) }
      if !isWindowed { objects = plan.window(objects) }
      if request.resultType == .managedObjectIDResultType {
        return try typed(objects.map(\.objectID), request, plan)
      }
      divide(objects, plan)
      return try typed(try prefetched(objects, plan), request, plan)
    }
  }

  // MARK: Forms

  private func objects(_ plan: FetchPlan) throws -> [ManagedObject] {
    let objects: [ManagedObject]
    if let overlay = overlay(for: plan) {
      let stored = try self.objects(of: plan.unlimited(plan.rowForm), plan)
      if plan.batchSize > 0 { divide(stored, plan) }
      objects = plan.window(try overlay.apply(to: stored))
    } else {
      objects = try self.objects(of: plan.storeRequest(plan.rowForm), plan)
    }
    divide(objects, plan)
    return objects
  }

  private func divide(_ objects: [ManagedObject], _ plan: FetchPlan) {
    FetchBatch.divide(objects, size: plan.batchSize, prefetching: plan.prefetching)
  }

  private func objectIDs(_ plan: FetchPlan) throws -> [ManagedObjectID] {
    guard let overlay = overlay(for: plan) else {
      // With property values wanted, the rows go to the coordinator's cache on the way. A store of
      // the program's own is asked for what is wanted.
      let speaksInObjects = context.persistentStoreCoordinator?.hasMembers ?? false
      switch try read(plan.storeRequest(speaksInObjects ? .objectIDs : plan.rowForm), plan) {
      case .objectIDs(let ids): return ids
      case .snapshots(let rows): return rows.map(\.objectID)
      case .count, .dictionaries: return []
      }
    }
    let stored = try objects(of: plan.unlimited(plan.rowForm), plan)
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

  private func dictionaryRows(
    _ plan: FetchPlan, _ columns: FetchColumns
  ) throws -> [[String: AttributeValue]] {
    let request = plan.storeRequest(.dictionaries(columns.storeColumns))
    guard case .dictionaries(let rows) = try read(request, plan) else { return [] }
    return rows
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
    guard let source = context.reading.source else { return .snapshots([]) }
    return try source.fetch(
      request, in: plan.stores, includingPending: plan.includesPendingChanges)
  }

  /// What the stores find, as objects of the context.
  private func objects(
    of request: StoreFetchRequest, _ plan: FetchPlan
  ) throws -> [ManagedObject] {
    guard let source = context.reading.source else { return [] }
    context.releaseAbandonedRows()
    var found = FetchedObjects(context: context, plan: plan)
    try source.fetch(
      request, in: plan.stores, includingPending: plan.includesPendingChanges
    ) { found.take($0) }
    found.finish()
    return found.objects
  }

  /// What a store has found, as objects of the context.
  private func objects(from answer: StoreFetchResult, _ plan: FetchPlan) -> [ManagedObject] {
    context.releaseAbandonedRows()
    var found = FetchedObjects(context: context, plan: plan)
    let held = answer.rowIDs(marked: found.take(answer))
    if !held.isEmpty { context.reading.source?.retainRows(held) }
    found.finish()
    return found.objects
  }

  /// The objects with their relationships read along, unless that waits for their batches.
  private func prefetched(
    _ objects: [ManagedObject], _ plan: FetchPlan
  ) throws -> [ManagedObject] {
    if plan.batchSize == 0, !plan.prefetching.isEmpty, !objects.isEmpty {
      try RelationshipPrefetching(context: context).prefetch(plan.prefetching, of: objects)
    }
    return objects
  }
}

extension ManagedObjectContext {
  /// How a fetch request would run: the SQL of each store, the indexes it uses, and what is left
  /// for memory.
  ///
  /// Nothing is fetched. For a child context the answer is that of its root, which asks the
  /// stores.
  ///
  /// - Throws: What ``fetch(_:)`` would throw before it reads a row.
  package func explanation(of request: AnyFetchRequest) throws -> FetchExplanation {
    try CoreDataError.bridging { try FetchExecution(context: self).explain(request) }
  }
}
