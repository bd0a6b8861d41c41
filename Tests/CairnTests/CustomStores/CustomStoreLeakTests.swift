// Stacks over a program's own stores that are closed leave nothing behind.

import Cairn
import CairnTesting
import Foundation
import Testing

/// Chapter 21 of the specification: opened, used and closed again and again.
@Suite struct CustomStoreLeakTests {
  /// One life of a stack: saved twice, undone, read by a child, changed through a fetched result.
  private func round(_ type: String, _ url: URL, _ number: Int, _ seen: inout Witnesses) throws {
    let (coordinator, store) = try Library.stack(type, at: url)
    let context = Library.context(coordinator)
    let child = ManagedObjectContext(.privateQueue)
    child.parent = context
    seen.note(coordinator, store, context, child)
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
      seen.note(author, book)
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
      seen.note(controller)
      seen.note(all: books)
    }
    if number % 2 == 0 { try coordinator.remove(store) }
  }

  @Test func aThousandRoundsOfAnIncrementalStoreLeakNothing() throws {
    let url = try Library.remoteURL()
    var seen = Witnesses()
    for number in 0..<1000 { try round(RemoteShelf.storeType, url, number, &seen) }
    #expect(seen.count > 5000)
    #expect(seen.left(within: .patience).isEmpty)
  }

  @Test func aThousandRoundsOfAnAtomicStoreLeakNothing() throws {
    try Library.withFile { url in
      var seen = Witnesses()
      for number in 0..<1000 { try round(TextShelf.storeType, url, number, &seen) }
      #expect(seen.count > 5000)
      #expect(seen.left(within: .patience).isEmpty)
      _ = TextShelfCalls.take(url)
    }
  }
}
