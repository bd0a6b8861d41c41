@_spi(Generated) import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Tries a plan's rows on objects that are thrown away, for what validation says of them.
struct PlanTrial {
  let plan: ImportPlan
  let objects: [RecordID: ManagedObjectID]
  let access: StoreAccess
  let coordinator: PersistentStoreCoordinator

  /// The records that validation refuses, with what it says.
  func refused() throws -> [RecordID: String] {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      defer { context.reset() }
      return try refused(context)
    }
  }

  private func refused(_ context: ManagedObjectContext) throws -> [RecordID: String] {
    let existing = plan.rows.filter { $0.kind == .update }.compactMap { objects[$0.id] }
    _ = try coordinator.snapshots(for: existing, maximumAge: 0)
    var tried: [RecordID: ManagedObject] = [:]
    for action in plan.rows {
      guard let entity = access.schema.entities[action.entity]?.entity else { continue }
      switch action.kind {
      case .insert:
        let object = entity.insertObject(into: context)
        context.assign(object, to: access.store)
        tried[action.id] = object
      case .update:
        if let id = objects[action.id], id.entity.name == action.entity {
          tried[action.id] = context.object(with: id)
        }
      case .delete: break
      }
    }
    for action in plan.rows where action.kind != .delete {
      guard let object = tried[action.id] else { continue }
      try setValues(of: action, object, tried)
    }
    context.processPendingChanges()
    var refused: [RecordID: String] = [:]
    for action in plan.rows {
      guard let object = tried[action.id] else { continue }
      do {
        if action.kind == .insert {
          try object.validateForInsert()
        } else {
          try object.validateForUpdate()
        }
      } catch {
        refused[action.id] = (error as? CoreDataError)?.message ?? "\(error)"
      }
    }
    return refused
  }

  private func setValues(
    of action: ImportPlan.RowAction, _ object: ManagedObject, _ tried: [RecordID: ManagedObject]
  ) throws {
    guard let entity = access.schema.entities[action.entity] else { return }
    for item in action.values where entity.columns.indices.contains(item.column) {
      let slot = entity.columns[item.column].slot
      if let target = item.value.reference {
        guard let found = tried[target]?.objectID ?? objects[target] else { continue }
        object.setStoredValue(.object(found), at: slot)
      } else if let value = RowReading.attributeValue(item.value) {
        object.setStoredValue(value, at: slot)
      }
    }
  }
}
