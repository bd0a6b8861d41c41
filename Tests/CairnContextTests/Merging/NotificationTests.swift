// What observers of a context are told.
import CairnContext
import CairnModel
import CairnStore
import Testing

/// Chapters 2.3, 2.4 and 7 of the specification.
@Suite struct NotificationTests {
  @Test func oneEventPostsOneNotificationWithItsObjectsOnly() throws {
    try Stack().use { context in
      let author = context.make("Author")
      context.processPendingChanges()
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      let book = context.make("Book")
      book.setValue(author, forKey: "author")
      book.setValue("t", forKey: "title")
      context.processPendingChanges()
      context.processPendingChanges()
      #expect(recorder.notifications.count == 1)
      #expect(recorder.objects(.insertedObjects) == [book])
      #expect(recorder.objects(.updatedObjects) == [author])
      #expect(recorder.notifications.last?.userInfo?["deleted"] == nil)
    }
  }

  @Test func aSavePostsWillSaveDidSaveAndTheObjectIDs() throws {
    try Stack().use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.willSaveObjectsNotification,
        ManagedObjectContext.didSaveObjectsNotification,
        ManagedObjectContext.didSaveObjectIDsNotification)
      let author = context.make("Author")
      try context.save()
      #expect(
        recorder.notifications.map(\.name) == [
          ManagedObjectContext.willSaveObjectsNotification,
          ManagedObjectContext.didSaveObjectsNotification,
          ManagedObjectContext.didSaveObjectIDsNotification,
        ])
      #expect(recorder.ids(.insertedObjectIDs) == [author.objectID])
      #expect(recorder.notifications[1].userInfo?["inserted"] as? Set<ManagedObject> == [author])
      for name in ["updated", "deleted", "updated_objectIDs", "deleted_objectIDs"] {
        #expect(recorder.notifications.allSatisfy { $0.userInfo?[name] == nil }, "2.4: \(name)")
      }
      try context.save()
      #expect(recorder.notifications.count == 3)
    }
  }

  @Test func resetPostsTheIDsOfEverything() throws {
    try Stack().use { context in
      let author = context.make("Author")
      try context.save()
      let id = author.objectID
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      context.reset()
      #expect(recorder.ids(.invalidatedAllObjects) == [id])
      #expect(author.managedObjectContext == nil && context.registeredObjects.isEmpty)
    }
  }
}
