// A stack that is closed leaves nothing behind.
import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

/// Contexts, their objects, undo managers and coordinators refer to each other in many ways, none
/// of which may be a circle of strong references.
@Suite struct LeakTests {
  /// One life of a stack; what it was made of is noted.
  private func round(_ number: Int, _ seen: inout Witnesses) throws {
    let stack = try Stack()
    let context = stack.context()
    let child = ManagedObjectContext(.privateQueue)
    child.parent = context
    if number % 3 == 0 { child.automaticallyMergesChangesFromParent = true }
    seen.note(stack.coordinator, stack.store, context, child)
    try child.performAndWait {
      let manager = UndoManager()
      child.undoManager = manager
      seen.note(manager)
      seen.note(all: work(child))
      child.undo()
      child.redo()
      try child.save()
      seen.note(all: work(child))
      if number % 2 == 0 { child.undo() }
    }
    try context.performAndWait {
      context.undoManager = UndoManager()
      try context.save()
      let authors = try context.all("Author")
      seen.note(all: authors)
      for author in authors { context.delete(author) }
      context.processPendingChanges()
      if number % 2 == 0 { context.undo() } else { try context.save() }
      if number % 5 == 0 { context.reset() }
    }
  }

  /// Objects in circles: friends of each other, authors and books, books and tags.
  private func work(_ context: ManagedObjectContext) -> [ManagedObject] {
    let (a, b) = (context.make("Author"), context.make("Author"))
    a.mutableSetValue(forKey: "friends").add(b)
    let book = context.make("Book", ["author": a])
    let tag = context.make("Tag", ["label": UUID().uuidString])
    book.mutableSetValue(forKey: "tags").add(tag)
    book.mutableOrderedSetValue(forKey: "chapters").add(context.make("Chapter"))
    context.processPendingChanges()
    let gone = context.make("Author")
    gone.mutableSetValue(forKey: "friends").add(gone)
    context.processPendingChanges()
    context.delete(gone)
    context.processPendingChanges()
    return [a, b, book, tag, gone]
  }

  @Test func aThousandRoundsOfOpenWorkCloseLeakNothing() throws {
    var seen = Witnesses()
    for number in 0..<1000 { try round(number, &seen) }
    #expect(seen.count > 10_000)
    #expect(seen.left(within: .patience).isEmpty)
  }

  @Test func removingTheUndoManagerLetsItsObjectsGo() throws {
    try Stack().use { context in
      context.undoManager = UndoManager()
      weak let author = context.make("Author")
      context.undo()
      #expect(author != nil)
      context.undoManager = nil
      #expect(author == nil)
    }
  }

  @Test func anUndoManagerThatOutlivesItsContextDoesNothing() throws {
    let manager = UndoManager()
    weak var gone: ManagedObjectContext?
    do {
      let context = try Stack().context()
      gone = context
      context.performAndWait {
        context.undoManager = manager
        context.make("Author")
        context.processPendingChanges()
      }
      // The queue's next turn, which ends the event.
      context.performAndWait {}
    }
    #expect(gone == nil)
    manager.undo()
    #expect(!manager.canUndo)
  }
}
