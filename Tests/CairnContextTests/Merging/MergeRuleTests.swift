// What a merge brings into a context and what it reports (chapter 7.4).
import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 7.4: merging changes of another context.
@Suite struct MergeRuleTests {
  private static let didChange = ManagedObjectContext.didChangeObjectsNotification

  /// Saves a change of another context and merges it.
  ///
  /// - Returns: What the merge posted.
  private func merge(
    _ stack: Stack, into context: ManagedObjectContext, elsewhere: Bool = false,
    named name: Notification.Name = ManagedObjectContext.didSaveObjectsNotification,
    _ change: (ManagedObjectContext) throws -> Void
  ) throws -> NotificationRecorder {
    var kept: NotificationRecorder?
    let body: (ManagedObjectContext) throws -> Void = { other in
      let saves = NotificationRecorder(other, name)
      try change(other)
      try other.save()
      let note = try #require(saves.notifications.last)
      let recorder = NotificationRecorder(
        context, Self.didChange, ManagedObjectContext.didMergeChangesObjectIDsNotification)
      context.mergeChanges(fromContextDidSave: note)
      recorder.stop()
      kept = recorder
    }
    if elsewhere { try stack.useElsewhere(body) } else { try stack.use(body) }
    return try #require(kept)
  }

  private func info(_ recorder: NotificationRecorder) -> [AnyHashable: Any] {
    recorder.notifications.first { $0.name == Self.didChange }?.userInfo ?? [:]
  }

  // MARK: While it is new

  @Test func aMergedDeletionIsAmongTheDeletedObjectsUntilItIsProcessed() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let (kept, gone) = (context.make("Book"), context.make("Book"))
      try context.save()
      let id = gone.objectID
      let recorder = try merge(stack, into: context) { other in
        other.delete(try other.existingObject(with: id))
      }
      #expect(context.deletedObjects == [gone] && gone.isDeleted && !context.hasChanges)
      #expect(info(recorder)["deleted"] as? Set<ManagedObject> == [gone])
      context.processPendingChanges()
      #expect(context.deletedObjects.isEmpty && gone.isDeleted && !kept.isDeleted)
      try context.save()
    }
  }

  @Test func aMergedDeletionIsProcessedByItselfSomeTimeLater() throws {
    let stack = try Stack(in: .sqlite)
    let context = stack.context()
    let gone = try context.performAndWait {
      let gone = context.make("Book")
      try context.save()
      let id = gone.objectID
      _ = try merge(stack, into: context) { other in
        other.delete(try other.existingObject(with: id))
      }
      #expect(context.deletedObjects == [gone])
      return Kept(object: gone)
    }
    // After what the merge has put into the queue.
    context.performAndWait {}
    context.performAndWait {
      #expect(context.deletedObjects.isEmpty && gone.object.isDeleted)
    }
  }

  @Test func didMergeCarriesTheIDsOfRefreshedObjects() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let books = ["a", "b", "c"].map { context.make("Book", ["title": $0]) }
      try context.save()
      let ids = books.map(\.objectID)
      context.refresh(books[1], mergeChanges: false)
      context.processPendingChanges()
      let recorder = try merge(stack, into: context) { other in
        for id in ids[0...1] {
          try other.existingObject(with: id).setValue("new", forKey: "title")
        }
      }
      let told = try #require(recorder.notifications.last)
      #expect(told.name == ManagedObjectContext.didMergeChangesObjectIDsNotification)
      #expect(recorder.ids(.refreshedObjectIDs) == [ids[0]], "a fault has nothing to be refreshed")
      #expect(recorder.ids(.updatedObjectIDs) == Set(ids[0...1]))
    }
  }

  // MARK: Whose notifications

  @Test(arguments: [
    ManagedObjectContext.didSaveObjectsNotification,
    ManagedObjectContext.didSaveObjectIDsNotification,
  ])
  func objectsOfAnotherCoordinatorOnTheFileAreMatchedByID(name: Notification.Name) throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let (kept, gone) = (context.make("Book", ["title": "old"]), context.make("Book"))
      try context.save()
      _ = try merge(stack, into: context, elsewhere: true, named: name) { other in
        let books = try other.all("Book", sortedBy: "title")
        #expect(books.count == 2)
        for book in books {
          if book.text("title") == "old" {
            book.setValue("new", forKey: "title")
          } else {
            other.delete(book)
          }
        }
        other.make("Tag", ["label": "x"])
      }
      #expect(kept.text("title") == "new" && gone.isDeleted && !context.hasChanges)
      let labels = try context.all("Tag").map { $0.text("label") }
      #expect(labels == ["x"])
    }
  }

  // MARK: Inserted

  @Test func anInsertedObjectComesAsAFaultAndIsAlwaysReported() throws {
    let stack = try Stack()
    try stack.use { context in
      context.retainsRegisteredObjects = true
      let recorder = try merge(stack, into: context) { $0.make("Book", ["title": "t"]) }
      let book = try #require((info(recorder)["inserted"] as? Set<ManagedObject>)?.first)
      #expect(book.isFault && !book.isInserted && !context.hasChanges)
      #expect(context.registeredObjects == [book] && book.text("title") == "t")
    }
  }

  // MARK: Updated

  @Test func anUpdateIsReportedAsRefreshedIfTheObjectIsInUseAndNoFault() throws {
    let stack = try Stack()
    try stack.use { context in
      let (read, fault) = (context.make("Book"), context.make("Book"))
      try context.save()
      context.refresh(fault, mergeChanges: false)
      context.processPendingChanges()
      let recorder = try merge(stack, into: context) { other in
        for book in try other.all("Book") { book.setValue("new", forKey: "title") }
      }
      #expect(info(recorder)["refreshed"] as? Set<ManagedObject> == [read])
      #expect(info(recorder)["updated"] == nil)
      #expect(fault.isFault && read.text("title") == "new" && fault.text("title") == "new")
    }
  }

  @Test func anUpdatedObjectKeepsItsUnsavedRelationships() throws {
    let stack = try Stack()
    try stack.use { context in
      let book = context.make("Book")
      let tag = context.make("Tag", ["label": "mine"])
      try context.save()
      book.mutableSetValue(forKey: "tags").add(tag)
      _ = try merge(stack, into: context) { other in
        let same = try other.existingObject(with: book.objectID)
        same.setValue("new", forKey: "title")
        same.mutableSetValue(forKey: "tags").add(other.make("Tag", ["label": "theirs"]))
      }
      let labels = Set(book.many("tags").map { $0.text("label") })
      #expect(book.text("title") == "new" && labels == ["mine", "theirs"])
      #expect(tag.many("works") == [book])
    }
  }

  /// What the newer row relates to the object goes as its delete rules say.
  @Test func aDeletionThatIsNotSavedIsBasedOnTheMergedRow() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let author = context.make("Author", ["name": "old"])
      context.make("Book", ["author": author])
      try context.save()
      context.delete(author)
      _ = try merge(stack, into: context) { other in
        let same = try other.existingObject(with: author.objectID)
        same.setValue("new", forKey: "name")
        other.make("Book", ["author": same])
      }
      #expect(author.text("name") == "new" && context.deletedObjects.count == 3)
      try context.save()
      #expect(try context.all("Author").isEmpty && context.all("Book").isEmpty)
    }
  }

  @Test func aDeletedMemberThatWasNotReadIsBasedOnTheMergedRow() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let id = try stack.use { other in
        let book = other.make("Book", ["title": "t"])
        other.make("Chapter", ["book": book, "title": "old"])
        try other.save()
        return book.objectID
      }
      context.delete(try context.existingObject(with: id))
      context.processPendingChanges()
      _ = try merge(stack, into: context) { other in
        try other.all("Chapter").first?.setValue("new", forKey: "title")
      }
      try context.save()
      #expect(try context.all("Chapter").isEmpty)
    }
  }

  // MARK: Deleted

  @Test func aDeletionIsReportedIfTheObjectIsInUse() throws {
    let stack = try Stack()
    try stack.use { context in
      let used = context.make("Book")
      func makeUnused() throws -> ManagedObjectID {
        let book = context.make("Book")
        try context.save()
        return book.objectID
      }
      let unused = try makeUnused()
      #expect(context.registeredObjects == [used])
      let recorder = try merge(stack, into: context) { other in
        other.delete(try other.existingObject(with: used.objectID))
        other.delete(try other.existingObject(with: unused))
      }
      #expect(info(recorder)["deleted"] as? Set<ManagedObject> == [used])
      #expect(recorder.ids(.deletedObjectIDs) == [used.objectID, unused])
    }
  }

  /// Nothing is saved with a key to an object that is gone.
  ///
  /// Under the error policy the save says which changed objects are; what only has new members is
  /// no change of a row.
  @Test(arguments: PolicyRuleTests.types, ["author", "passport"])
  func whatIsRelatedHereToAnObjectThatWasDeletedDoesNotDangle(
    type: MergePolicyType, key: String
  ) throws {
    let stack = try Stack(in: .sqlite)
    try stack.use(policy: MergePolicy(merge: type)) { context in
      let entity = key == "author" ? "Author" : "Passport"
      let gone = context.make(entity)
      try context.save()
      context.refresh(gone, mergeChanges: false)
      let mine = context.make(key == "author" ? "Book" : "Author")
      mine.setValue(gone, forKey: key)
      _ = try merge(stack, into: context) {
        $0.delete(try $0.existingObject(with: gone.objectID))
      }
      if type != .errorMergePolicyType {
        #expect(mine.one(key) == nil && gone.isDeleted)
      } else if key == "passport" {
        let error = #expect(throws: CoreDataError.self) { try context.save() }
        #expect(error?.code == .managedObjectMerge)
        return
      }
      try context.save()
      #expect(mine.one(key) == nil && !context.hasChanges)
      // That no key is left in the file is checked when the stack goes.
    }
  }

  @Test func aFaultThatIsDeletedElsewhereIsNoFaultAnyMoreAndReadsAsNothing() throws {
    let stack = try Stack()
    try stack.use { context in
      let author = context.make("Author", ["name": "a"])
      context.make("Book", ["author": author])
      try context.save()
      context.refresh(author, mergeChanges: false)
      _ = try merge(stack, into: context) {
        $0.delete(try $0.existingObject(with: author.objectID))
      }
      #expect(author.isDeleted && !author.isFault && context.registeredObjects == [author])
      _ = author.text("name")
      #expect(author.many("books").isEmpty && !context.hasChanges)
    }
  }

  @Test func anObjectThatComesBackIsThereAgain() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let book = context.make("Book", ["title": "t"])
      try context.save()
      context.refresh(book, mergeChanges: false)
      try stack.use { other in
        let manager = UndoManager()
        manager.groupsByEvent = false
        other.undoManager = manager
        let saves = NotificationRecorder(
          other, ManagedObjectContext.didSaveObjectsNotification)
        other.delete(try other.existingObject(with: book.objectID))
        try other.save()
        context.mergeChanges(fromContextDidSave: try #require(saves.notifications.last))
        #expect(book.isDeleted)
        other.undo()
        try other.save()
        context.mergeChanges(fromContextDidSave: try #require(saves.notifications.last))
      }
      #expect(!book.isDeleted && book.text("title") == "t" && !context.hasChanges)
    }
  }

  // MARK: Dictionaries

  @Test(
    arguments: [
      ("inserted", "updated", "deleted"),
      ("inserted_objectIDs", "updated_objectIDs", "deleted_objectIDs"),
    ], ["IDs", "URIs", "set"])
  func remoteChangesAreArraysOrSetsOfIDsOrURIs(
    keys: (String, String, String), form: String
  ) throws {
    let stack = try Stack()
    try stack.use { context in
      let (kept, gone) = (context.make("Book", ["title": "old"]), context.make("Book"))
      try context.save()
      let new = try stack.use { other in
        try other.existingObject(with: kept.objectID).setValue("new", forKey: "title")
        other.delete(try other.existingObject(with: gone.objectID))
        let new = other.make("Book")
        try other.save()
        return new.objectID
      }
      func value(_ id: ManagedObjectID) -> Any {
        switch form {
        case "IDs": return [id]
        case "URIs": return [id.uriRepresentation()]
        default: return Set([id])
        }
      }
      let recorder = NotificationRecorder(context, Self.didChange)
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [
          keys.0: value(new), keys.1: value(kept.objectID), keys.2: value(gone.objectID),
        ], into: [context])
      #expect(recorder.notifications.count == 1)
      #expect(recorder.objects(.insertedObjects).map(\.objectID) == [new])
      #expect(recorder.objects(.refreshedObjects) == [kept])
      #expect(recorder.objects(.deletedObjects) == [gone])
      #expect(kept.text("title") == "new" && !context.hasChanges)
    }
  }

  @Test func remoteChangesMakeTheRowCacheReadAgain() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let book = context.make("Book", ["title": "old"])
      try context.save()
      try stack.useElsewhere { other in
        try other.all("Book").first?.setValue("new", forKey: "title")
        try other.save()
      }
      context.refresh(book, mergeChanges: true)
      #expect(book.text("title") == "old", "the cache has the row still")
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["updated": [book.objectID]], into: [context])
      #expect(book.text("title") == "new")
    }
  }

  // MARK: By itself

  @Test func automaticMergingIsOffByDefaultAndCanBeTurnedOffAgain() async throws {
    let stack = try Stack()
    let context = stack.context()
    #expect(!context.automaticallyMergesChangesFromParent)
    context.automaticallyMergesChangesFromParent = true
    #expect(context.automaticallyMergesChangesFromParent)
    context.automaticallyMergesChangesFromParent = false
    let kept = try await context.perform {
      let book = context.make("Book", ["title": "old"])
      try context.save()
      return Kept(object: book)
    }
    try stack.use { other in
      try other.existingObject(with: kept.object.objectID).setValue("new", forKey: "title")
      try other.save()
    }
    await context.perform(schedule: .enqueued) { #expect(kept.object.text("title") == "old") }
  }

  @Test func anAutomaticMergeKeepsUnsavedChangesAndReportsWhatCame() async throws {
    let stack = try Stack()
    let context = stack.context()
    context.automaticallyMergesChangesFromParent = true
    let kept = try await context.perform {
      let book = context.make("Book", ["title": "old"])
      try context.save()
      book.setValue(7, forKey: "pages")
      return Kept(object: book)
    }
    let recorder = await context.perform { NotificationRecorder(context, Self.didChange) }
    try stack.use { other in
      try other.existingObject(with: kept.object.objectID).setValue("new", forKey: "title")
      other.make("Book")
      try other.save()
    }
    await context.perform(schedule: .enqueued) {
      #expect(kept.object.text("title") == "new" && kept.object.number("pages") == 7)
      #expect(recorder.objects(.refreshedObjects) == [kept.object])
      #expect(recorder.objects(.insertedObjects).count == 1)
      #expect(context.updatedObjects == [kept.object])
    }
  }

  @Test func aChildFollowsWhatASiblingSavesIntoTheirParent() async throws {
    let root = try Stack().context()
    let (a, b) = (ManagedObjectContext(.privateQueue), ManagedObjectContext(.privateQueue))
    (a.parent, b.parent) = (root, root)
    b.automaticallyMergesChangesFromParent = true
    let id = try await root.perform {
      let author = root.make("Author", ["name": "old"])
      try root.save()
      return author.objectID
    }
    let kept = await b.perform { Kept(object: b.object(with: id)) }
    await b.perform { #expect(kept.object.text("name") == "old") }
    let recorder = await b.perform { NotificationRecorder(b, Self.didChange) }
    try await a.perform {
      a.object(with: id).setValue("new", forKey: "name")
      a.make("Book")
      try a.save()
    }
    await b.perform(schedule: .enqueued) {
      #expect(kept.object.text("name") == "new" && !b.hasChanges)
      #expect(recorder.objects(.insertedObjects).count == 1)
    }
  }
}
