// Undo and redo of a context's changes (chapter 15 of the specification).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 15: undo.
@Suite struct ContextUndoTests {
  /// Runs the body in a context with an undo manager; each step is an event.
  private func undoable(
    in choice: StoreChoice = .memory, _ body: (ManagedObjectContext, Steps) throws -> Void
  ) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      try body(context, Steps(context: context))
    }
  }

  private struct Steps {
    let context: ManagedObjectContext
    func callAsFunction(_ body: () throws -> Void) rethrows {
      try body()
      context.processPendingChanges()
    }
  }

  @Test func thereIsNoUndoManagerByDefault() throws {
    try Stack().use { context in
      #expect(context.undoManager == nil)
      let author = context.make("Author", ["name": "Ada"])
      context.undo()
      context.redo()
      #expect(author.isInserted && author.text("name") == "Ada")
    }
  }

  @Test func undoOfAnInsertionRemovesTheObjectAndRedoBringsItBackWithItsValues() throws {
    try undoable { context, step throws in
      var author: ManagedObject?
      step { author = context.make("Author", ["name": "Ada"]) }
      context.undo()
      #expect(!context.hasChanges && author?.managedObjectContext == nil)
      #expect(try context.all("Author").isEmpty)
      context.redo()
      #expect(author?.isInserted == true && author?.text("name") == "Ada")
      #expect(try context.all("Author") == [author])
      #expect((author as? Author)?.calls.filter { $0 == "awakeFromInsert" }.count == 1)
      try context.save()
      #expect(author?.hasChanges == false)
    }
  }

  @Test func undoOfAnUpdateRestoresTheValuesAndLeavesNothingToSave() throws {
    try undoable { context, step throws in
      let book = context.make("Book", ["title": "a", "pages": 1])
      try context.save()
      context.undoManager?.removeAllActions()
      step {
        book.setValue("b", forKey: "title")
        book.setValue("c", forKey: "title")
        book.setValue(9, forKey: "pages")
      }
      context.undo()
      #expect(book.text("title") == "a" && book.number("pages") == 1)
      #expect(!context.hasChanges && book.changedValues().isEmpty)
      context.redo()
      #expect(book.text("title") == "c" && book.number("pages") == 9 && book.isUpdated)
      try context.save()
      #expect(book.text("title") == "c")
    }
  }

  @Test func undoOfADeletionResurrectsTheObjectWithItsRelationships() throws {
    try undoable { context, step throws in
      let author = context.make("Author", ["name": "Ada"])
      let friend = context.make("Author", ["name": "Bob"])
      author.mutableSetValue(forKey: "friends").add(friend)
      let book = context.make("Book", ["title": "t", "author": author])
      let tag = context.make("Tag", ["label": "x"])
      book.mutableSetValue(forKey: "tags").add(tag)
      let chapters = (1...3).map { context.make("Chapter", ["title": "\($0)"]) }
      for chapter in chapters { book.mutableOrderedSetValue(forKey: "chapters").add(chapter) }
      try context.save()
      step { context.delete(author) }
      #expect(author.isDeleted && book.isDeleted && chapters.allSatisfy(\.isDeleted))
      #expect(tag.many("works").isEmpty && friend.many("friends").isEmpty)
      context.undo()
      #expect(!author.isDeleted && !context.hasChanges)
      #expect(author.many("books") == [book] && book.one("author") === author)
      #expect(tag.many("works") == [book] && book.many("tags") == [tag])
      #expect(friend.many("friends") == [author] && author.many("friends") == [friend])
      #expect(book.mutableOrderedSetValue(forKey: "chapters").members == chapters)
      context.redo()
      #expect(context.deletedObjects == Set([author, book] + chapters))
      try context.save()
      #expect(try context.all("Author") == [friend])
      #expect(tag.many("works").isEmpty)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func undoAfterSavingTheDeletionInsertsTheObjectsAgain(choice: StoreChoice) throws {
    try undoable(in: choice) { context, step throws in
      let author = context.make("Author", ["name": "Ada"])
      let book = context.make("Book", ["title": "t", "author": author])
      let tag = context.make("Tag", ["label": "x"])
      book.mutableSetValue(forKey: "tags").add(tag)
      for number in 1...3 {
        book.mutableOrderedSetValue(forKey: "chapters").add(
          context.make("Chapter", ["title": "\(number)"]))
      }
      try context.save()
      let id = author.objectID
      step { context.delete(author) }
      try context.save()
      #expect(author.managedObjectContext == nil)
      context.undo()
      #expect(author.isInserted && author.objectID == id && book.isInserted)
      #expect(context.insertedObjects.count == 5 && context.updatedObjects == [tag])
      #expect(author.many("books") == [book] && tag.many("works") == [book])
      try context.save()
      try Library.reading(context) { reader throws in
        let stored = try #require(try reader.all("Book").first)
        #expect(stored.one("author")?.text("name") == "Ada" && stored.many("tags").count == 1)
        let titles = stored.mutableOrderedSetValue(forKey: "chapters").members.map {
          $0.text("title")
        }
        #expect(titles == ["1", "2", "3"])
      }
      context.redo()
      #expect(author.isDeleted)
      try context.save()
      try Library.reading(context) { reader throws in
        #expect(try reader.all("Author").isEmpty)
        #expect(try reader.all("Chapter").isEmpty)
        #expect(try reader.all("Tag").first?.many("works").isEmpty == true)
      }
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func undoAfterSavingTheInsertionDeletesTheRow(choice: StoreChoice) throws {
    try undoable(in: choice) { context, step throws in
      var book: ManagedObject?
      let tag = context.make("Tag", ["label": "x"])
      try context.save()
      step {
        book = context.make("Book", ["title": "t"])
        book?.mutableSetValue(forKey: "tags").add(tag)
      }
      try context.save()
      context.undo()
      #expect(book?.isDeleted == true && tag.many("works").isEmpty)
      try context.save()
      try Library.reading(context) { reader throws in
        #expect(try reader.all("Book").isEmpty)
        #expect(try reader.all("Tag").first?.many("works").isEmpty == true)
      }
      context.redo()
      #expect(book?.isInserted == true && tag.many("works") == [book])
      try context.save()
      try Library.reading(context) { reader throws in
        #expect(try reader.all("Tag").first?.many("works").count == 1)
      }
    }
  }

  @Test func savingDoesNotClearTheStackAndUndoMakesChangesPendingAgain() throws {
    try undoable { context, step throws in
      let book = context.make("Book", ["title": "a"])
      try context.save()
      step { book.setValue("b", forKey: "title") }
      try context.save()
      #expect(context.undoManager?.canUndo == true && !context.hasChanges)
      context.undo()
      #expect(book.text("title") == "a" && book.isUpdated)
      try context.save()
      try Library.reading(context) { reader throws in
        #expect(try reader.all("Book").first?.text("title") == "a")
      }
    }
  }

  @Test(arguments: [true, false])
  func rollbackAndResetClearTheStack(isRollback: Bool) throws {
    try undoable { context, step throws in
      step { context.make("Author") }
      if isRollback { context.rollback() } else { context.reset() }
      #expect(context.undoManager?.canUndo == false && context.undoManager?.canRedo == false)
      #expect(try context.all("Author").isEmpty)
    }
  }

  @Test func anOrderedRelationshipGetsItsOrderBack() throws {
    try undoable { context, step throws in
      let book = context.make("Book")
      let chapters = (0..<5).map { context.make("Chapter", ["title": "\($0)"]) }
      let list = book.mutableOrderedSetValue(forKey: "chapters")
      for chapter in chapters { list.add(chapter) }
      try context.save()
      step { list.moveObjects(at: [0, 1], to: 3) }
      step { list.remove(chapters[2]) }
      step { list.insert(chapters[2], at: 1) }
      let moved = list.members
      context.undo()
      context.undo()
      #expect(list.members == [chapters[2], chapters[3], chapters[4], chapters[0], chapters[1]])
      context.undo()
      #expect(list.members == chapters && !context.hasChanges)
      for _ in 0..<3 { context.redo() }
      #expect(list.members == moved)
    }
  }

  @Test func withoutEventsEachProcessingIsAGroup() throws {
    try undoable { context, step throws in
      step { context.make("Author") }
      step { context.make("Author") }
      #expect(context.undoManager?.undoCount == 2)
      context.undo()
      #expect(context.insertedObjects.count == 1)
    }
  }

  @Test func byEventAllProcessingsOfATurnAreOneGroup() throws {
    try Stack().use { context in
      context.undoManager = UndoManager()
      context.make("Author")
      context.processPendingChanges()
      context.make("Author")
      context.processPendingChanges()
      #expect(context.undoManager?.groupingLevel == 1)
      context.undo()
      #expect(!context.hasChanges)
      context.redo()
      #expect(context.insertedObjects.count == 2)
    }
  }

  @Test func aPerformBlockIsAnEvent() async throws {
    let context = try Stack().context()
    await context.perform { context.undoManager = UndoManager() }
    for _ in 0..<2 { await context.perform { _ = context.make("Author") } }
    await context.perform {
      #expect(context.undoManager?.undoCount == 2)
      context.undo()
      #expect(context.insertedObjects.count == 1)
    }
  }

  @Test func aPrivateQueuesTurnEndsTheEvent() throws {
    let context = try Stack().context()
    context.performAndWait {
      context.undoManager = UndoManager()
      context.make("Author")
      context.processPendingChanges()
    }
    context.performAndWait {
      #expect(context.undoManager?.groupingLevel == 0 && context.undoManager?.undoCount == 1)
    }
  }

  @Test func changesMadeWhileRegistrationIsDisabledAreLeftOut() throws {
    try undoable { context, step throws in
      step { context.make("Author", ["name": "kept"]) }
      context.undoManager?.disableUndoRegistration()
      step { context.make("Author", ["name": "silent"]) }
      context.undoManager?.enableUndoRegistration()
      #expect(context.undoManager?.undoCount == 1)
      context.undo()
      #expect(try context.all("Author").map { $0.text("name") } == ["silent"])
    }
  }

  @Test func awakeFromSnapshotEventsTellsWhatWasUndone() throws {
    try undoable { context, step throws in
      let kept = try #require(context.make("Author") as? Author)
      try context.save()
      step { kept.setValue("x", forKey: "name") }
      step { context.delete(kept) }
      context.undo()
      context.undo()
      #expect(
        kept.calls.filter { $0.hasPrefix("awakeFromSnapshot") } == [
          "awakeFromSnapshotEvents 4", "awakeFromSnapshotEvents 8",
        ])
      var new: Author?
      step { new = context.make("Author") as? Author }
      context.undo()
      context.redo()
      #expect(
        new?.calls.filter { $0.hasPrefix("awakeFromSnapshot") } == [
          "awakeFromSnapshotEvents 2", "awakeFromSnapshotEvents 4",
        ])
    }
  }

  @Test func changesInWillSaveJoinTheStepBefore() throws {
    try undoable { context, step throws in
      let author = try #require(context.make("Author", ["name": "a"]) as? Author)
      try context.save()
      context.undoManager?.removeAllActions()
      step { author.setValue("b", forKey: "name") }
      author.onWillSave = { author in
        if author.text("name") == "b" { author.setValue("b, saved", forKey: "name") }
      }
      try context.save()
      #expect(context.undoManager?.undoCount == 1 && author.text("name") == "b, saved")
      context.undo()
      #expect(author.text("name") == "a")
    }
  }

  @Test func undoOfAnInsertionFollowsNoDeleteRule() throws {
    try undoable { context, step throws in
      var author: ManagedObject?
      step { author = context.make("Author") }
      // Cascade would take the book along.
      context.undoManager?.disableUndoRegistration()
      var book: ManagedObject?
      step { book = context.make("Book", ["author": author]) }
      context.undoManager?.enableUndoRegistration()
      context.undo()
      #expect(book?.isInserted == true && book?.one("author") == nil)
    }
  }

  @Test func undoInAChildReachesTheParentWithTheNextSave() throws {
    let parent = try Stack().context()
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    try child.performAndWait {
      let manager = UndoManager()
      manager.groupsByEvent = false
      child.undoManager = manager
      let author = child.make("Author", ["name": "a"])
      child.processPendingChanges()
      author.setValue("b", forKey: "name")
      child.processPendingChanges()
      try child.save()
      child.undo()
      #expect(author.isUpdated)
      try child.save()
      #expect(
        try parent.performAndWait { try parent.all("Author").map { $0.text("name") } } == ["a"])
      child.undo()
      #expect(author.isDeleted)
      try child.save()
      #expect(try parent.performAndWait { try parent.all("Author").isEmpty })
      child.redo()
      #expect(author.isInserted)
      try child.save()
      #expect(
        try parent.performAndWait { try parent.all("Author").map { $0.text("name") } } == ["a"])
    }
  }

  @Test func aChildsSaveIsOneStepOfItsParentsUndo() throws {
    let parent = try Stack().context()
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    parent.performAndWait { parent.undoManager = UndoManager() }
    try child.performAndWait {
      let book = child.make("Book", ["author": child.make("Author")])
      book.mutableOrderedSetValue(forKey: "chapters").add(child.make("Chapter"))
      try child.save()
    }
    try parent.performAndWait {
      #expect(parent.insertedObjects.count == 3)
      parent.undo()
      #expect(!parent.hasChanges)
      parent.redo()
      let book = try #require(try parent.all("Book").first)
      #expect(book.many("chapters").count == 1 && book.one("author")?.many("books") == [book])
    }
  }

  @Test func theUndoManagersOwnUndoTakesPendingChangesBackFirst() throws {
    try undoable { context, _ throws in
      context.make("Author")
      context.undoManager?.undo()
      #expect(!context.hasChanges)
    }
  }

  @Test func anUndoPostsOneNotificationWithWhatItChanged() throws {
    try undoable { context, step throws in
      let book = context.make("Book", ["title": "a"])
      try context.save()
      step {
        book.setValue("b", forKey: "title")
        context.make("Author")
      }
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      context.undo()
      #expect(recorder.notifications.count == 1)
      #expect(recorder.objects(.updatedObjects) == [book])
      #expect(recorder.objects(.deletedObjects).count == 1)
    }
  }

  @Test func aTransientValueOfAnyClassComesBackToo() throws {
    try undoable { context, step throws in
      let author = context.make("Author")
      try context.save()
      step { author.setValue("happy", forKey: "mood") }
      step { author.setValue("sad", forKey: "mood") }
      context.undo()
      #expect(author.text("mood") == "happy")
      context.undo()
      #expect(author.text("mood") == nil && !context.hasChanges)
    }
  }
}

extension Library {
  /// Runs the body in a context of its own on the same stores.
  static func reading(
    _ context: ManagedObjectContext, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let reader = ManagedObjectContext(.privateQueue)
    reader.persistentStoreCoordinator = context.persistentStoreCoordinator
    try reader.performAndWait { try body(reader) }
  }
}
