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

/// Notes how many rows it is given at a time.
// Unchecked: no state of its own.
private final class CountingStore: FileStore, @unchecked Sendable {
  static let groups = Mutex<[Int]>([])

  override func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    if !request.insertions.isEmpty { Self.groups.withLock { $0.append(request.insertions.count) } }
    return try super.save(request)
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

  @Test func rowsWithLongValuesAreCopiedAFewAtATimeAndOthersByTheThousand() throws {
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model(),
      storeKinds: [
        InMemoryStoreKind(), DerivedStoreKind(of: FileStoreKind(), storeClass: CountingStore.self),
      ])
    let source = try coordinator.addPersistentStore(
      ofType: StoreTypeName.inMemory, configurationName: nil, at: nil)
    let box = try #require(coordinator.managedObjectModel.entitiesByName["Box"])
    let thing = try #require(coordinator.managedObjectModel.entitiesByName["Thing"])
    func insert(_ count: Int, of entity: EntityDescription, _ name: String) throws {
      let slot = try #require(entity.layout.slotByName["name"])
      var request = SaveChangesRequest()
      request.insertions = try source.obtainPermanentIDs(
        for: Array(repeating: entity, count: count)
      ).map { id in
        var values = id.entity.layout.defaultValues
        values[slot] = .string(name)
        return .init(snapshot: .make(objectID: id, version: 0, values: values))
      }
      _ = try source.save(request)
    }
    try insert(40, of: box, String(repeating: "x", count: 4 << 20))
    try insert(8000, of: thing, "short")
    let copy = try coordinator.migratePersistentStore(
      source, to: URL(fileURLWithPath: folder.file("copy")), withType: FileStoreKind.typeName)
    let groups = CountingStore.groups.withLock { $0 }
    #expect(groups.reduce(0, +) == 8040)
    #expect(groups.dropFirst().prefix(12).allSatisfy { $0 == 2 }, "\(groups)")
    #expect(groups.max().map { $0 > 1000 } == true, "\(groups)")
    for (entity, count) in [(box, 40), (thing, 8000)] {
      #expect(
        try copy.fetch(StoreFetchRequest(entity: entity, includesSubentities: false)).snapshots?
          .count == count)
    }
  }
}
