// Screens that edit: scratch contexts, taking back, and what other screens see.

import CoreData
import Testing

/// Chapters 7, 13, 14 and 15 of the specification.
@Suite struct EditingTests {
  @Test func aChildContextIsAScratchPadThatIsSavedOrThrownAway() throws {
    let container = try Programs.container()
    let parent = container.newBackgroundContext()
    let author = try parent.performAndWait {
      let author = ProgramAuthor(context: parent)
      author.name = "Ada"
      try parent.save()
      return author.objectID
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait { () throws -> Void in
      let copy = try #require(try child.existingObject(with: author) as? ProgramAuthor)
      copy.name = "thrown away"
      child.rollback()
      #expect(copy.name == "Ada")
      copy.name = "Augusta"
      ProgramBook(context: child).author = copy
      #expect(child.hasChanges && !parent.hasChanges)
      try child.save()
    }
    try parent.performAndWait { () throws -> Void in
      let original = try #require(parent.registeredObject(for: author) as? ProgramAuthor)
      #expect(original.name == "Augusta")
      #expect(original.books?.count == 1)
      #expect(parent.insertedObjects.count == 1)
      #expect(parent.insertedObjects.first?.objectID.isTemporaryID == true)
      try parent.save()
    }
    let fresh = container.newBackgroundContext()
    try fresh.performAndWait { () throws -> Void in
      let request: NSFetchRequest<ProgramAuthor> = ProgramAuthor.fetchRequest()
      let found = try fresh.fetch(request)
      #expect(found.map(\.name) == ["Augusta"])
      #expect(found.first?.books?.count == 1)
    }
  }

  @Test func undoTakesBackOneGroupAtATime() throws {
    let context = try Programs.container().newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      #expect(context.undoManager == nil)
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      func group(_ body: () -> Void) {
        manager.beginUndoGrouping()
        body()
        context.processPendingChanges()
        manager.endUndoGrouping()
      }
      let author = ProgramAuthor(context: context)
      author.name = "Ada"
      try context.save()
      manager.removeAllActions()
      group { author.name = "Augusta" }
      group { ProgramBook(context: context).author = author }
      #expect(author.books?.count == 1)
      context.undo()
      #expect(author.books?.count == 0)
      #expect(context.insertedObjects.isEmpty)
      context.undo()
      #expect(author.name == "Ada")
      #expect(!manager.canUndo)
      context.redo()
      context.redo()
      #expect(author.name == "Augusta" && author.books?.count == 1)
    }
  }

  @Test func whatIsSavedInTheBackgroundReachesObjectsThatAreInUse() throws {
    let container = try Programs.container()
    let screen = container.newBackgroundContext()
    let author = try screen.performAndWait {
      let author = ProgramAuthor(context: screen)
      author.name = "Ada"
      try screen.save()
      return author
    }
    let id = author.objectID
    let background = container.newBackgroundContext()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: background, queue: nil
    ) { note in
      // Unchecked: handed over to the context's queue while this one waits.
      nonisolated(unsafe) let note = note
      screen.performAndWait { screen.mergeChanges(fromContextDidSave: note) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try background.performAndWait { () throws -> Void in
      let other = try #require(try background.existingObject(with: id) as? ProgramAuthor)
      #expect(other.objectID == id && other.objectID.hash == id.hash)
      other.name = "Augusta"
      ProgramBook(context: background).author = other
      try background.save()
    }
    screen.performAndWait {
      #expect(author.name == "Augusta")
      #expect(author.books?.count == 1)
      #expect(!screen.hasChanges)
    }
  }

  @Test func objectsMayOutliveTheirContext() throws {
    let container = try Programs.container()
    var context: NSManagedObjectContext? = container.newBackgroundContext()
    let kept = try context?.performAndWait { [context] in
      let author = ProgramAuthor(context: try #require(context))
      author.name = "Ada"
      try context?.save()
      return author
    }
    weak let gone = context
    context = nil
    #expect(gone == nil)
    #expect(kept?.managedObjectContext == nil)
    #expect(kept?.objectID.isTemporaryID == false)
    #expect(kept?.objectID.entity.name == "ProgramAuthor")
    #expect(kept?.description.contains("ProgramAuthor") == true)
  }
}
