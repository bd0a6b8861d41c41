// Uniquing, faults, the row cache and refreshing, rule by rule (chapter 6).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 6: faulting, uniquing, row cache.
@Suite struct FaultRuleTests {
  /// A stack whose row cache has nothing of the one author with three books that it stores.
  private func stored() throws -> (CountingStack, ManagedObjectID) {
    let stack = try CountingStack()
    let id = try stack.use { context in
      let author = context.make("Author", ["name": "Ada"])
      for number in 0..<3 { context.make("Book", ["title": "\(number)", "author": author]) }
      try context.save()
      return author.objectID
    }
    _ = stack.takeTraffic()
    return (stack, id)
  }

  // MARK: Uniquing

  @Test func onlyExistingObjectReads() throws {
    let (stack, id) = try stored()
    try stack.use { context in
      #expect(context.registeredObject(for: id) == nil)
      let object = context.object(with: id)
      #expect(object.isFault && context.registeredObject(for: id) === object)
      #expect(context.object(with: id) === object && stack.takeTraffic() == StoreTraffic())
      #expect(try context.existingObject(with: id) === object && !object.isFault)
      #expect(stack.takeTraffic().rowReads == 1)
      _ = try context.existingObject(with: id)
      #expect(stack.takeTraffic() == StoreTraffic())
    }
  }

  @Test func aMissingObjectIsAnErrorOfItsOwn() throws {
    let (stack, id) = try stored()
    try stack.use { context in
      context.delete(try context.existingObject(with: id))
      try context.save()
    }
    try stack.use { context in
      let error = #expect(throws: CoreDataError.self) { try context.existingObject(with: id) }
      #expect(error?.code == .managedObjectReferentialIntegrity && error?.code.rawValue == 133000)
      #expect(!context.hasChanges)
    }
  }

  @Test func changedAndLockedObjectsAreHeldAndOthersAreNot() throws {
    let (stack, _) = try stored()
    try stack.use { context in
      func register() throws {
        let books = try context.all("Book", sortedBy: "title")
        books[0].setValue("changed", forKey: "title")
        context.detectConflicts(for: books[1])
      }
      try register()
      let titles = context.registeredObjects.compactMap { $0.text("title") }
      #expect(titles.sorted() == ["1", "changed"])
      try context.save()
      #expect(context.registeredObjects.isEmpty)
    }
  }

  // MARK: Faults

  @Test func questionsOfIdentityAndStateFireNothing() throws {
    let (stack, id) = try stored()
    try stack.use { context in
      let author = context.object(with: id)
      _ = (author.objectID, author.entity, author.isFault, author.managedObjectContext)
      _ = (author.description, author.hash, author == author, author.isKind(of: Author.self))
      _ = (author.isInserted, author.isUpdated, author.isDeleted, author.hasChanges)
      _ = (author.changedValues(), author.faultingState)
      #expect(author.isFault && author.faultingState != 0)
      #expect(stack.takeTraffic() == StoreTraffic())
      #expect(author.objectIDs(forRelationshipNamed: "books").count == 3)
      #expect(author.isFault && context.registeredObjects == [author])
      author.willAccessValue(forKey: nil)
      #expect(!author.isFault && author.faultingState == 0)
    }
  }

  @Test func aToOneLeadsToAFaultAndAToManyIsReadWhenItIsAskedFor() throws {
    let (stack, _) = try stored()
    try stack.use { context in
      let book = try #require(try context.all("Book", "title == '0'").first)
      let author = try #require(book.one("author"))
      #expect(author.isFault && author.hasFault(forRelationshipNamed: "books"))
      _ = author.text("name")
      _ = stack.takeTraffic()
      #expect(author.hasFault(forRelationshipNamed: "books"))
      let books = author.many("books")
      #expect(books.count == 3 && stack.takeTraffic().memberReads == 1)
      #expect(!author.hasFault(forRelationshipNamed: "books"))
      let others = books.filter { $0 !== book }
      #expect(others.allSatisfy { $0.isFault })
      _ = author.many("books")
      #expect(stack.takeTraffic() == StoreTraffic())
    }
  }

  @Test func theRowCacheIsSharedByTheContextsOfACoordinator() throws {
    let (stack, id) = try stored()
    let first = stack.context()
    let held = try first.performAndWait { Kept(object: try first.existingObject(with: id)) }
    _ = stack.takeTraffic()
    try stack.use { context in
      let name = try context.existingObject(with: id).text("name")
      #expect(name == "Ada")
      #expect(stack.takeTraffic() == StoreTraffic())
    }
    #expect(held.object.objectID == id)
  }

  @Test func aCachedRowServesUntilItIsStale() throws {
    let (stack, id) = try stored()
    try stack.use { context in
      let author = try context.existingObject(with: id)
      #expect(context.stalenessInterval < 0)
      // A batch passes the row cache by.
      let request = BatchUpdateRequest(entityName: "Author")
      request.propertiesToUpdate = ["name": "Grace"]
      try context.execute(request)
      for mergeChanges in [true, false] {
        context.refresh(author, mergeChanges: mergeChanges)
        #expect(author.text("name") == "Ada")
      }
      context.stalenessInterval = 1000
      context.refresh(author, mergeChanges: true)
      #expect(author.text("name") == "Ada")
      context.stalenessInterval = 0
      context.refresh(author, mergeChanges: true)
      #expect(author.text("name") == "Grace")
    }
  }

  // MARK: Rows that are gone

  private func withLostObject(
    _ body: (ManagedObjectContext, ManagedObject) throws -> Void
  ) throws {
    let stack = try Stack()
    let id = try stack.use { context in
      let book = context.make("Book", ["title": "t"])
      try context.save()
      return book.objectID
    }
    try stack.use { context in
      context.delete(try context.existingObject(with: id))
      try context.save()
    }
    try stack.use { context in try body(context, context.object(with: id)) }
  }

  @Test func anInaccessibleFaultBecomesADeletedObjectWithoutValues() throws {
    try withLostObject { context, book in
      #expect(context.shouldDeleteInaccessibleFaults)
      #expect(book.text("title") == nil && book.number("pages") == nil && book.isDeleted)
      #expect(book.one("author") == nil && book.many("tags").isEmpty && !book.isFault)
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test func whatWasGivenToAnObjectWithoutARowIsSavedWithoutIt() throws {
    let stack = try Stack()
    let (first, second) = (stack.context(), stack.context())
    let (gone, kept) = try first.performAndWait {
      let (author, book) = (first.make("Author"), first.make("Book"))
      try first.save()
      return (author.objectID, book.objectID)
    }
    try first.performAndWait {
      let author = first.object(with: gone)
      first.refresh(author, mergeChanges: false)
      try second.performAndWait {
        second.delete(second.object(with: gone))
        try second.save()
      }
      // Gaining a member takes no values.
      let (book, new) = (first.object(with: kept), first.make("Book"))
      author.mutableSetValue(forKey: "books").add(book)
      author.mutableSetValue(forKey: "books").add(new)
      try first.save()
      #expect(book.one("author") == nil && new.one("author") == nil && !first.hasChanges)
      first.refreshAllObjects()
      #expect(book.one("author") == nil && new.one("author") == nil)
    }
  }

  @Test func aPairWithAnObjectWithoutARowIsSavedWithoutIt() throws {
    let stack = try Stack()
    let (first, second) = (stack.context(), stack.context())
    try first.performAndWait {
      let (author, passport) = (first.make("Author"), first.make("Passport"))
      try first.save()
      first.refresh(passport, mergeChanges: false)
      let gone = passport.objectID
      try second.performAndWait {
        second.delete(second.object(with: gone))
        try second.save()
      }
      author.setValue(passport, forKey: "passport")
      try first.save()
      first.refreshAllObjects()
      #expect(author.one("passport") == nil && !first.hasChanges)
    }
  }

  @Test func itTrapsWhenTheContextDoesNotWantThat() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let stack = try Stack()
      let book = stack.context()
      let id = try book.performAndWait {
        let object = book.make("Book")
        try book.save()
        let id = object.objectID
        book.delete(object)
        try book.save()
        return id
      }
      try stack.use { context in
        context.shouldDeleteInaccessibleFaults = false
        _ = context.object(with: id).text("title")
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("CoreData could not fulfill a fault for"))
  }

  @Test func aContextMayDecideByItself() throws {
    final class Forgiving: ManagedObjectContext, @unchecked Sendable {
      var asked: [ManagedObjectID] = []
      override func shouldHandleInaccessibleFault(
        _ fault: ManagedObject, for oid: ManagedObjectID,
        triggeredByProperty property: PropertyDescription?
      ) -> Bool {
        asked.append(oid)
        return true
      }
    }
    try withLostObject { other, lost in
      let context = Forgiving(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = other.persistentStoreCoordinator
      let id = lost.objectID
      context.performAndWait {
        context.shouldDeleteInaccessibleFaults = false
        #expect(context.object(with: id).text("title") == nil)
        #expect(context.asked == [id])
      }
    }
  }

  @Test(arguments: [true, false])
  func anObjectWhoseContextWasResetOrHasGoneHasNoValues(isReset: Bool) throws {
    let stack = try Stack(in: .sqlite)
    func made() throws -> Kept {
      try stack.use { context in
        let book = context.make("Book", ["title": "t", "author": context.make("Author")])
        context.make("Chapter", ["book": book])
        try context.save()
        context.refresh(book, mergeChanges: false)
        if isReset { context.reset() }
        return Kept(object: book)
      }
    }
    let book = try made().object
    #expect(book.managedObjectContext == nil && book.isFault)
    #expect(book.many("tags").isEmpty && book.objectIDs(forRelationshipNamed: "tags").isEmpty)
    #expect(book.text("title") == nil && book.number("pages") == nil && book.one("author") == nil)
    #expect(book.value(forKeyPath: "author.name") == nil && book.many("chapters").isEmpty)
    let tags = book.primitiveValue(forKey: "tags") as? NSMutableSet
    #expect(book.primitiveValue(forKey: "title") == nil && tags?.count == 0)
    #expect(book.committedValues(forKeys: ["title"])["title"] is NSNull)
    book.setValue("changed", forKey: "title")
    #expect(book.text("title") == "changed")
    let titles = try stack.use { try $0.all("Book").map { $0.text("title") } }
    #expect(titles == ["t"])
  }

  // MARK: refresh

  @Test func refreshingWithMergeReappliesUnsavedChangesAndReadsRelationshipsAgain() throws {
    let stack = try Stack()
    try stack.use { context in
      let author = context.make("Author", ["name": "a"])
      let mine = context.make("Book", ["title": "mine"])
      try context.save()
      mine.setValue(author, forKey: "author")
      author.setValue("b", forKey: "name")
      try stack.use { other in
        let same = try other.existingObject(with: author.objectID)
        same.setValue(Date(timeIntervalSince1970: 7), forKey: "born")
        other.make("Book", ["title": "theirs", "author": same])
        try other.save()
      }
      context.refresh(author, mergeChanges: true)
      #expect(author.text("name") == "b" && author.isUpdated)
      #expect(author.value(forKey: "born") as? Date == Date(timeIntervalSince1970: 7))
      #expect(author.many("books").compactMap { $0.text("title") }.sorted() == ["mine", "theirs"])
      #expect((author as? Author)?.calls.last == "awakeFromSnapshotEvents 32")
    }
  }

  @Test func refreshingWithoutMergeForgetsChangesTransientsAndRelatedObjects() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": "a"])
      try context.save()
      weak var book: ManagedObject?
      func relate() throws {
        let new = context.make("Book", ["author": author])
        try context.save()
        book = new
      }
      #expect((author.value(forKey: "books") as? NSSet)?.count == 0)
      try relate()
      #expect(book != nil, "a loaded relationship holds its members")
      author.setValue("b", forKey: "name")
      author.setValue("glad", forKey: "mood")
      context.refresh(author, mergeChanges: false)
      context.processPendingChanges()
      #expect(author.isFault && book == nil && !context.hasChanges)
      #expect(author.text("name") == "a" && author.text("mood") == nil)
    }
  }

  @Test func refreshingANewObjectWithMergeLeavesItAlone() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": "a"])
      context.refresh(author, mergeChanges: true)
      context.refreshAllObjects()
      #expect(!author.isFault && author.isInserted && author.text("name") == "a")
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func refreshingANewObjectWithoutMergeMakesItAFault(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      let author = try #require(context.make("Author", ["name": "a"]) as? Author)
      let (book, friend) = (context.make("Book", ["author": author]), context.make("Author"))
      author.mutableSetValue(forKey: "friends").add(friend)
      context.make("Passport", ["owner": author])
      let changes = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      author.calls = []
      context.refresh(author, mergeChanges: false)
      #expect(author.isFault && author.isInserted)
      #expect(author.calls == ["willTurnIntoFault", "didTurnIntoFault"])
      #expect(book.one("author") == nil && friend.many("friends").isEmpty)
      #expect(author.isFault && context.insertedObjects.contains(author))
      context.processPendingChanges()
      #expect(changes.objects(.insertedObjects).contains(author))
      #expect(author.text("name") == "Anonymous" && author.many("friends").isEmpty)
      #expect(author.one("passport") == nil && author.isInserted && !author.isFault)
      context.refresh(author, mergeChanges: false)
      #expect(author.isFault)
      context.processPendingChanges()
      #expect(changes.objects(.refreshedObjects) == [author])
      try context.save()
      #expect(author.text("name") == "Anonymous" && !author.hasChanges)
    }
    let count = try stack.use { try $0.all("Author", "books.@count == 0").count }
    #expect(count == 2)
  }

  // MARK: reset and rollback

  @Test func resetForgetsEverythingWithOneNotification() throws {
    try Stack().use { context in
      let author = try #require(context.make("Author") as? Author)
      let book = context.make("Book", ["author": author])
      try context.save()
      context.make("Tag", ["label": "x"])
      author.name = "changed"
      context.processPendingChanges()
      author.calls = []
      let ids = Set(context.registeredObjects.map(\.objectID))
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      context.reset()
      #expect(recorder.notifications.count == 1 && recorder.ids(.invalidatedAllObjects) == ids)
      #expect(!context.hasChanges && context.registeredObjects.isEmpty)
      #expect(author.managedObjectContext == nil && book.isFault)
      #expect(author.calls == ["willTurnIntoFault", "didTurnIntoFault"])
      let names = try context.all("Author").map { $0.text("name") }
      #expect(names == ["Anonymous"])
    }
  }

  @Test func rollbackUndoesAllThreeKindsWithoutAnUndoManager() throws {
    try Stack().use { context in
      let (kept, gone) = (context.make("Author", ["name": "a"]), context.make("Author"))
      let book = context.make("Book", ["author": kept])
      try context.save()
      kept.setValue("b", forKey: "name")
      book.setValue(gone, forKey: "author")
      context.delete(gone)
      let new = context.make("Author")
      context.processPendingChanges()
      context.make("Book", ["author": kept])
      context.rollback()
      #expect(!context.hasChanges && kept.text("name") == "a" && !gone.isDeleted)
      #expect(new.managedObjectContext == nil && book.one("author") === kept)
      #expect(kept.many("books") == [book] && gone.many("books").isEmpty)
      #expect(context.registeredObjects == [kept, gone, book])
    }
  }
}
