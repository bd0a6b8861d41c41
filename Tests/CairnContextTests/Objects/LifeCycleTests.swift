// The hooks of a managed object, in their order.
import CairnContext
import CairnModel
import CairnStore
import Testing

@Suite struct LifeCycleTests {
  @Test func awakeFromInsertIsCalledOnceWithDefaultsSet() throws {
    try Stack().use { context in
      let author = Author(context: context)
      #expect(author.calls == ["awakeFromInsert"] && author.name == "Anonymous")
    }
  }

  @Test func aSaveCallsWillSaveThenDidSave() throws {
    try Stack().use { context in
      let author = Author(context: context)
      try context.save()
      #expect(author.calls == ["awakeFromInsert", "willSave", "didSave"])
    }
  }

  @Test func aChangeInWillSaveIsSavedAndAsksAgain() throws {
    let stack = try Stack()
    let id = try stack.use { context in
      let author = Author(context: context)
      author.onWillSave = { if $0.name != "set in willSave" { $0.name = "set in willSave" } }
      try context.save()
      #expect(author.calls.filter { $0 == "willSave" }.count == 2)
      return author.objectID
    }
    try stack.use { context in
      let author = try context.existingObject(with: id)
      #expect(author.text("name") == "set in willSave")
    }
  }

  @Test func endlessChangesInWillSaveFailTheSave() throws {
    try Stack().use { context in
      let author = Author(context: context)
      var count = 0
      author.onWillSave = {
        count += 1
        $0.name = "\(count)"
      }
      #expect(throws: CoreDataError.self) { try context.save() }
      #expect(author.isInserted)
    }
  }

  @Test func firingAFaultCallsAwakeFromFetch() throws {
    let stack = try Stack()
    try stack.use { context in
      _ = Author(context: context)
      try context.save()
    }
    try stack.use { context in
      let author = try #require(try context.all("Author").first as? Author)
      #expect(author.isFault && author.calls.isEmpty)
      #expect(author.name == "Anonymous" && author.calls == ["awakeFromFetch"] && !author.isFault)
    }
  }

  @Test func refreshingWithoutMergeMakesAFault() throws {
    try Stack().use { context in
      let author = Author(context: context)
      try context.save()
      author.name = "changed"
      author.calls = []
      context.refresh(author, mergeChanges: false)
      #expect(author.calls == ["willTurnIntoFault", "didTurnIntoFault"])
      #expect(author.isFault && !context.hasChanges && author.name == "Anonymous")
    }
  }

  @Test func rollbackTellsTheObject() throws {
    try Stack().use { context in
      let author = Author(context: context)
      try context.save()
      author.name = "changed"
      context.rollback()
      #expect(author.calls.last == "awakeFromSnapshotEvents 16" && author.name == "Anonymous")
    }
  }

  @Test func aRolledBackInsertionLeavesTheContext() throws {
    try Stack().use { context in
      let author = Author(context: context)
      context.rollback()
      #expect(author.managedObjectContext == nil && !context.hasChanges)
    }
  }
}
