import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Runs batch requests: turned into values, then executed by the stores.
///
/// A child's name, author and merge policy count as much as those of a root; without a name or an
/// author of its own it takes that of the root. The objects of neither are touched.
struct BatchExecution {
  let context: ManagedObjectContext

  func insert(_ request: BatchInsertRequest) throws -> BatchInsertResult {
    let entity = try entity(request.entity, named: request.entityName)
    let rows = BatchRows(entity: entity, request: request)
    let source = BatchRowSource(rows.next)
    guard try source.prepare() else {
      return BatchInsertResult(BatchOutcome(), request.resultType)
    }
    let outcome = try execute(
      .insert(entity: entity, rows: source, duplicates: duplicateRule),
      in: request.affectedStores)
    return BatchInsertResult(outcome, request.resultType)
  }

  /// What the context's merge policy says about rows whose unique values are taken.
  private var duplicateRule: BatchDuplicateRule {
    switch context.policy.mergeType {
    case .errorMergePolicyType: return .refuse
    case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: return .overwrite
    case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return .skip
    }
  }

  func update(_ request: BatchUpdateRequest) throws -> BatchUpdateResult {
    let entity = try entity(nil, named: request.entityName)
    guard let properties = request.propertiesToUpdate, !properties.isEmpty else {
      throw CoreDataError(
        .coreData,
        "A batch update of \(request.entityName) needs propertiesToUpdate; it has none.")
    }
    var values: [String: ObjectExpression] = [:]
    for (key, value) in properties {
      guard let name = (key.base as? PropertyDescription)?.name ?? key.base as? String else {
        throw CoreDataError(
          .coreData,
          "The keys of propertiesToUpdate are names and descriptions of properties, not "
            + "\(type(of: key.base)).")
      }
      for (name, value) in try BatchRows.parts(of: value, named: name, of: entity) {
        values[name] = try BatchRows.expression(value, forProperty: name, of: entity)
      }
    }
    try check(request.predicate, values.values.contains { $0.node.hasBlock })
    let predicate = try request.predicate.map {
      try FetchExpressions.answering(in: $0, context: context).resolvingObjects()
    }
    let outcome = try execute(
      .update(
        entity: entity, includesSubentities: request.includesSubentities, predicate: predicate,
        values: values),
      in: request.affectedStores)
    return BatchUpdateResult(outcome, request.resultType)
  }

  func delete(_ request: BatchDeleteRequest) throws -> BatchDeleteResult {
    let fetch = request.fetchRequest
    guard
      fetch.resultType == .managedObjectResultType
        || fetch.resultType == .managedObjectIDResultType
    else {
      throw CoreDataError(
        .coreData,
        "The fetch request of a batch delete must have the result type objects or object IDs.")
    }
    // A request for no objects deletes none.
    if fetch.entityName == nil, request.isForNoObjects {
      return BatchDeleteResult(BatchOutcome(), request.resultType)
    }
    try check(fetch.predicate)
    let plan = try FetchExecution(context: context).plan(of: fetch)
    let stores = request.affectedStores ?? fetch.affectedStores
    let outcome = try execute(
      .delete(try selection(plan.storeRequest(.objectIDs), in: stores)), in: stores)
    return BatchDeleteResult(outcome, request.resultType)
  }

  // MARK: Parts

  /// What each store deletes: a limit and an offset count the rows of all of them together, so that
  /// these are found first.
  private func selection(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?
  ) throws -> StoreFetchRequest {
    let coordinator = try coordinator()
    guard request.limit > 0 || request.offset > 0,
      (stores ?? coordinator.persistentStores).count > 1,
      case .objectIDs(let ids) = try coordinator.fetch(request, in: stores)
    else { return request }
    return StoreFetchRequest(
      entity: request.entity, includesSubentities: request.includesSubentities,
      predicate: ObjectPredicate(format: "SELF IN %@", ids), result: .objectIDs)
  }

  /// - Throws: 134060 for a predicate with a block, which a store has no objects for.
  private func check(_ predicate: ObjectPredicate?, _ hasOtherBlocks: Bool = false) throws {
    guard hasOtherBlocks || predicate?.node.hasBlock ?? false else { return }
    throw CoreDataError(
      .coreData,
      "A batch request has a block, and makes no objects to give to it. Say in a format string "
        + "what the block says, or find the objects by a fetch and name their IDs.")
  }

  private func coordinator() throws -> PersistentStoreCoordinator {
    guard let coordinator = context.persistentStoreCoordinator else {
      throw CoreDataError(
        .coreData, "The context has no persistent store coordinator; set one first.")
    }
    return coordinator
  }

  private func execute(
    _ request: StoreBatchRequest, in stores: [PersistentStore]?
  ) throws -> BatchOutcome {
    let (author, name) = Self.signature(of: context)
    do {
      return try coordinator().executeBatch(
        request, in: stores, author: author, contextName: name, by: context.commitListener)
    } catch let error as PredicateEvaluationError {
      throw CoreDataError(
        .persistentStoreOperation, "The batch request cannot be evaluated: \(error.reason)",
        underlyingError: error)
    }
  }

  /// The author and name that history records.
  private static func signature(
    of context: ManagedObjectContext
  ) -> (author: String?, name: String?) {
    let (author, name) = (context.transactionAuthor, context.name)
    guard let parent = context.parent, author == nil || name == nil else { return (author, name) }
    var root = parent
    while let next = root.serve({ root.parent }) { root = next }
    return root.serve { (author ?? root.transactionAuthor, name ?? root.name) }
  }

  private func entity(
    _ entity: EntityDescription?, named name: String
  ) throws -> EntityDescription {
    let model = try coordinator().managedObjectModel
    if let entity, entity.managedObjectModel === model { return entity }
    guard let found = model.entitiesByName[name] else {
      throw CoreDataError(.coreData, "The model has no entity named \"\(name)\".")
    }
    return found
  }
}
