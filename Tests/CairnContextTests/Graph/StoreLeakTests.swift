// A stack over a file that is closed leaves neither objects nor open files behind.
import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Fetched results, history, generations and asynchronous fetches on an SQLite store, opened and
/// closed again and again.
@Suite struct StoreLeakTests {
  /// One life of a stack over a file; what it was made of is noted.
  private func round(_ number: Int, _ file: URL, _ seen: inout Witnesses) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Library.model(), storeKinds: [SQLiteStoreKind()])
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: file,
      options: [StoreOptionKey.historyTracking: true])
    func context() -> ManagedObjectContext {
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let (writer, reader, list) = (context(), context(), context())
    seen.note(coordinator, store, writer, reader, list)
    if number % 3 == 0 { list.automaticallyMergesChangesFromParent = true }
    let recorder = ChangeRecorder()
    seen.note(recorder)
    let controller = try list.performAndWait { try follow(list, recorder) }
    seen.note(controller)
    try writer.performAndWait { try write(writer, &seen) }
    try reader.performAndWait { try readPinned(reader, number, &seen) }
    try writer.performAndWait { try readHistory(writer, number, &seen) }
    list.performAndWait { seen.note(all: controller.fetchedObjects ?? []) }
    // Every other coordinator just goes, its store still open and a context still pinned.
    if number % 2 == 0 { try coordinator.remove(store) }
  }

  /// A controller with sections and a delegate, changed once.
  private func follow(
    _ context: ManagedObjectContext, _ recorder: ChangeRecorder
  ) throws -> FetchedResultsController<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Book")
    request.sortDescriptors = ["pages", "title"].map {
      ObjectSortDescriptor(key: $0, ascending: true)
    }
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "pages",
      cacheName: nil)
    controller.delegate = recorder
    try controller.performFetch()
    recorder.start(controller)
    context.make("Book", ["title": "unsaved", "pages": 3])
    context.processPendingChanges()
    #expect(recorder.calls.contains("did"))
    return controller
  }

  /// Two books; those of the round before go.
  private func write(_ context: ManagedObjectContext, _ seen: inout Witnesses) throws {
    context.transactionAuthor = "writer"
    for book in try context.all("Book") { context.delete(book) }
    let books = (1...2).map { (pages: Int) in
      context.make("Book", ["title": "t\(pages)", "pages": pages])
    }
    seen.note(all: books)
    try context.save()
  }

  private func readPinned(
    _ context: ManagedObjectContext, _ number: Int, _ seen: inout Witnesses
  ) throws {
    try context.setQueryGenerationFrom(.current)
    let books = try context.all("Book")
    #expect(books.count == 2 && books.allSatisfy { $0.text("title") != nil })
    seen.note(all: books)
    seen.note(context.queryGenerationToken)
    if number % 4 < 2 { try context.setQueryGenerationFrom(nil) }
    let later = AsynchronousFetchRequest(
      fetchRequest: FetchRequest<ManagedObject>(entityName: "Book"), completionBlock: { _ in })
    let result = try context.execute(later)
    seen.note(later, result)
  }

  private func readHistory(
    _ context: ManagedObjectContext, _ number: Int, _ seen: inout Witnesses
  ) throws {
    let request = PersistentHistoryChangeRequest.fetchHistory(
      after: nil as PersistentHistoryToken?)
    let result = try #require(try context.execute(request) as? PersistentHistoryResult)
    let transactions = try #require(result.result as? [PersistentHistoryTransaction])
    #expect(!transactions.isEmpty)
    seen.note(request, result)
    seen.note(all: transactions)
    seen.note(all: transactions.flatMap { $0.changes ?? [] })
    seen.note(transactions.last?.token)
    if number % 5 == 4 {
      let delete = PersistentHistoryChangeRequest.deleteHistory(before: transactions.last)
      seen.note(delete)
      _ = try context.execute(delete)
    }
  }

  @Test func hundredsOfRoundsOverOneFileLeakNeitherObjectsNorDescriptors() async throws {
    let folder = try TemporaryFolder()
    let file = folder.fileURL("Library.sqlite")
    var seen = Witnesses()
    for number in 0..<300 {
      try round(number, file, &seen)
      if number == 10 { #expect(seen.count > 200) }
    }
    #expect(seen.left(within: .patience).isEmpty)
    // The last holder of a store closes its connections, after the store is seen no more.
    #expect(await eventually { openFiles(in: folder.url).isEmpty })
  }

  /// The counterpart: what is open is seen, so the test above could fail.
  @Test func anOpenStoreIsSeenAmongTheOpenFiles() throws {
    let stack = try Stack(in: .sqlite)
    let folder = try #require(stack.store.url).deletingLastPathComponent()
    #expect(!openFiles(in: folder).isEmpty)
    try stack.coordinator.remove(stack.store)
    #expect(openFiles(in: folder).isEmpty)
  }
}
