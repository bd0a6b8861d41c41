// "Save as" while another program writes to the store.

import CairnAtomicStores
import CairnCoordinator
import CairnModel
@_spi(Stores) import CairnStore
import Foundation
import Synchronization
import TestSupport
import Testing

/// Something else happens once, before the store gives IDs to the rows that are copied into it.
// Unchecked: no state of its own.
private final class InterruptedStore: FileStore, @unchecked Sendable {
  static let interruption = Mutex<(@Sendable () throws -> Void)?>(nil)

  override func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    let interruption = Self.interruption.withLock { interruption in
      defer { interruption = nil }
      return interruption
    }
    try interruption?()
    return try super.obtainPermanentIDs(for: entities)
  }
}

/// Chapter 20.2 of the specification.
@Suite struct CopyOfOneStateTests {
  /// Boxes and what is in them, many to many.
  private static func model() -> ManagedObjectModel {
    let box = EntityDescription(
      name: "Box", properties: [AttributeDescription(name: "name", type: .string)])
    let thing = EntityDescription(
      name: "Thing", properties: [AttributeDescription(name: "name", type: .string)])
    let things = relationship("things", to: thing, isToMany: true)
    let boxes = relationship("boxes", to: box, isToMany: true)
    connect(things, boxes)
    box.properties.append(things)
    thing.properties.append(boxes)
    let model = ManagedObjectModel()
    model.entities = [box, thing]
    return model
  }

  @Test func whatOthersCommitMeanwhileIsInNoneOfTheCopy() throws {
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model(),
      storeKinds: [
        InMemoryStoreKind(),
        DerivedStoreKind(of: FileStoreKind(), storeClass: InterruptedStore.self),
      ])
    let source = try coordinator.addPersistentStore(
      ofType: StoreTypeName.inMemory, configurationName: nil, at: nil)
    let entities = coordinator.managedObjectModel.entitiesByName
    let (box, thing) = (try #require(entities["Box"]), try #require(entities["Thing"]))
    let things = try #require(box.relationshipsByName["things"])
    let ids = try source.obtainPermanentIDs(for: [box, thing, thing])
    var request = SaveChangesRequest()
    request.insertions = ids.map {
      .init(
        snapshot: .make(
          objectID: $0, version: 0, values: $0.entity.layout.defaultValues))
    }
    request.links = [.init(relationship: things, owner: ids[0], added: Array(ids[1...]))]
    _ = try source.save(request)

    InterruptedStore.interruption.withLock {
      $0 = {
        var removal = SaveChangesRequest()
        removal.links = [.init(relationship: things, owner: ids[0], added: [], removed: [ids[2]])]
        _ = try source.save(removal)
        #expect(try source.members(of: things, owners: [ids[0]]).map(\.count) == [1])
      }
    }
    let copy = try coordinator.migratePersistentStore(
      source, to: URL(fileURLWithPath: folder.file("copy")), withType: FileStoreKind.typeName)
    #expect(InterruptedStore.interruption.withLock { $0 == nil })
    let boxes = try #require(
      try copy.fetch(StoreFetchRequest(entity: box, includesSubentities: false)).snapshots)
    #expect(try copy.members(of: things, owners: boxes.map(\.objectID)).map(\.count) == [2])
  }
}
