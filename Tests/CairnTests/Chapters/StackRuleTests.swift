// Contexts, coordinators, stores and models together.

import CoreData
import TestSupport
import Testing

/// Chapters 1 and 15 of the specification: who holds what, and which stack has an undo manager.
@Suite struct StackRuleTests {
  @Test func aContextHoldsOneObjectForEachIDAndOthersHaveTheirOwn() throws {
    let coordinator = try Company.coordinator()
    let (first, second) = (Company.context(coordinator), Company.context(coordinator))
    let id = try first.performAndWait { () throws -> NSManagedObjectID in
      let clerk = try Company.clerk("Ada", in: first)
      try first.save()
      #expect(first.object(with: clerk.objectID) === clerk)
      #expect(try first.fetch(NSFetchRequest<Clerk>(entityName: "Clerk")).first === clerk)
      let uri = clerk.objectID.uriRepresentation()
      let again = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      #expect(try first.existingObject(with: again) === clerk)
      return clerk.objectID
    }
    second.performAndWait { () -> Void in
      let twin = second.object(with: id)
      #expect(twin.managedObjectContext === second && twin.objectID == id)
    }
  }

  @Test func storesHearNothingBeforeTheSave() throws {
    let coordinator = try Company.coordinator()
    let (writer, reader) = (Company.context(coordinator), Company.context(coordinator))
    try writer.performAndWait { () throws -> Void in
      _ = try Company.clerk("Ada", in: writer)
      writer.processPendingChanges()
      #expect(writer.hasChanges)
      #expect(try reader.performAndWait { try Company.names(in: reader) } == [])
      try writer.save()
      #expect(try reader.performAndWait { try Company.names(in: reader) } == ["Ada"])
    }
  }

  @Test func objectsOfTwoContextsAreNeverRelated() async {
    await #expect(processExitsWith: .failure) {
      let coordinator = try Company.coordinator()
      let (first, second) = (Company.context(coordinator), Company.context(coordinator))
      try first.performAndWait { () throws -> Void in
        let clerk = try Company.clerk("Ada", in: first)
        second.performAndWait { () -> Void in
          clerk.setValue(Office(context: second), forKey: "office")
        }
      }
    }
  }

  @Test func twoCoordinatorsOpenOneFile() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      let model = Company.model()
      let writer = Company.context(
        try Company.coordinator(NSSQLiteStoreType, at: url, model: model))
      // A model may be used by several coordinators.
      let reader = Company.context(
        try Company.coordinator(NSSQLiteStoreType, at: url, model: model))
      try writer.performAndWait { () throws -> Void in
        _ = try Company.clerk("Ada", in: writer)
        try writer.save()
      }
      #expect(try reader.performAndWait { try Company.names(in: reader) } == ["Ada"])
    }
  }

  @Test func noContextOfAContainerHasAnUndoManager() throws {
    let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(container.viewContext.undoManager == nil)
    let background = container.newBackgroundContext()
    try background.performAndWait { () throws -> Void in
      #expect(background.undoManager == nil)
      _ = try Company.clerk("Ada", in: background)
      background.undo()
      background.redo()
      #expect(background.insertedObjects.count == 1)
      background.rollback()
      #expect(!background.hasChanges)
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = background
    #expect(child.undoManager == nil)
  }

  @Test func anUndoManagerTakesBackWhatProgramsDo() throws {
    try Company.use { context in
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      let clerk = try Company.clerk("Ada", in: context)
      context.processPendingChanges()
      context.undoManager?.disableUndoRegistration()
      clerk.setValue(40, forKey: "age")
      context.processPendingChanges()
      context.undoManager?.enableUndoRegistration()
      manager.beginUndoGrouping()
      clerk.setValue("Bea", forKey: "name")
      manager.setActionName("Rename")
      manager.endUndoGrouping()
      context.processPendingChanges()
      #expect(manager.canUndo && manager.undoActionName == "Rename" && !manager.canRedo)
      manager.undo()
      #expect(clerk.value(forKey: "name") as? String == "Ada" && manager.canRedo)
      #expect(clerk.value(forKey: "age") as? Int == 40 && manager.redoActionName == "Rename")
      manager.redo()
      #expect(clerk.value(forKey: "name") as? String == "Bea")
      try context.save()
      #expect(manager.canUndo)
      context.reset()
      #expect(!manager.canUndo && !manager.canRedo)
    }
  }
}
