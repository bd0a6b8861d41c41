// One context over two stores.
import CairnAtomicStores
import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Testing

@Suite struct SeveralStoresTests {
  private func stack() throws -> (Stack, PersistentStore) {
    let stack = try Stack()
    let second = try stack.coordinator.addPersistentStore(
      ofType: StoreTypeName.inMemory, configurationName: nil, at: nil, options: nil)
    return (stack, second)
  }

  @Test func aNewObjectGoesToTheFirstStoreOrWhereItWasAssigned() throws {
    let (stack, second) = try stack()
    try stack.use { context in
      let (a, b) = (context.make("Author"), context.make("Author"))
      context.assign(b, to: second)
      try context.save()
      #expect(a.objectID.persistentStore === stack.store)
      #expect(b.objectID.persistentStore === second)
      let request = FetchRequest<ManagedObject>(entityName: "Author")
      request.affectedStores = [second]
      let found = try context.fetch(request)
      #expect(found == [b])
      let all = try context.all("Author")
      #expect(all.count == 2)
    }
  }

  @Test func aRelationshipAcrossStoresIsRefusedAndNothingIsWritten() throws {
    let (stack, second) = try stack()
    try stack.use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      context.assign(book, to: second)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .managedObjectExternalRelationship)
      #expect(context.insertedObjects == [author, book])
      let stored = try stack.use { try $0.all("Work").count + $0.all("Author").count }
      #expect(stored == 0)
    }
  }

  @Test func objectsOfARemovedStoreLeaveTheContext() async throws {
    let (stack, second) = try stack()
    let context = stack.context()
    let author = try await context.perform {
      let author = context.make("Author")
      context.assign(author, to: second)
      try context.save()
      return [author.objectID]
    }
    try stack.coordinator.remove(second)
    let known = await context.perform(schedule: .enqueued) {
      context.registeredObject(for: author[0]) != nil
    }
    #expect(!known)
  }
}
