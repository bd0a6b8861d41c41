// A stack that is closed leaves nothing behind.
import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Testing

/// Contexts, their objects, undo managers and coordinators refer to each other in many ways, none
/// of which may be a circle of strong references.
@Suite struct LeakTests {
  private struct Weak {
    weak var object: AnyObject?
  }

  /// One life of a stack; what it was made of is noted.
  private func round(_ number: Int, _ seen: inout [Weak]) throws {
    let stack = try Stack()
    let context = stack.context()
    let child = ManagedObjectContext(.privateQueue)
    child.parent = context
    if number % 3 == 0 { child.automaticallyMergesChangesFromParent = true }
    for part in [stack.coordinator, stack.store, context, child] as [AnyObject] {
      seen.append(Weak(object: part))
    }
    func note(_ objects: [ManagedObject]) { seen += objects.map { Weak(object: $0) } }
    try child.performAndWait {
      let manager = UndoManager()
      child.undoManager = manager
      seen.append(Weak(object: manager))
      note(work(child))
      child.undo()
      child.redo()
      try child.save()
      note(work(child))
      if number % 2 == 0 { child.undo() }
    }
    try context.performAndWait {
      context.undoManager = UndoManager()
      try context.save()
      let authors = try context.all("Author")
      note(authors)
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
    var seen: [Weak] = []
    for number in 0..<1000 { try round(number, &seen) }
    #expect(seen.count > 10_000)
    // Blocks that contexts have enqueued for themselves may still be running.
    let deadline = Date(timeIntervalSinceNow: 20)
    while seen.contains(where: { $0.object != nil }), Date() < deadline {
      // Proof: the loop polls, and only this thread waits.
      Thread.sleep(forTimeInterval: 0.01)
    }
    let left = Dictionary(
      grouping: seen.compactMap(\.object), by: { "\(type(of: $0))" }
    ).mapValues(\.count)
    #expect(left.isEmpty)
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
