// Bringing one context up to date with the save of another.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@Suite struct MergingTests {
  /// Runs a change in another context and gives its did-save notification to the body.
  private func merge(
    _ stack: Stack, into context: ManagedObjectContext,
    _ change: (ManagedObjectContext) throws -> Void
  ) throws {
    let other = stack.context()
    let recorder = NotificationRecorder(other, ManagedObjectContext.didSaveObjectsNotification)
    try other.performAndWait {
      try change(other)
      try other.save()
      context.mergeChanges(fromContextDidSave: try #require(recorder.notifications.last))
    }
  }

  @Test func anUpdateReachesARegisteredObjectWithoutMakingTheContextDirty() throws {
    let stack = try Stack()
    try stack.use { context in
      let book = context.make("Book", ["title": "old"])
      try context.save()
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      try merge(stack, into: context) {
        try $0.existingObject(with: book.objectID).setValue("new", forKey: "title")
      }
      #expect(book.text("title") == "new" && !context.hasChanges)
      #expect(recorder.objects(.refreshedObjects) == [book])
    }
  }

  @Test func unsavedChangesSurviveAMergeByProperty() throws {
    let stack = try Stack()
    try stack.use { context in
      let book = context.make("Book", ["title": "old", "pages": 1])
      try context.save()
      book.setValue(5, forKey: "pages")
      try merge(stack, into: context) {
        try $0.existingObject(with: book.objectID).setValue("new", forKey: "title")
      }
      #expect(book.text("title") == "new" && book.number("pages") == 5)
      try context.save()
    }
  }

  @Test func anInsertionIsReportedAsInserted() throws {
    let stack = try Stack()
    try stack.use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      try merge(stack, into: context) { $0.make("Book") }
      #expect(recorder.objects(.insertedObjects).count == 1 && !context.hasChanges)
    }
  }

  @Test func aDeletionReachesObjectsAndTheSetsTheyWereIn() throws {
    let stack = try Stack()
    try stack.use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      try context.save()
      try merge(stack, into: context) { $0.delete(try $0.existingObject(with: book.objectID)) }
      #expect(book.isDeleted && author.many("books").isEmpty && !context.hasChanges)
    }
  }

  @Test func aMergeTellsItsIDs() throws {
    let stack = try Stack()
    try stack.use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didMergeChangesObjectIDsNotification)
      try merge(stack, into: context) { $0.make("Book") }
      #expect(recorder.ids(.insertedObjectIDs).count == 1)
    }
  }

  @Test func remoteChangesAreGivenAsURIs() throws {
    let stack = try Stack()
    try stack.use { context in
      let book = context.make("Book", ["title": "old"])
      try context.save()
      try stack.use { other in
        try other.existingObject(with: book.objectID).setValue("new", forKey: "title")
        try other.save()
      }
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["updated": [book.objectID.uriRepresentation()]], into: [context])
      #expect(book.text("title") == "new")
    }
  }

  @Test func anAutomaticMergeHappensOnTheReceiversQueue() async throws {
    let stack = try Stack()
    let context = stack.context()
    context.automaticallyMergesChangesFromParent = true
    let id = try await context.perform {
      let book = context.make("Book", ["title": "old"])
      try context.save()
      return book.objectID
    }
    try stack.use { other in
      try other.existingObject(with: id).setValue("new", forKey: "title")
      try other.save()
    }
    // The merge was enqueued before this block.
    let title = await context.perform(schedule: .enqueued) {
      context.object(with: id).text("title")
    }
    #expect(title == "new")
  }
}
