import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Runs batch requests: turned into values, then executed by the stores.
struct BatchExecution {
  let context: ManagedObjectContext

  func insert(_ request: BatchInsertRequest) throws -> BatchInsertResult {
    let entity = try entity(named: request.entityName)
    var rows = try (request.objectsToInsert ?? []).map { try row($0, of: entity) }
    if let handler = request.dictionaryHandler {
      let dictionary = NSMutableDictionary()
      while true {
        dictionary.removeAllObjects()
        if handler(dictionary) { break }
        var values: [String: Any] = [:]
        for (key, value) in dictionary { if let key = key as? String { values[key] = value } }
        rows.append(try row(values, of: entity))
      }
    }
    let ids =
      rows.isEmpty
      ? []
      : try execute(.insert(entity: entity, rows: rows), in: request.affectedStores)
    return BatchInsertResult(ids, request.resultType)
  }

  func update(_ request: BatchUpdateRequest) throws -> BatchUpdateResult {
    let entity = try entity(named: request.entityName)
    var values: [String: ObjectExpression] = [:]
    for (key, value) in request.propertiesToUpdate ?? [:] {
      let name = (key.base as? PropertyDescription)?.name ?? "\(key.base)"
      guard let slot = entity.layout.slotByName[name] else {
        throw unknown(name, of: entity)
      }
      if let expression = value as? ObjectExpression {
        values[name] = expression
      } else {
        if let attribute = entity.layout.slots[slot].attribute {
          try check(value, for: attribute)
        }
        let constant = (value as? ManagedObject)?.objectID ?? AttributeCoding.unwrapped(value)
        values[name] = ObjectExpression(forConstantValue: constant)
      }
    }
    let ids = try execute(
      .update(
        entity: entity, includesSubentities: request.includesSubentities,
        predicate: request.predicate?.resolvingObjects(), values: values),
      in: request.affectedStores)
    return BatchUpdateResult(ids, request.resultType)
  }

  func delete(_ request: BatchDeleteRequest) throws -> BatchDeleteResult {
    let model = try coordinator().managedObjectModel
    let plan = FetchPlan(
      entity: try request.fetchRequest.entity(in: model), request: request.fetchRequest)
    let ids = try execute(
      .delete(plan.storeRequest(.objectIDs)),
      in: request.affectedStores ?? request.fetchRequest.affectedStores)
    return BatchDeleteResult(ids, request.resultType)
  }

  // MARK: Parts

  private func coordinator() throws -> PersistentStoreCoordinator {
    guard let coordinator = context.persistentStoreCoordinator else {
      throw CoreDataError(
        .coreData, "The context has no persistent store coordinator; set one first.")
    }
    return coordinator
  }

  private func execute(
    _ request: StoreBatchRequest, in stores: [PersistentStore]?
  ) throws -> [ManagedObjectID] {
    try coordinator().executeBatch(
      request, in: stores, author: context.transactionAuthor, contextName: context.name,
      by: context)
  }

  private func entity(named name: String) throws -> EntityDescription {
    guard let entity = try coordinator().managedObjectModel.entitiesByName[name] else {
      throw CoreDataError(.coreData, "The model has no entity named \"\(name)\".")
    }
    return entity
  }

  private func row(
    _ values: [String: Any], of entity: EntityDescription
  ) throws -> [String: AttributeValue] {
    var row: [String: AttributeValue] = [:]
    for (name, value) in values {
      guard let slot = entity.layout.slotByName[name] else { throw unknown(name, of: entity) }
      switch entity.layout.slots[slot].content {
      case .attribute(let attribute): row[name] = try check(value, for: attribute)
      case .toOne:
        row[name] = (value as? any ObjectIdentifying).map { .object($0.objectID) } ?? .null
      }
    }
    return row
  }

  @discardableResult
  private func check(_ value: Any, for attribute: AttributeDescription) throws -> AttributeValue {
    do {
      return try AttributeCoding.encode(value, for: attribute)
    } catch {
      throw CoreDataError(.managedObjectValidation, "\(error)", underlyingError: error)
    }
  }

  private func unknown(_ name: String, of entity: EntityDescription) -> CoreDataError {
    CoreDataError(
      .coreData,
      "\(entity.name ?? "?") has no attribute or to-one relationship named \"\(name)\".")
  }
}
