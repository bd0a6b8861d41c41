// Events of a context: what counts as changed, and what observers see (chapter 7).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 7: change processing and notifications.
@Suite struct EventTests {
  @Test func anInsertedObjectThatIsChangedIsInsertedOnly() throws {
    try Stack().use { context in
      let author = context.make("Author")
      context.processPendingChanges()
      author.setValue("x", forKey: "name")
      #expect(context.insertedObjects == [author] && context.updatedObjects.isEmpty)
    }
  }

  @Test func aChangedObjectThatIsDeletedIsDeletedOnly() throws {
    try Stack().use { context in
      let author = context.make("Author")
      try context.save()
      author.setValue("x", forKey: "name")
      context.delete(author)
      #expect(context.deletedObjects == [author] && context.updatedObjects.isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func anObjectInsertedAndDeletedIsInNoSet(inOneEvent: Bool) throws {
    try Stack().use { context in
      let author = context.make("Author")
      if !inOneEvent { context.processPendingChanges() }
      context.delete(author)
      #expect(!context.hasChanges && context.insertedObjects.isEmpty)
      #expect(context.deletedObjects.isEmpty)
      context.processPendingChanges()
      #expect(author.managedObjectContext == nil)
    }
  }

  @Test func unprocessedChangesCountAtOnce() throws {
    try Stack().use { context in
      context.make("Author")
      #expect(context.hasChanges && context.insertedObjects.count == 1)
    }
  }

  @Test func processingWithoutChangesPostsNothing() throws {
    try Stack().use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      context.processPendingChanges()
      #expect(recorder.notifications.isEmpty)
    }
  }

  @Test func anObjectInsertedAndDeletedInOneEventIsReportedAsDeleted() throws {
    try Stack().use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      let author = context.make("Author")
      context.delete(author)
      context.processPendingChanges()
      #expect(recorder.notifications.count == 1 && recorder.objects(.deletedObjects) == [author])
      #expect(recorder.objects(.insertedObjects).isEmpty && !context.hasChanges)
      context.processPendingChanges()
      #expect(recorder.notifications.count == 1)
    }
  }

  @Test func inverseMaintenanceAndPropagationAreReported() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      let tag = context.make("Tag", ["label": "x"])
      book.mutableSetValue(forKey: "tags").add(tag)
      try context.save()
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      context.delete(author)
      context.processPendingChanges()
      #expect(recorder.objects(.deletedObjects) == [author, book])
      #expect(recorder.objects(.updatedObjects) == [tag])
    }
  }

  @Test func observersCanAskForTheEventsOldValuesAndTheirOwnChangesAreAnotherEvent() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": "a"])
      let book = context.make("Book", ["title": "t"])
      try context.save()
      let seen = LockedValue<[String: Any]>([:])
      let (keptAuthor, keptBook) = (Kept(object: author), Kept(object: book))
      let token = NotificationCenter.default.addObserver(
        forName: ManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
      ) { note in
        guard
          (note.userInfo?["updated"] as? Set<ManagedObject>)?.contains(keptAuthor.object) == true
        else { return }
        let old = keptAuthor.object.changedValuesForCurrentEvent()
        seen.with { $0 = old }
        keptBook.object.setValue("by an observer", forKey: "title")
      }
      author.setValue("b", forKey: "name")
      context.processPendingChanges()
      NotificationCenter.default.removeObserver(token)
      #expect(seen.value["name"] as? String == "a")
      #expect(author.changedValuesForCurrentEvent().isEmpty)
      #expect(book.changedValuesForCurrentEvent()["title"] as? String == "t")
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      context.processPendingChanges()
      #expect(recorder.objects(.updatedObjects) == [book])
    }
  }

  @Test func aFetchWithPendingChangesProcessesThem() throws {
    try Stack().use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      context.make("Author")
      let request = FetchRequest<ManagedObject>(entityName: "Author")
      request.includesPendingChanges = false
      _ = try context.fetch(request)
      #expect(recorder.notifications.isEmpty)
      _ = try context.all("Author")
      #expect(recorder.notifications.count == 1)
    }
  }

  @Test func refreshAllObjectsReportsAllRegisteredOnes() throws {
    try Stack().use { context in
      let objects = [context.make("Author"), context.make("Book")]
      try context.save()
      objects[1].setValue("changed", forKey: "title")
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      context.refreshAllObjects()
      #expect(recorder.objects(.refreshedObjects) == Set(objects))
      #expect(objects[0].isFault && !objects[1].isFault)
      #expect(objects[1].text("title") == "changed" && objects[1].hasChanges)
    }
  }

  @Test func aMergedUpdateOfAnObjectThatIsNotHereIsIgnored() throws {
    let stack = try Stack()
    let id = try stack.use { context in
      let book = context.make("Book")
      try context.save()
      return book.objectID
    }
    try stack.use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["updated_objectIDs": [id]], into: [context])
      #expect(context.registeredObjects.isEmpty && recorder.notifications.isEmpty)
    }
  }

  @Test func aMergedDeletionLeavesAnObjectInUseRegisteredAndDeleted() throws {
    let stack = try Stack()
    try stack.use { context in
      let book = context.make("Book", ["title": "t"])
      try context.save()
      try stack.use { other in
        other.delete(try other.existingObject(with: book.objectID))
        try other.save()
      }
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["deleted": [book.objectID]], into: [context])
      #expect(book.isDeleted && !book.isFault && context.registeredObjects == [book])
      #expect(!context.hasChanges)
    }
  }

  @Test func aMergeNamesAllFiveKindsOfIDs() throws {
    let stack = try Stack()
    try stack.use { context in
      let book = context.make("Book")
      try context.save()
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didMergeChangesObjectIDsNotification)
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["updated": [book.objectID]], into: [context])
      let keys = recorder.notifications.last?.userInfo?.keys.compactMap { $0.base as? String }
      #expect(
        Set(keys ?? []) == [
          "inserted_objectIDs", "updated_objectIDs", "deleted_objectIDs", "refreshed_objectIDs",
          "invalidated_objectIDs",
        ])
      #expect(recorder.ids(.updatedObjectIDs) == [book.objectID])
    }
  }

  @Test func remoteChangesGoToEachContextOnItsOwnQueue() throws {
    let stack = try Stack()
    let contexts = [stack.context(), stack.context()]
    let id = try stack.use { context in
      let book = context.make("Book", ["title": "old"])
      try context.save()
      return book.objectID
    }
    let held = contexts.map { context in
      context.performAndWait {
        let book = context.object(with: id)
        #expect(book.text("title") == "old")
        return Kept(object: book)
      }
    }
    try stack.use { context in
      try context.existingObject(with: id).setValue("new", forKey: "title")
      try context.save()
    }
    ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: ["updated": [id.uriRepresentation()]], into: contexts)
    for (context, kept) in zip(contexts, held) {
      context.performAndWait { #expect(kept.object.text("title") == "new") }
    }
  }

  @Test func automaticMergingNeedsAQueue() async {
    await #expect(processExitsWith: .failure) {
      let context = ManagedObjectContext(
        concurrencyType: .confinementConcurrencyType)
      context.persistentStoreCoordinator = try Stack().coordinator
      context.automaticallyMergesChangesFromParent = true
    }
  }
}

/// An object carried between blocks of its context's queue.
// Unchecked: the object is used inside blocks of its context only.
struct Kept: @unchecked Sendable {
  let object: ManagedObject
}
