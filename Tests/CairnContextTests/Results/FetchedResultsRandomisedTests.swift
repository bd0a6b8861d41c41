// Randomised: what a delegate is told turns the list before an event into the list after it.
import CairnContext
import CairnModel
import CairnPredicates
import Foundation
import Testing

/// Chapter 23 of the specification: delegate calls, in all their forms.
@Suite struct FetchedResultsRandomisedTests {
  private func request() -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Book")
    request.predicate = ObjectPredicate(format: "isRead == NO")
    request.sortDescriptors = [
      ObjectSortDescriptor(key: "pages", ascending: true),
      ObjectSortDescriptor(key: "title", ascending: true),
    ]
    return request
  }

  /// A few random changes, that together are one event.
  private func change(
    _ books: inout [ManagedObject], in context: ManagedObjectContext,
    _ numbers: inout SeededGenerator
  ) {
    for _ in 0..<Int.random(in: 1...8, using: &numbers) {
      func some() -> ManagedObject? { books.randomElement(using: &numbers) }
      switch Int.random(in: 0..<10, using: &numbers) {
      case 0...2:
        books.append(
          context.make(
            "Book",
            [
              "title": "t\(Int.random(in: 0..<40, using: &numbers))",
              "pages": Int.random(in: 1...5, using: &numbers),
              "isRead": Bool.random(using: &numbers),
            ]))
      case 3:
        guard let book = some() else { continue }
        context.delete(book)
        books.removeAll { $0 === book }
      case 4: some()?.setValue("t\(Int.random(in: 0..<40, using: &numbers))", forKey: "title")
      case 5: some()?.setValue(Int.random(in: 1...5, using: &numbers), forKey: "pages")
      case 6: some()?.setValue(Bool.random(using: &numbers), forKey: "isRead")
      case 7: some()?.setValue(Decimal(1), forKey: "price")
      case 8:
        // A whole section changes its name.
        let from = Int.random(in: 1...5, using: &numbers)
        let to = Int.random(in: 1...5, using: &numbers)
        for book in books where book.number("pages") == from { book.setValue(to, forKey: "pages") }
      default:
        if let book = some() { context.refresh(book, mergeChanges: true) }
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func theCallsTurnTheOldListIntoTheNewOne(seed: UInt64) throws {
    var numbers = SeededGenerator(seed: seed)
    try Stack().use { context in
      var books: [ManagedObject] = []
      for _ in 0..<3 { change(&books, in: context, &numbers) }
      try context.save()
      let (changes, plainChanges) = (ChangeRecorder(), ChangeRecorder())
      let (snapshots, differences) = (SnapshotRecorder(), DifferenceRecorder())
      func make(
        _ keyPath: String?, _ delegate: any FetchedResultsControllerDelegate
      ) throws -> FetchedResultsController<ManagedObject> {
        let controller = FetchedResultsController(
          fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: keyPath,
          cacheName: nil)
        controller.delegate = delegate
        try controller.performFetch()
        return controller
      }
      let sectioned = try make("pages", changes)
      let plain = try make(nil, plainChanges)
      let snapshotted = try make("pages", snapshots)
      let differing = try make(nil, differences)
      changes.start(sectioned)
      plainChanges.start(plain)
      differences.ids = (differing.fetchedObjects ?? []).map(\.objectID)

      for round in 0..<60 {
        change(&books, in: context, &numbers)
        if round % 7 == 6 { try context.save() } else { context.processPendingChanges() }
        let fresh = FetchedResultsController(
          fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: "pages",
          cacheName: nil)
        try fresh.performFetch()
        let hint: Comment = "seed \(seed), round \(round)"
        // Titles may be equal, so objects with equal sort values may stand in another order.
        #expect(ShownList(sectioned) == ShownList(fresh), hint)
        for (recorder, controller) in [(changes, sectioned), (plainChanges, plain)] {
          let list = ChangeRecorder.list(controller)
          #expect(recorder.sections.map(\.name) == list.map(\.name), hint)
          #expect(recorder.sections.map(\.rows) == list.map(\.rows), hint)
        }
        let sections = snapshotted.sections ?? []
        #expect(snapshots.sections == sections.map(\.name), hint)
        let ids = sections.map {
          ($0.objects ?? []).compactMap { ($0 as? ManagedObject)?.objectID }
        }
        #expect(snapshots.items == ids, hint)
        #expect(differences.ids == (differing.fetchedObjects ?? []).map(\.objectID), hint)
        #expect(
          ids.flatMap(\.self).count == differing.fetchedObjects?.count
            && ShownList(snapshotted) == ShownList(sectioned), hint)
      }
      #expect(snapshots.otherCalls == 0 && differences.otherCalls == 0)
      #expect(changes.events > 20 && snapshots.count > 20 && differences.count > 20)
    }
  }

  @Test func aLongListWithAllItsObjectsChangedIsOneEvent() throws {
    try Stack().use { context in
      let books = (0..<10_000).map { index in
        context.make("Book", ["title": "t\(index)", "pages": index % 100 + 1])
      }
      try context.save()
      let recorder = ChangeRecorder()
      let controller = FetchedResultsController(
        fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: "pages",
        cacheName: nil)
      controller.delegate = recorder
      try controller.performFetch()
      recorder.start(controller)
      for book in books { book.setValue((book.number("pages") ?? 0) + 1, forKey: "pages") }
      context.processPendingChanges()
      #expect(recorder.events == 1 && recorder.rows.count == 10_000)
      #expect(recorder.sections.map(\.rows) == ChangeRecorder.list(controller).map(\.rows))
    }
  }
}
