import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Runs fetches: stores first, then unsaved changes on top.
///
/// A fetch has two steps. A ``FetchQuestion`` is put together on the context's queue; the results are
/// made there of its ``FetchAnswer``. An asynchronous fetch reads on another thread between the two,
/// every other one reads in the second.
struct FetchExecution {
  let context: ManagedObjectContext

  // MARK: From requests

  func results<T>(of request: FetchRequest<T>) throws -> [T] {
    context.confinement.check()
    if let type = T.self as? ManagedObject.Type { ObjectClasses.learn(type) }
    let plan = try plan(of: request)
    return try reportingEvaluation {
      let question = try question(of: request, plan)
      return try results(of: request, plan, question, answer(to: question, plan))
    }
  }

  /// How many results the request would have.
  func count(of request: AnyFetchRequest) throws -> Int {
    context.confinement.check()
    let plan = try plan(of: request)
    return try reportingEvaluation {
      guard request.resultType == .dictionaryResultType else { return try count(plan) }
      let columns = try FetchColumns(request: request, entity: plan.entity)
      let question = try question(of: plan, .dictionaries(columns))
      return try Self.rows(in: answer(to: question, plan)).count
    }
  }

  /// How the request would run.
  func explain(_ request: AnyFetchRequest) throws -> FetchExplanation {
    context.confinement.check()
    let plan = try plan(of: request)
    let question = try question(of: request, plan)
    guard let coordinator = context.persistentStoreCoordinator else { throw Self.noCoordinator }
    // What objects decide is no less in memory than what the store leaves to its evaluator.
    let asked = plan.isDecidedByObjects ? plan.request : question.request
    var explanation = try coordinator.explanation(of: asked, in: plan.stores)
    explanation.pendingObjectCount = question.overlay?.count ?? 0
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
    let plan = FetchPlan(request, stores: stores, includesPendingChanges: includesPendingChanges)
    switch request.result {
    case .count: return .count(try count(plan))
    case .objectIDs:
      let question = try question(of: plan, .objectIDs)
      return .objectIDs(try objectIDs(plan, question, answer(to: question, plan)))
    case .snapshots:
      let question = try question(of: plan, .objects)
      let objects = try objects(plan, question, answer(to: question, plan))
      try FaultFiring.fill(objects)
      return .snapshots(
        objects.filter { !$0.isFault }.map { $0.row(under: $0.objectID) })
    case .dictionaries:
      let question = FetchQuestion(
        request: plan.storeRequest(request.result), columns: nil, overlay: nil, isWindowed: true)
      return try answer(to: question, plan).whole()
    }
  }

  // MARK: The question

  /// What the stores are asked for a request.
  func question(of request: AnyFetchRequest, _ plan: FetchPlan) throws -> FetchQuestion {
    switch request.resultType {
    case .dictionaryResultType:
      return try question(
        of: plan, .dictionaries(FetchColumns(request: request, entity: plan.entity)))
    case .countResultType: return try question(of: plan, .count)
    case .managedObjectIDResultType: return try question(of: plan, .objectIDs)
    default: return try question(of: plan, .objects)
    }
  }

  private func question(of plan: FetchPlan, _ form: FetchForm) throws -> FetchQuestion {
    if plan.isDecidedByObjects, !form.isDictionaries {
      return FetchQuestion(
        request: try plan.candidates(), columns: nil, overlay: overlay(for: plan),
        isWindowed: false)
    }
    var overlay: PendingChangesOverlay?
    var columns: FetchColumns?
    let result: StoreFetchRequest.Result
    switch form {
    case .dictionaries(let wanted):
      columns = wanted
      result = .dictionaries(wanted.storeColumns)
    case .count:
      overlay = self.overlay(for: plan)
      result = overlay == nil ? .count : .objectIDs
    case .objectIDs:
      overlay = self.overlay(for: plan)
      // With property values wanted, the rows go to the coordinator's cache on the way. A store of
      // the program's own is asked for what is wanted.
      let speaksInObjects = context.persistentStoreCoordinator?.hasMembers ?? false
      result = overlay == nil && speaksInObjects ? .objectIDs : plan.rowForm
    case .objects:
      overlay = self.overlay(for: plan)
      result = plan.rowForm
    }
    return FetchQuestion(
      request: overlay == nil ? plan.storeRequest(result) : plan.unlimited(result),
      columns: columns, overlay: overlay, isWindowed: overlay == nil)
  }

  /// The unsaved changes that concern the fetch, if there are any.
  func overlay(for plan: FetchPlan) -> PendingChangesOverlay? {
    guard plan.includesPendingChanges else { return nil }
    context.processPendingChanges()
    return PendingChangesOverlay(context: context, plan: plan)
  }

  /// What the stores answer when they are asked now.
  private func answer(to question: FetchQuestion, _ plan: FetchPlan) -> FetchAnswer {
    FetchAnswer(question.request, plan, source: context.reading.source)
  }

  // MARK: The results

  /// The results of an asynchronous fetch, with unsaved changes as they are now.
  func lateResults<T>(
    of request: FetchRequest<T>, _ plan: FetchPlan, _ question: FetchQuestion,
    _ answer: StoreFetchResult
  ) throws -> [T] {
    if let type = T.self as? ManagedObject.Type { ObjectClasses.learn(type) }
    return try reportingEvaluation {
      var question = question
      if request.resultType != .dictionaryResultType { question.overlay = overlay(for: plan) }
      return try results(
        of: request, plan, question, FetchAnswer(answer, source: context.reading.source))
    }
  }

  private func results<T>(
    of request: FetchRequest<T>, _ plan: FetchPlan, _ question: FetchQuestion,
    _ answer: FetchAnswer
  ) throws -> [T] {
    switch request.resultType {
    case .managedObjectResultType:
      let objects = try prefetched(try objects(plan, question, answer), plan)
      // As a whole: element by element a cast counts one more reference of each.
      if T.self == ManagedObject.self, let typed = (objects as Any) as? [T] { return typed }
      return try typed(objects, plan)
    case .managedObjectIDResultType: return try typed(objectIDs(plan, question, answer), plan)
    case .countResultType: return try typed([NSNumber(value: count(plan, question, answer))], plan)
    default:
      guard let columns = question.columns else { return [] }
      return try typed(Self.rows(in: answer).map(columns.dictionary(of:)), plan)
    }
  }

  private func typed<T>(_ results: [Any], _ plan: FetchPlan) throws -> [T] {
    try results.map { result in
      if let typed = result as? T { return typed }
      throw CoreDataError(
        .coreData,
        "The fetch of \(plan.entity.name ?? "?") gives \(type(of: result)), not \(T.self). Check "
          + "the request's resultType, and that the class in the model is found: "
          + "\(T.self).registerClass(forEntityName:) (@_spi(Runtime)) makes sure.")
    }
  }

  private func objects(
    _ plan: FetchPlan, _ question: FetchQuestion, _ answer: FetchAnswer
  ) throws -> [ManagedObject] {
    context.releaseAbandonedRows()
    var found = FetchedObjects(context: context, plan: plan)
    try answer.handOver { found.take($0) }
    found.finish()
    var objects = found.objects
    if plan.isDecidedByObjects {
      objects = try plan.decide(among: objects, keepsChanged: question.overlay != nil)
    }
    if let overlay = question.overlay {
      if plan.batchSize > 0 { divide(objects, plan) }
      objects = try overlay.apply(to: objects)
    }
    if !question.isWindowed { objects = plan.window(objects) }
    divide(objects, plan)
    return objects
  }

  private func divide(_ objects: [ManagedObject], _ plan: FetchPlan) {
    FetchBatch.divide(objects, size: plan.batchSize, prefetching: plan.prefetching)
  }

  private func objectIDs(
    _ plan: FetchPlan, _ question: FetchQuestion, _ answer: FetchAnswer
  ) throws -> [ManagedObjectID] {
    guard question.overlay == nil, question.isWindowed else {
      return try objects(plan, question, answer).map(\.objectID)
    }
    // No object need be made.
    switch try answer.whole() {
    case .objectIDs(let ids): return ids
    case .snapshots(let rows): return rows.map(\.objectID)
    case .count, .dictionaries: return []
    }
  }

  private func count(_ plan: FetchPlan) throws -> Int {
    let question = try question(of: plan, .count)
    return try count(plan, question, answer(to: question, plan))
  }

  private func count(
    _ plan: FetchPlan, _ question: FetchQuestion, _ answer: FetchAnswer
  ) throws -> Int {
    if plan.isDecidedByObjects { return try objects(plan, question, answer).count }
    switch try answer.whole() {
    case .count(let count): return count
    case .objectIDs(let ids):
      return plan.window(try question.overlay?.count(over: ids) ?? ids.count)
    case .snapshots, .dictionaries: return 0
    }
  }

  private static func rows(in answer: FetchAnswer) throws -> [[String: AttributeValue]] {
    guard case .dictionaries(let rows) = try answer.whole() else { return [] }
    return rows
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

/// What a caller wants to know of what a fetch finds.
private enum FetchForm {
  case objects
  case objectIDs
  case count
  case dictionaries(FetchColumns)

  var isDictionaries: Bool {
    switch self {
    case .dictionaries: true
    case .objects, .objectIDs, .count: false
    }
  }
}

/// What the stores are asked for a fetch, and what is laid over their answer.
struct FetchQuestion {
  let request: StoreFetchRequest
  /// Of dictionaries, how they are made of the stores' answer; nil for other results.
  let columns: FetchColumns?
  /// Nil when no unsaved change concerns the fetch.
  var overlay: PendingChangesOverlay?
  /// Whether the stores apply offset and limit: with unsaved changes on top, and where objects decide,
  /// that comes last.
  let isWindowed: Bool
}

/// What the stores answer a fetch: read when it is needed, or read before.
struct FetchAnswer {
  private enum Origin {
    case stores(StoreFetchRequest, [PersistentStore]?, includingPending: Bool)
    case read(StoreFetchResult)
  }
  private let origin: Origin
  private let source: (any RowSource)?

  /// An answer that is read when it is needed; once, as it is read anew each time.
  init(_ request: StoreFetchRequest, _ plan: FetchPlan, source: (any RowSource)?) {
    origin = .stores(request, plan.stores, includingPending: plan.includesPendingChanges)
    self.source = source
  }

  /// An answer that is there.
  ///
  /// - Parameter source: Where the rows of new objects are retained.
  init(_ result: StoreFetchResult, source: (any RowSource)?) {
    origin = .read(result)
    self.source = source
  }

  /// Hands the answer over in portions, while the stores read where that is possible.
  ///
  /// - Parameter take: Says of each row whether it is to be retained; must not read.
  func handOver(_ take: (StoreFetchResult) -> [Bool]) throws {
    switch origin {
    case .stores(let request, let stores, let includingPending):
      try source?.fetch(request, in: stores, includingPending: includingPending, take)
    case .read(let result):
      let held = result.rowIDs(marked: take(result))
      if !held.isEmpty { source?.retainRows(held) }
    }
  }

  /// The answer in one piece.
  func whole() throws -> StoreFetchResult {
    switch origin {
    case .stores(let request, let stores, let includingPending):
      return try source?.fetch(request, in: stores, includingPending: includingPending)
        ?? .snapshots([])
    case .read(let result): return result
    }
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
