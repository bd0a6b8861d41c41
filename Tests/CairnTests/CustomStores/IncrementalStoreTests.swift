// A program's own incremental store: which calls it gets, when, and what becomes of its answers.

import Cairn
import Foundation
import Testing

/// Chapters 21.1 and 21.3 of the specification.
@Suite struct IncrementalStoreTests {
  private func open(
    _ prepare: (Shelf) -> Void = { _ in }, model: ManagedObjectModel = Library.model()
  ) throws -> (PersistentStoreCoordinator, PersistentStore, Shelf) {
    let url = try Library.remoteURL()
    let shelf = Shelf.shelf(at: url)
    prepare(shelf)
    let (coordinator, store) = try Library.stack(RemoteShelf.storeType, at: url, model: model)
    return (coordinator, store, shelf)
  }

  /// A shelf with an author and two books, as if another program had put them there.
  private func fill(_ shelf: Shelf) {
    shelf.state.withLock { state in
      state.next = 3
      state.records = [
        "1": .init(
          entity: "Author", version: 1, values: ["name": "Ada"], links: ["books": ["2", "3"]]),
        "2": .init(
          entity: "Book", version: 1, values: ["title": "A", "pages": 10],
          links: ["writer": ["1"]]),
        "3": .init(
          entity: "Book", version: 1, values: ["title": "B", "pages": 20],
          links: ["writer": ["1"]]),
      ]
    }
  }

  private func error(_ body: () throws -> Void) -> CoreDataError? {
    do {
      try body()
      return nil
    } catch {
      return error as? CoreDataError
    }
  }

  // MARK: Threads

  /// The store gets another context there: the asking one belongs to its queue, which is busy.
  @Test func anAsynchronousFetchDoesNotUseTheContextOffItsQueue() async throws {
    let (coordinator, _, shelf) = try open()
    fill(shelf)
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let titles = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<[String], any Error>) in
      context.perform {
        let request = FetchRequest<ManagedObject>(entityName: "Book")
        let asynchronous = AsynchronousFetchRequest(fetchRequest: request) { result in
          if let error = result.operationError { return continuation.resume(throwing: error) }
          let books = result.finalResult ?? []
          let isOwn = books.allSatisfy { $0.managedObjectContext === context }
          let titles = books.compactMap { $0.value(forKey: "title") as? String }
          continuation.resume(returning: isOwn ? titles.sorted() : [])
        }
        do {
          _ = try context.execute(asynchronous)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(titles == ["A", "B"])
  }

  // MARK: Adding and removing

  @Test func addingMakesLoadsAndTellsTheStore() throws {
    let (coordinator, store, shelf) = try open()
    #expect(shelf.takeCalls() == ["init", "loadMetadata", "didAdd"])
    #expect(store.persistentStoreCoordinator === coordinator)
    #expect(store.type == RemoteShelf.storeType)
    #expect(store.identifier == store.metadata["NSStoreUUID"] as? String)
    try coordinator.remove(store)
    #expect(shelf.takeCalls() == ["willRemove"])
  }

  @Test func aStoreWithoutAnotherTypesMetadataIsRefused() throws {
    let wrong = error { _ = try open { $0.state.withLock { $0.metadataType = "Other" } } }
    #expect(wrong?.code == .persistentStoreTypeMismatch)
    let missing = error { _ = try open { $0.state.withLock { $0.metadataType = nil } } }
    #expect(missing?.code == .persistentStoreTypeMismatch)
  }

  @Test func metadataOfAnotherModelVersionIsRefused() throws {
    let refused = error {
      _ = try open { $0.state.withLock { $0.hashes = ["Book": Data([1])] } }
    }
    #expect(refused?.code == .persistentStoreIncompatibleVersionHash)
    let model = Library.model()
    let (_, store, _) = try open(model: model)
    #expect(
      store.metadata["NSStoreModelVersionHashes"] as? [String: Data]
        == model.entityVersionHashesByName, "hashes are added when the store has none")
  }

  @Test func anUnregisteredTypeIsUnknown() throws {
    PersistentStoreCoordinator.registerStoreClass(RemoteShelf.self, forStoreType: "Passing")
    #expect(PersistentStoreCoordinator.registeredStoreTypes["Passing"] != nil)
    PersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Passing")
    #expect(PersistentStoreCoordinator.registeredStoreTypes["Passing"] == nil)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model())
    let unknown = error {
      try coordinator.addPersistentStore(
        ofType: "Passing", configurationName: nil, at: try Library.remoteURL())
    }
    #expect(unknown?.code == .persistentStoreInvalidType)
  }

  // MARK: Reading

  @Test func aFetchAsksOnceAndValuesComeOneByOne() throws {
    let (coordinator, _, shelf) = try open(fill)
    _ = shelf.takeCalls()
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let books = try Library.fetch("Book", in: context)
      #expect(books.count == 2)
      #expect(books.allSatisfy { $0.isFault })
      #expect(shelf.takeCalls() == ["fetch Book 0"])
      #expect(books[0].value(forKey: "title") as? String == "A")
      #expect(shelf.takeCalls() == ["values 2"])
      #expect(books[0].value(forKey: "pages") as? Int == 10)
      #expect(shelf.takeCalls().isEmpty, "the row is cached")
      let other = Library.context(coordinator)
      try other.performAndWait { () throws -> Void in
        let again = try other.existingObject(with: books[0].objectID)
        #expect(again.value(forKey: "title") as? String == "A")
      }
      #expect(shelf.takeCalls().isEmpty, "contexts share the row cache")
    }
  }

  @Test func aToOneInTheNodeNeedsNoCallAndOneLeftOutNeedsOne() throws {
    for givesToOnes in [true, false] {
      let (coordinator, _, shelf) = try open { shelf in
        fill(shelf)
        shelf.state.withLock { $0.givesToOnes = givesToOnes }
      }
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let book = try #require(try Library.fetch("Book", in: context).first)
        _ = shelf.takeCalls()
        let writer = book.value(forKey: "writer") as? ManagedObject
        #expect(
          shelf.takeCalls() == (givesToOnes ? ["values 2"] : ["values 2", "writer of 2"]))
        #expect(writer?.value(forKey: "name") as? String == "Ada")
      }
    }
  }

  @Test func aToManyIsAskedForOnceForEachObject() throws {
    let (coordinator, _, shelf) = try open(fill)
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let author = try #require(try Library.fetch("Author", in: context).first)
      _ = author.value(forKey: "name")
      _ = shelf.takeCalls()
      let books = author.value(forKey: "books") as? Set<ManagedObject>
      #expect(books?.count == 2)
      _ = author.value(forKey: "books")
      #expect(shelf.takeCalls() == ["books of 1"])
    }
  }

  @Test func everyResultTypeReachesTheStore() throws {
    let (coordinator, _, shelf) = try open(fill)
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      _ = shelf.takeCalls()
      let ids = FetchRequest<ManagedObjectID>(entityName: "Book")
      ids.resultType = .managedObjectIDResultType
      #expect(try context.fetch(ids).count == 2)
      #expect(shelf.takeCalls() == ["fetch Book 1"])
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 2)
      #expect(shelf.takeCalls() == ["fetch Book 4"])
      let rows = FetchRequest<NSDictionary>(entityName: "Book")
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["title"]
      rows.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: false)]
      #expect(try context.fetch(rows).map { $0["title"] as? String } == ["B", "A"])
      #expect(shelf.takeCalls().first == "fetch Book 2")
    }
  }

  @Test func anObjectThatHasGoneIsNotFound() throws {
    let (coordinator, _, shelf) = try open(fill)
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let book = try #require(try Library.fetch("Book", in: context).first)
      shelf.state.withLock { $0.records["2"] = nil }
      let gone = error { _ = try context.existingObject(with: book.objectID) }
      #expect(gone?.code == .managedObjectReferentialIntegrity)
    }
  }

  @Test func anErrorOfTheStoreReachesTheCaller() throws {
    let (coordinator, _, shelf) = try open(fill)
    let context = Library.context(coordinator)
    shelf.state.withLock { $0.failure = CocoaError(.fileReadNoPermission) }
    context.performAndWait { () -> Void in
      #expect(throws: CocoaError.self) { _ = try Library.fetch("Book", in: context) }
    }
  }

  @Test func childContextsReadThroughTheirParents() throws {
    let (coordinator, _, _) = try open(fill)
    let parent = Library.context(coordinator)
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    try child.performAndWait { () throws -> Void in
      let titles = try Library.fetch("Book", in: child).compactMap {
        $0.value(forKey: "title") as? String
      }
      #expect(titles.sorted() == ["A", "B"])
    }
  }

  // MARK: Saving

  @Test func aSaveObtainsIDsThenHandsOverObjects() throws {
    let (coordinator, store, shelf) = try open()
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let author = Library.insert("Author", ["name": "Ada"], into: context)
      let book = Library.insert("Book", ["title": "A", "writer": author], into: context)
      _ = shelf.takeCalls()
      try context.save()
      #expect(shelf.takeCalls() == ["permanent IDs 2", "save 2 0 0 0"])
      #expect(!book.objectID.isTemporaryID)
      #expect(book.objectID.persistentStore === store)
      book.setValue(7, forKey: "pages")
      context.delete(author)
      try context.save()
      #expect(shelf.takeCalls().last == "save 0 0 2 0", "the author's books go along")
    }
    #expect(shelf.state.withLock { $0.records.isEmpty })
  }

  @Test func changesThatComeToNothingAreSentAsAnEmptyRequest() throws {
    let (coordinator, _, shelf) = try open(fill)
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let book = try #require(try Library.fetch("Book", in: context).first)
      book.setValue("A", forKey: "title")
      _ = shelf.takeCalls()
      try context.save()
      #expect(shelf.takeCalls() == ["save 0 0 0 0"])
    }
  }

  @Test func aFailedSaveLeavesTheChanges() throws {
    let (coordinator, _, shelf) = try open()
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      Library.insert("Author", ["name": "Ada"], into: context)
      shelf.state.withLock { $0.failure = CocoaError(.fileWriteOutOfSpace) }
      #expect(throws: CocoaError.self) { try context.save() }
      #expect(context.hasChanges)
      shelf.state.withLock { $0.failure = nil }
      try context.save()
      #expect(!context.hasChanges)
    }
    #expect(shelf.state.withLock { $0.records.count } == 1)
  }

  @Test func conflictsThatTheStoreReportsGoToTheMergePolicy() throws {
    let (coordinator, _, shelf) = try open(fill)
    for (policy, title) in [(MergePolicy.mergeByPropertyObjectTrump, "mine"), (.error, "theirs")] {
      let context = Library.context(coordinator)
      context.mergePolicy = policy
      try context.performAndWait { () throws -> Void in
        let book = try #require(
          try Library.fetch("Book", in: context).first {
            $0.objectID.uriRepresentation().lastPathComponent == "p'2"
          })
        context.refresh(book, mergeChanges: true)
        context.stalenessInterval = 0
        _ = book.value(forKey: "title")
        shelf.state.withLock { state in
          state.records["2"]?.version += 1
          state.records["2"]?.values["title"] = "theirs"
        }
        book.setValue(policy === MergePolicy.error ? "other" : "mine", forKey: "title")
        let failed = error { try context.save() }
        #expect(failed?.code == (policy === MergePolicy.error ? .managedObjectMerge : nil))
      }
      let stored = shelf.state.withLock { $0.records["2"]?.values["title"] as? String }
      #expect(stored == title)
    }
  }

  @Test func contextsSayWhatTheyHold() throws {
    let (coordinator, _, shelf) = try open(fill)
    func held() -> Int { shelf.state.withLock { $0.registered.values.reduce(0, +) } }
    do {
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let books = try Library.fetch("Book", in: context)
        for book in books { _ = book.value(forKey: "title") }
        #expect(held() == 2)
      }
    }
    #expect(held() == 0, "nothing is held when the context has gone")
  }

  @Test func whatWasInsertedIsHeldNoLongerThanItsContext() throws {
    let shelf: Shelf
    do {
      let (coordinator, _, opened) = try open()
      shelf = opened
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let author = Library.insert("Author", ["name": "B"], into: context)
        Library.insert("Book", ["title": "A", "writer": author], into: context)
        try context.save()
      }
      #expect(shelf.state.withLock { $0.registered.values.reduce(0, +) } > 0)
    }
    #expect(shelf.state.withLock { $0.registered.values.reduce(0, +) } == 0)
  }

  // MARK: IDs

  @Test func referencesAreKeptInIDsAndURIs() throws {
    let (coordinator, store, _) = try open()
    let incremental = try #require(store as? IncrementalStore)
    let entity = try #require(coordinator.managedObjectModel.entitiesByName["Book"])
    let references: [Any] = [
      "42", 42, "a/b c%é", "'quoted'", "x", "", " ", "/", "50%20#a?b=ä;", "..", "\n",
    ]
    for reference in references {
      let id = incremental.newObjectID(for: entity, referenceObject: reference)
      let again = try #require(
        coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
      #expect(again == id)
      let found = incremental.referenceObject(for: again)
      if let text = reference as? String {
        #expect(found as? String == text)
      } else {
        #expect(found as? NSNumber == 42)
      }
    }
    #expect(
      incremental.newObjectID(for: entity, referenceObject: "42")
        != incremental.newObjectID(for: entity, referenceObject: 42))
  }

  @Test func anotherStoreInTheSameCoordinatorAnswersToo() throws {
    let (coordinator, _, _) = try open(fill)
    let memory = try coordinator.addPersistentStore(
      ofType: StoreTypeName.inMemory, configurationName: nil, at: nil)
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let book = Library.insert("Book", ["title": "C", "pages": 15], into: context)
      context.assign(book, to: memory)
      try context.save()
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.sortDescriptors = [ObjectSortDescriptor(key: "pages", ascending: true)]
      #expect(
        try context.fetch(request).map { $0.value(forKey: "title") as? String }
          == ["A", "C", "B"])
      request.affectedStores = [memory]
      #expect(try context.fetch(request).count == 1)
      let author = try #require(try Library.fetch("Author", in: context).first)
      book.setValue(author, forKey: "writer")
      let external = error { try context.save() }
      #expect(external?.code == .managedObjectExternalRelationship)
    }
  }
}
