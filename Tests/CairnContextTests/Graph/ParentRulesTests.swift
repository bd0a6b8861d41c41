// A context below another one, rule by rule (chapter 14).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 14: parent and child contexts.
@Suite struct ParentRulesTests {
  private func child(of parent: ManagedObjectContext) -> ManagedObjectContext {
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    return child
  }

  @Test func parentAndCoordinatorExcludeEachOther() throws {
    let stack = try Stack()
    let parent = stack.context()
    let context = child(of: parent)
    #expect(context.persistentStoreCoordinator === stack.coordinator)
    context.persistentStoreCoordinator = stack.coordinator
    #expect(context.parent == nil && context.persistentStoreCoordinator === stack.coordinator)
    context.parent = parent
    #expect(context.parent === parent)
    context.parent = nil
    #expect(context.persistentStoreCoordinator == nil)
  }

  @Test func aParentNeedsAQueue() async {
    await #expect(processExitsWith: .failure) {
      ManagedObjectContext(.privateQueue).parent = ManagedObjectContext(
        concurrencyType: .confinementConcurrencyType)
    }
  }

  @Test func changesTravelOneLevelWithEachSave() throws {
    let stack = try Stack(in: .sqlite)
    let root = stack.context()
    let middle = child(of: root)
    let leaf = child(of: middle)
    try leaf.performAndWait {
      let author = leaf.make("Author", ["name": "Ada"])
      leaf.make("Book", ["title": "t", "author": author])
      try leaf.save()
    }
    #expect(middle.performAndWait { middle.insertedObjects.count } == 2)
    #expect(root.performAndWait { !root.hasChanges })
    try middle.performAndWait { try middle.save() }
    #expect(root.performAndWait { root.insertedObjects.count } == 2)
    try root.performAndWait { try root.save() }
    try stack.use { reader in
      let book = try #require(try reader.all("Book").first)
      #expect(book.one("author")?.text("name") == "Ada")
    }
  }

  @Test func theObjectKeepsItsTemporaryIDUntilThePermanentOneComesAlong() throws {
    let stack = try Stack()
    let root = stack.context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      let author = leaf.make("Author")
      let recorder = NotificationRecorder(
        leaf, ManagedObjectContext.didSaveObjectIDsNotification)
      try leaf.save()
      let temporary = author.objectID
      #expect(recorder.ids(.insertedObjectIDs) == [temporary] && temporary.isTemporaryID)
      let permanent = try root.performAndWait {
        try root.save()
        return try #require(try root.all("Author").first).objectID
      }
      #expect(author.objectID === temporary)
      let fetched = try leaf.all("Author")
      #expect(fetched == [author] && author.objectID == permanent)
      #expect(leaf.object(with: temporary) === author)
      #expect(leaf.registeredObjects == [author])
    }
  }

  @Test func anObjectWithTwoIDsIsCountedOnce() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      let author = leaf.make("Author")
      try leaf.save()
      try root.performAndWait { try root.save() }
      author.setValue("changed", forKey: "name")
      let count = try leaf.count(for: FetchRequest<ManagedObject>(entityName: "Author"))
      #expect(count == 1)
    }
  }

  @Test func aMergeBringsThePermanentIDToo() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      let author = leaf.make("Author")
      try leaf.save()
      let recorder = NotificationRecorder(root, ManagedObjectContext.didSaveObjectsNotification)
      try root.performAndWait { try root.save() }
      leaf.mergeChanges(fromContextDidSave: try #require(recorder.notifications.last))
      #expect(!author.objectID.isTemporaryID && leaf.registeredObjects == [author])
    }
  }

  @Test func aChildCanRelateNewObjectsToOnesTheRootHasSavedMeanwhile() throws {
    let stack = try Stack()
    let root = stack.context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      let author = leaf.make("Author", ["name": "Ada"])
      let book = leaf.make("Book", ["author": author])
      try leaf.save()
      try root.performAndWait { try root.save() }
      leaf.make("Book", ["author": author])
      book.setValue("t", forKey: "title")
      try leaf.save()
    }
    try root.performAndWait { try root.save() }
    let count = try stack.use { try $0.all("Author").first?.many("books").count }
    #expect(count == 2)
  }

  @Test func awakeFromInsertRunsOnceInEachContext() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    func calls(_ context: ManagedObjectContext) throws -> Int {
      try context.performAndWait {
        let author = try #require(try context.all("Author").first as? Author)
        return author.calls.filter { $0 == "awakeFromInsert" }.count
      }
    }
    try leaf.performAndWait {
      leaf.make("Author")
      #expect(try calls(leaf) == 1)
      try leaf.save()
    }
    #expect(try calls(root) == 1)
  }

  @Test func transientValuesAreCopiedToTheParent() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      leaf.make("Author", ["mood": "happy"])
      try leaf.save()
    }
    let mood = try root.performAndWait { try root.all("Author").first?.text("mood") }
    #expect(mood == "happy")
  }

  @Test func refreshingReadsTheParentsUnsavedValues() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    let id = try root.performAndWait {
      let author = root.make("Author", ["name": "a"])
      try root.save()
      return author.objectID
    }
    try leaf.performAndWait {
      let author = try leaf.existingObject(with: id)
      root.performAndWait { root.object(with: id).setValue("unsaved", forKey: "name") }
      #expect(author.text("name") == "a")
      leaf.refresh(author, mergeChanges: true)
      #expect(author.text("name") == "unsaved" && !leaf.hasChanges)
    }
  }

  @Test func automaticMergingFollowsTheParentsSaves() async throws {
    let stack = try Stack()
    let root = stack.context()
    let leaf = child(of: root)
    leaf.automaticallyMergesChangesFromParent = true
    let id = try await root.perform {
      let author = root.make("Author", ["name": "a"])
      try root.save()
      return author.objectID
    }
    await leaf.perform { #expect(leaf.object(with: id).text("name") == "a") }
    let kept = await leaf.perform { Kept(object: leaf.object(with: id)) }
    await leaf.perform { #expect(kept.object.text("name") == "a") }
    try await root.perform {
      root.object(with: id).setValue("b", forKey: "name")
      try root.save()
    }
    // The merge was enqueued before this block.
    await leaf.perform(schedule: .enqueued) { #expect(kept.object.text("name") == "b") }
  }

  @Test func uniquenessIsCheckedByTheRootOnly() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      context.make("Tag", ["label": "x"])
      try context.save()
    }
    let root = stack.context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      leaf.make("Tag", ["label": "x"])
      try leaf.save()
    }
    root.performAndWait { #expect(throws: CoreDataError.self) { try root.save() } }
  }

  @Test func aChildValidatesWhenItSaves() throws {
    let leaf = child(of: try Stack().context())
    leaf.performAndWait {
      leaf.make("Author", ["name": nil])
      #expect(throws: CoreDataError.self) { try leaf.save() }
      #expect(leaf.hasChanges)
    }
  }

  @Test func requestsForTheStoreGoToTheRoot() throws {
    let stack = try Stack(in: .sqlite)
    let leaf = child(of: child(of: stack.context()))
    try stack.use { context in
      context.make("Book")
      try context.save()
    }
    try leaf.performAndWait {
      let request = BatchUpdateRequest(entityName: "Book")
      request.propertiesToUpdate = ["title": "batch"]
      request.resultType = .updatedObjectsCountResultType
      let result = try leaf.execute(request) as? BatchUpdateResult
      #expect(result?.result as? Int == 1)
    }
  }

  @Test func aDeletionTakenBackAfterTheSaveIsTakenBackInTheParent() throws {
    let stack = try Stack()
    let root = stack.context()
    let leaf = child(of: root)
    try root.performAndWait {
      let author = root.make("Author", ["name": "a"])
      root.make("Book", ["author": author])
      try root.save()
    }
    try leaf.performAndWait {
      leaf.undoManager = UndoManager()
      leaf.delete(try #require(try leaf.all("Author").first))
      try leaf.save()
      #expect(root.performAndWait { root.deletedObjects.count } == 2)
      leaf.undo()
      try leaf.save()
    }
    try root.performAndWait {
      #expect(root.deletedObjects.isEmpty)
      #expect(try root.all("Author").first?.many("books").count == 1)
      try root.save()
    }
    let count = try stack.use { try $0.all("Book").count }
    #expect(count == 1)
  }
}
