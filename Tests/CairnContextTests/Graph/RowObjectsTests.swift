// One object for each key, also where rows are looked at many at a time.
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnSQLite
import CairnStore
import Foundation
import TestSupport
import Testing

@_spi(Runtime) @testable import CairnContext

/// A class whose initialiser fetches, once and if it is told to, what is being fetched, and holds it
/// if it is told to.
private final class Curious: ManagedObject {
  override init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    guard let context, let isHeld = context.userInfo["looks"] as? Bool else { return }
    context.userInfo["looks"] = nil
    let objects = try? context.fetch(FetchRequest<ManagedObject>(entityName: "Curious"))
    context.userInfo["count"] = objects?.count
    if isHeld { context.userInfo["seen"] = objects }
  }
}

@Suite struct RowObjectsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // MARK: Keys that come twice

  @Test func anIDThatComesTwiceIsOneObject() throws {
    let stack = try Stack()
    let ids = try stack.savedAuthors(3)
    try stack.use { context in
      var found = RowObjects(context: context)
      var objects: [ManagedObject] = []
      found.append([ids[0], ids[1], ids[0], ids[2]], to: &objects)
      #expect(objects.map(\.objectID) == [ids[0], ids[1], ids[0], ids[2]])
      #expect(objects[0] === objects[2] && context.registeredObjects.count == 3)
      for (id, object) in zip(ids, [objects[0], objects[1], objects[3]]) {
        #expect(context.registeredObject(for: id) === object)
      }
    }
  }

  @Test func rowsOfOneKeyAreLookedAtOneByOne() throws {
    let stack = try Stack()
    let ids = try stack.savedAuthors(2)
    let rows = [ids[0], ids[1], ids[0]].map { id in
      RowSnapshot.make(
        objectID: id, version: 1,
        values: Array(repeating: .null, count: id.entity.layout?.slots.count ?? 0))
    }
    try stack.use { context in
      var found = RowObjects(context: context)
      var objects: [ManagedObject] = []
      var isNew: [Bool] = []
      #expect(!found.append(0..<3, of: rows, to: &objects, &isNew) { _, _, _ in })
      #expect(objects.isEmpty && isNew.isEmpty && context.registeredObjects.isEmpty)
      #expect(found.append(0..<2, of: rows, to: &objects, &isNew) { _, _, _ in })
      #expect(objects.map(\.objectID) == ids && isNew == [true, true])
      let known = found.found(rows[2])
      let again = try #require(known)
      #expect(again.object === objects[0] && !again.isNew)
    }
  }

  @Test func someOfManyAreThereAlready() throws {
    let stack = try Stack()
    let ids = try stack.savedAuthors(300)
    try stack.use { context in
      let known = [ids[0], ids[5], ids[127], ids[128], ids[299]].map { context.object(with: $0) }
      let objects = try context.all("Author")
      #expect(objects.count == 300 && Set(objects).count == 300)
      #expect(Set(known).isSubset(of: objects))
      for object in objects {
        #expect(context.registeredObject(for: object.objectID) === object)
      }
    }
  }

  // MARK: Initialisers that fetch

  private func stack() throws -> PersistentStoreCoordinator {
    Curious.registerClass(forEntityName: "Curious")
    let entity = EntityDescription(name: "Curious")
    entity.managedObjectClassName = "Curious"
    entity.properties = [AttributeDescription(name: "number", type: .integer64)]
    let model = ManagedObjectModel()
    model.entities = [entity]
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [SQLiteStoreKind()])
    try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil,
      at: folder.fileURL("Curious.sqlite"), options: nil)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<200 {
        Curious(entity: entity, insertInto: context).setValue(Int64(number), forKey: "number")
      }
      try context.save()
    }
    return coordinator
  }

  /// - Parameter isHeld: Whether what the initialiser found is still there when the fetch goes on.
  @Test(arguments: [true, false], [true, false])
  func whatAnInitialiserFetchesMeanwhileIsTheSame(asFaults: Bool, isHeld: Bool) throws {
    let coordinator = try stack()
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      context.userInfo["looks"] = isHeld
      let request = FetchRequest<ManagedObject>(entityName: "Curious")
      request.returnsObjectsAsFaults = asFaults
      request.includesPropertyValues = !asFaults
      request.sortDescriptors = [ObjectSortDescriptor(key: "number", ascending: true)]
      let objects = try context.fetch(request)
      #expect(context.userInfo["count"] as? Int == 200)
      let seen = context.userInfo["seen"] as? [ManagedObject]
      #expect(objects.count == 200 && Set(objects).count == 200)
      #expect(isHeld ? seen.map(Set.init) == Set(objects) : seen == nil)
      #expect(context.registeredObjects == Set(objects))
      for (number, object) in objects.enumerated() {
        #expect(context.registeredObject(for: object.objectID) === object)
        #expect(object.value(forKey: "number") as? Int64 == Int64(number))
      }
    }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  @Test func anObjectThatItsInitialiserHasFetchedIsThatOne() throws {
    let coordinator = try stack()
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = FetchRequest<ManagedObjectID>(entityName: "Curious")
      request.resultType = .managedObjectIDResultType
      let id = try #require(try context.fetch(request).first)
      context.userInfo["looks"] = true
      let object = context.object(with: id)
      let seen = try #require(context.userInfo["seen"] as? [ManagedObject])
      #expect(seen.contains { $0 === object } && context.registeredObject(for: id) === object)
    }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  @Test func anIDFromBeforeAStoreWasOpenedAgainNamesItsObject() throws {
    let coordinator = try stack()
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = FetchRequest<ManagedObjectID>(entityName: "Curious")
      request.resultType = .managedObjectIDResultType
      let id = try #require(try context.fetch(request).first)
      let number = try context.existingObject(with: id).value(forKey: "number") as? Int64
      let store = coordinator.persistentStores[0]
      try coordinator.remove(store)
      context.reset()
      #expect(throws: CoreDataError.self) { try context.existingObject(with: id) }
      let opened = try coordinator.addPersistentStore(
        ofType: store.type, configurationName: nil, at: store.url, options: nil)
      context.reset()
      let object = try context.existingObject(with: id)
      #expect(object.objectID.persistentStore === opened)
      #expect(object.value(forKey: "number") as? Int64 == number && number != nil)
    }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

extension Stack {
  /// The IDs of so many new authors.
  fileprivate func savedAuthors(_ count: Int) throws -> [ManagedObjectID] {
    try use { context in
      let authors = (0..<count).map { _ in context.make("Author") }
      try context.save()
      return authors.map(\.objectID)
    }
  }
}
