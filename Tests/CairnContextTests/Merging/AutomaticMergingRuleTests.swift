// Chapter 7.4 of the specification.
import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

/// When a context begins to merge by itself.
@Suite struct AutomaticMergingRuleTests {
  /// Expects that what is saved elsewhere arrives in the context.
  private func expectMerging(
    _ context: ManagedObjectContext, after save: (ManagedObjectID) throws -> Void
  ) async throws {
    let kept = try context.performAndWait {
      let book = context.make("Book", ["title": "old"])
      try context.save()
      try context.parent?.performAndWait { try context.parent?.save() }
      try context.obtainPermanentIDs(for: [book])
      return Kept(object: book)
    }
    try save(kept.object.objectID)
    #expect(
      await eventually { context.performAndWait { kept.object.text("title") == "new" } })
  }

  private func rename(_ id: ManagedObjectID, in context: ManagedObjectContext) throws {
    try context.performAndWait {
      try context.existingObject(with: id).setValue("new", forKey: "title")
      try context.save()
    }
  }

  @Test func askedForBeforeThereIsACoordinatorItBeginsWithIt() async throws {
    let stack = try Stack()
    let context = ManagedObjectContext(.privateQueue)
    context.automaticallyMergesChangesFromParent = true
    #expect(context.automaticallyMergesChangesFromParent)
    context.persistentStoreCoordinator = stack.coordinator
    #expect(context.automaticallyMergesChangesFromParent)
    try await expectMerging(context, after: { try rename($0, in: stack.context()) })
  }

  @Test func askedForBeforeThereIsAParentItBeginsWithIt() async throws {
    let stack = try Stack()
    let parent = stack.context()
    let child = ManagedObjectContext(.privateQueue)
    child.automaticallyMergesChangesFromParent = true
    child.parent = parent
    try await expectMerging(child, after: { try rename($0, in: parent) })
  }

  @Test func itGoesOnWithAnotherCoordinator() async throws {
    let (first, second) = (try Stack(), try Stack())
    let context = first.context()
    context.automaticallyMergesChangesFromParent = true
    context.persistentStoreCoordinator = second.coordinator
    #expect(context.automaticallyMergesChangesFromParent)
    try await expectMerging(context, after: { try rename($0, in: second.context()) })
  }

  @Test func takenBackBeforeThereIsACoordinatorItDoesNotBegin() throws {
    let stack = try Stack()
    let context = ManagedObjectContext(.privateQueue)
    context.automaticallyMergesChangesFromParent = true
    context.automaticallyMergesChangesFromParent = false
    context.persistentStoreCoordinator = stack.coordinator
    #expect(!context.automaticallyMergesChangesFromParent)
    try context.performAndWait {
      let book = context.make("Book", ["title": "old"])
      try context.save()
      let id = book.objectID
      try rename(id, in: stack.context())
      #expect(book.text("title") == "old")
    }
  }
}
