// Models, places and coordinators for the tests of this target.

import CairnAtomicStores
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Testing

enum Fixture {
  /// Notes with a text, in version 1; version 2 adds a date.
  static func noteModel(version: Int = 1, extraEntity: Bool = false) -> ManagedObjectModel {
    let note = EntityDescription(
      name: "Note",
      properties: [
        AttributeDescription(name: "text", type: .string),
        AttributeDescription(name: "rank", type: .integer64),
      ])
    if version > 1 { note.properties += [AttributeDescription(name: "date", type: .date)] }
    let tag = EntityDescription(
      name: "Tag", properties: [AttributeDescription(name: "name", type: .string)])
    let model = ManagedObjectModel()
    model.entities = [note, tag]
    if extraEntity {
      model.entities += [
        EntityDescription(
          name: "Extra", properties: [AttributeDescription(name: "x", type: .string)])
      ]
    }
    model.setEntities([note], forConfigurationName: "Notes")
    model.setEntities([tag], forConfigurationName: "Tags")
    return model
  }

  static func coordinator(
    _ model: ManagedObjectModel = noteModel(), migrates: Bool = false
  ) -> PersistentStoreCoordinator {
    let file: any StoreKind = migrates ? .migratingFile : FileStoreKind()
    return PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [InMemoryStoreKind(), file])
  }

  /// The code of the error that the body throws.
  static func code(_ body: () throws -> Void) -> CoreDataError.Code? {
    do {
      try body()
      return nil
    } catch let error as CoreDataError {
      return error.code
    } catch {
      return CoreDataError.Code(rawValue: -1)
    }
  }

  /// Inserts notes with these texts into a store and returns the stored rows.
  @discardableResult
  static func insert(
    _ texts: [String], entity name: String = "Note", into store: PersistentStore,
    of coordinator: PersistentStoreCoordinator, by source: (any CoordinatorObserver)? = nil
  ) throws -> [RowSnapshot] {
    let entity = try #require(coordinator.managedObjectModel.entitiesByName[name])
    let slot = try #require(entity.layout.slotByName[name == "Note" ? "text" : "name"])
    let ids = try store.obtainPermanentIDs(for: texts.map { _ in entity })
    var request = SaveChangesRequest()
    for (id, text) in zip(ids, texts) {
      var values = entity.layout.defaultValues
      values[slot] = .string(text)
      request.insertions.append(
        .init(snapshot: .make(objectID: id, version: 0, values: values)))
    }
    let outcome = try coordinator.save(request, in: store, by: source)
    guard case .saved(let receipt) = outcome else {
      Issue.record("the insertion ended with \(outcome)")
      return []
    }
    return receipt.snapshots
  }

  static func texts(_ rows: [RowSnapshot]) -> [String] {
    rows.map { row in
      guard let slot = row.objectID.entity.layout.slotByName["text"],
        case .string(let text) = row[slot]
      else { return "?" }
      return text
    }
  }
}
