// Writing one atomic set of changes.

import Cairn
import CairnControl
import Foundation

/// Runs a save of the control protocol: inserts, updates and deletes, all or none.
public struct RecordSave {
  let parameters: SaveRecords.Parameters
  let model: ManagedObjectModel
  let naming: any RecordNaming

  public init(
    _ parameters: SaveRecords.Parameters, model: ManagedObjectModel, naming: any RecordNaming
  ) {
    self.parameters = parameters
    self.model = model
    self.naming = naming
  }

  /// Makes the changes in a fresh context, whose objects live in `store`, and saves.
  ///
  /// - Throws: ``ControlError``; nothing is saved then.
  public func run(
    in context: ManagedObjectContext, store: PersistentStore
  ) throws -> SaveRecords.Reply {
    try context.performAndWait {
      do {
        let inserted = try insert(in: context, store: store)
        for update in parameters.updates ?? [] {
          let object = try object(update.entity, update.id, in: context)
          try RecordWriting(entity: object.entity).apply(
            update.values, to: object, resolve: resolver(inserted.labels, context))
        }
        // All are looked up first: one may take another along, or be named twice.
        let deleted = Set(
          try (parameters.deletes ?? []).map { try object($0.entity, $0.id, in: context) })
        for object in deleted { context.delete(object) }
        try context.save()
        // It is saved: whatever keeps the records from being named now is no failure of that.
        let ids = inserted.objects.map(\.objectID)
        let names = try? naming.names(of: ids)
        return SaveRecords.Reply(
          inserted: names ?? ids.map { $0.uriRepresentation().absoluteString },
          updated: parameters.updates?.count ?? 0, deleted: deleted.count)
      } catch {
        context.rollback()
        if let error = error as? CoreDataError,
          let answer = ControlError(error, store: "local")
        {
          throw answer
        }
        throw error
      }
    }
  }

  private func insert(
    in context: ManagedObjectContext, store: PersistentStore
  ) throws -> (objects: [ManagedObject], labels: [String: ManagedObject]) {
    var objects: [ManagedObject] = []
    var labels: [String: ManagedObject] = [:]
    let inserts = parameters.inserts ?? []
    // Objects first, values after: an insert may refer to a later one by its label.
    for insert in inserts {
      let writing = try RecordWriting(entityNamed: insert.entity, in: model)
      try writing.checkIsInsertable()
      let object = writing.entity.insertObject(into: context)
      context.assign(object, to: store)
      objects.append(object)
      if let label = insert.label, labels.updateValue(object, forKey: label) != nil {
        throw ControlError.invalidParameter("inserts")
      }
    }
    for (insert, object) in zip(inserts, objects) {
      try RecordWriting(entity: object.entity).apply(
        insert.values, to: object, resolve: resolver(labels, context))
    }
    return (objects, labels)
  }

  private func object(
    _ entityName: String, _ id: String, in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let entity = try RecordWriting(entityNamed: entityName, in: model).entity
    guard let object = try naming.record(named: id, entity: entity, in: context) else {
      throw ControlError.recordNotFound(entity: entityName, id: id)
    }
    return object
  }

  private func resolver(
    _ labels: [String: ManagedObject], _ context: ManagedObjectContext
  ) -> RecordWriting.Resolve {
    { json, relationship in
      let destination = relationship.destinationEntity?.name ?? ""
      guard let text = json.stringValue else {
        throw ControlError.invalidValue(
          entity: relationship.entity.name ?? "", property: relationship.name,
          reason: "a record ID is wanted, not \(json.kindName)")
      }
      if text.hasPrefix("#") {
        guard let object = labels[String(text.dropFirst())],
          relationship.destinationEntity.map(object.entity.isKindOf(entity:)) ?? false
        else {
          throw ControlError.recordNotFound(entity: destination, id: text)
        }
        return object
      }
      return try object(destination, text, in: context)
    }
  }
}
