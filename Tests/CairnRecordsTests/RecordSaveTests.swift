// What a save of the control protocol takes, and what it refuses.

import Cairn
import CairnControl
import Foundation
import TestSupport
import Testing

@testable import CairnRecords

@Suite struct RecordSaveTests {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator
  private let store: PersistentStore

  init() throws {
    folder = try TemporaryFolder()
    let box = EntityDescription(
      name: "Box", properties: [AttributeDescription(name: "weight", type: .double)])
    let part = EntityDescription(
      name: "Part", properties: [AttributeDescription(name: "size", type: .float)])
    let (parts, owner) = (RelationshipDescription(), RelationshipDescription())
    (parts.name, parts.destinationEntity, parts.deleteRule) = ("parts", part, .cascadeDeleteRule)
    (owner.name, owner.destinationEntity, owner.maxCount) = ("box", box, 1)
    (parts.inverseRelationship, owner.inverseRelationship) = (owner, parts)
    box.properties.append(parts)
    part.properties.append(owner)
    let model = ManagedObjectModel()
    model.entities = [box, part]
    coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: folder.fileURL("Boxes.sqlite"))
  }

  private func save(_ parameters: SaveRecords.Parameters) throws -> SaveRecords.Reply {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try RecordSave(
      parameters, model: coordinator.managedObjectModel, naming: URINaming(coordinator: coordinator)
    ).run(in: context, store: store)
  }

  /// SQLite keeps nothing in its place: a required value would be gone.
  @Test(arguments: [("Box", "weight"), ("Part", "size")])
  func aNumberThatIsNoneIsRefused(_ entity: String, _ name: String) throws {
    let infinite = try save(
      .init(inserts: [.init(entity: entity, values: [name: .string("Infinity")])]))
    #expect(infinite.inserted.count == 1)
    let error = #expect(throws: ControlError.self) {
      try save(.init(inserts: [.init(entity: entity, values: [name: .string("NaN")])]))
    }
    guard case .invalidValue(entity, name, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("NaN"))
  }

  @Test func whatIsNamedTwiceOrGoesAlongIsDeletedOnce() throws {
    let made = try save(
      .init(inserts: [
        .init(entity: "Box", values: [:], label: "b"),
        .init(entity: "Part", values: ["box": .string("#b")]),
      ])
    ).inserted
    let reply = try save(
      .init(deletes: [
        .init(entity: "Box", id: made[0]), .init(entity: "Part", id: made[1]),
        .init(entity: "Box", id: made[0]),
      ]))
    #expect(reply.deleted == 2)
    #expect(throws: ControlError.self) {
      try save(.init(deletes: [.init(entity: "Box", id: made[0])]))
    }
  }
}
