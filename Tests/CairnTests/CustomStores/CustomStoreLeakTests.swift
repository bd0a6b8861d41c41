// Stacks over a program's own stores that are closed leave nothing behind.

import Cairn
import Foundation
import Testing

/// Chapter 21 of the specification: opened, used and closed again and again.
@Suite struct CustomStoreLeakTests {
  private struct Weak {
    weak var object: AnyObject?
  }

  /// One life of a stack: saved twice, undone, read by a child, changed through a fetched result.
  private func round(_ type: String, _ url: URL, _ number: Int, _ seen: inout [Weak]) throws {
    let (coordinator, store) = try Library.stack(type, at: url)
    let context = Library.context(coordinator)
    let child = ManagedObjectContext(.privateQueue)
    child.parent = context
    seen += [coordinator, store, context, child].map { Weak(object: $0 as AnyObject) }
    try context.performAndWait {
      for old in try Library.fetch("Author", in: context) { context.delete(old) }
      let author = Library.insert("Author", ["name": "a\(number)"], into: context)
      let book = Library.insert(
        "Book", ["title": "b", "pages": 1, "writer": author], into: context)
      try context.save()
      // Only from here on, so that the insertion, of the same event, is not taken back.
      context.undoManager = UndoManager()
      book.setValue(2, forKey: "pages")
      context.processPendingChanges()
      context.undo()
      seen += [author, book].map { Weak(object: $0) }
      try context.save()
    }
    try child.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
      let controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil, cacheName: nil)
      try controller.performFetch()
      let books = controller.fetchedObjects ?? []
      #expect(books.map { $0.value(forKeyPath: "writer.name") as? String } == ["a\(number)"])
      seen.append(Weak(object: controller))
      seen += books.map { Weak(object: $0) }
    }
    if number % 2 == 0 { try coordinator.remove(store) }
  }

  private func expectNothingLeft(_ seen: [Weak], at place: SourceLocation = #_sourceLocation) {
    let deadline = Date(timeIntervalSinceNow: 20)
    while seen.contains(where: { $0.object != nil }), Date() < deadline {
      // Proof: the loop polls, and only this thread waits.
      Thread.sleep(forTimeInterval: 0.01)
    }
    let left = Dictionary(grouping: seen.compactMap(\.object), by: { "\(type(of: $0))" })
      .mapValues(\.count)
    #expect(left.isEmpty, sourceLocation: place)
  }

  @Test func aThousandRoundsOfAnIncrementalStoreLeakNothing() throws {
    let url = try Library.remoteURL()
    var seen: [Weak] = []
    for number in 0..<1000 { try round(RemoteShelf.storeType, url, number, &seen) }
    #expect(seen.count > 5000)
    expectNothingLeft(seen)
  }

  @Test func aThousandRoundsOfAnAtomicStoreLeakNothing() throws {
    try Library.withFile { url in
      var seen: [Weak] = []
      for number in 0..<1000 { try round(TextShelf.storeType, url, number, &seen) }
      #expect(seen.count > 5000)
      expectNothingLeft(seen)
      _ = TextShelfCalls.take(url)
    }
  }
}
