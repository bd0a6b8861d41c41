// Fetched results: what the other suites leave of the chapter's rules.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapter 23 of the specification.
///
/// What forgets every cache runs in a process of its own, because other
/// suites look at theirs.
@Suite struct FetchedResultsRuleTests {
  /// Hears whether anything is told.
  private final class Listener: FetchedResultsControllerDelegate {
    var calls = 0
    func controllerDidChangeContent(
      _ controller: FetchedResultsController<any FetchRequestResult>
    ) { calls += 1 }
  }

  private func request<Result>(
    _ type: FetchRequestResultType, by keys: [String] = ["title"]
  ) -> FetchRequest<Result> {
    let request = FetchRequest<Result>(entityName: "Book")
    request.resultType = type
    request.sortDescriptors = keys.map { ObjectSortDescriptor(key: $0, ascending: true) }
    return request
  }

  @Test func resultsThatAreNoObjectsAreNotFollowed() throws {
    try Stack().use { context in
      context.make("Book", ["title": "a"])
      try context.save()
      let listener = Listener()
      let ids: FetchRequest<ManagedObjectID> = request(.managedObjectIDResultType)
      let controller = FetchedResultsController(
        fetchRequest: ids, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      controller.delegate = listener
      try controller.performFetch()
      context.make("Book", ["title": "b"])
      try context.save()
      #expect(listener.calls == 0 && controller.fetchedObjects?.count == 1)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 2)
    }
  }

  @Test func withAnEmptyListOfSortDescriptorsNewObjectsComeLast() throws {
    try Stack(in: .sqlite).use { context in
      for title in ["b", "a"] { context.make("Book", ["title": title]) }
      try context.save()
      let all: FetchRequest<ManagedObject> = request(.managedObjectResultType, by: [])
      #expect(all.sortDescriptors?.isEmpty == true)
      let controller = FetchedResultsController(
        fetchRequest: all, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let listener = Listener()
      controller.delegate = listener
      try controller.performFetch()
      let before = try #require(controller.fetchedObjects)
      #expect(Set(before.map { $0.text("title") }) == ["a", "b"])
      let (first, second) = (
        context.make("Book", ["title": "0"]), context.make("Book", ["title": "1"])
      )
      before[0].setValue("z", forKey: "title")
      context.processPendingChanges()
      #expect(listener.calls == 1 && controller.fetchedObjects == before + [first, second])
      context.delete(before[0])
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [before[1], first, second])
    }
  }

  @Test func theInfoOfADeletedSectionHasNoObjects() throws {
    final class Sections: FetchedResultsControllerDelegate {
      var infos: [(type: FetchedResultsChangeType, name: String, count: Int, objects: Int?)] = []
      func controller(
        _ controller: FetchedResultsController<any FetchRequestResult>,
        didChange sectionInfo: any FetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: FetchedResultsChangeType
      ) {
        infos.append(
          (type, sectionInfo.name, sectionInfo.numberOfObjects, sectionInfo.objects?.count))
      }
    }
    try Stack().use { context in
      let books = [1, 1, 2].map { context.make("Book", ["title": "t", "pages": $0]) }
      try context.save()
      let byPages: FetchRequest<ManagedObject> = request(.managedObjectResultType, by: ["pages"])
      let controller = FetchedResultsController(
        fetchRequest: byPages, managedObjectContext: context, sectionNameKeyPath: "pages",
        cacheName: nil)
      let sections = Sections()
      controller.delegate = sections
      try controller.performFetch()
      for book in books[...1] { book.setValue(3, forKey: "pages") }
      context.processPendingChanges()
      let deleted = try #require(sections.infos.first { $0.type == .delete })
      #expect(deleted.name == "1" && deleted.count == 0 && deleted.objects == 0)
      let inserted = try #require(sections.infos.first { $0.type == .insert })
      #expect(inserted.name == "3" && inserted.count == 2 && inserted.objects == 2)
    }
  }

  @Test func aBatchSizeChangesHowResultsAreReadAndNotWhatTheyAre() throws {
    try Stack(in: .sqlite).use { context in
      for number in 0..<25 {
        context.make("Book", ["title": "\(number + 10)", "pages": number % 3 + 1])
      }
      try context.save()
      context.reset()
      let batched: FetchRequest<ManagedObject> = request(
        .managedObjectResultType, by: ["pages", "title"])
      batched.fetchBatchSize = 4
      batched.fetchLimit = 20
      let listener = Listener()
      let controller = FetchedResultsController(
        fetchRequest: batched, managedObjectContext: context, sectionNameKeyPath: "pages",
        cacheName: nil)
      controller.delegate = listener
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 20)
      #expect(controller.sections?.map(\.numberOfObjects) == [9, 8, 3])
      #expect(controller.object(at: IndexPath(row: 0, section: 1)).text("title") == "11")
      context.make("Book", ["title": "99", "pages": 1])
      context.processPendingChanges()
      #expect(listener.calls == 1 && controller.fetchedObjects?.count == 21)
      #expect(controller.object(at: IndexPath(row: 9, section: 0)).text("title") == "99")
    }
  }

  @Test func sectionsOfOneLetterHaveATitleEach() throws {
    try Stack().use { context in
      for title in ["ann", "Ada", "bea", "", "Übel"] { context.make("Book", ["title": title]) }
      try context.save()
      let objects: FetchRequest<ManagedObject> = request(.managedObjectResultType)
      let controller = FetchedResultsController(
        fetchRequest: objects, managedObjectContext: context, sectionNameKeyPath: "title",
        cacheName: nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["", "Ada", "ann", "bea", "Übel"])
      #expect(controller.sections?.map(\.indexTitle) == [nil, "A", "A", "B", "Ü"])
      #expect(controller.sectionIndexTitles == ["A", "A", "B", "Ü"])
      #expect(controller.section(forSectionIndexTitle: "A", at: 1) == 2)
      #expect(controller.section(forSectionIndexTitle: "A", at: 3) == 1)
    }
  }

  @Test func withAKeyPathNoObjectsAreNoSections() throws {
    try Stack().use { context in
      let objects: FetchRequest<ManagedObject> = request(.managedObjectResultType)
      let controller = FetchedResultsController(
        fetchRequest: objects, managedObjectContext: context, sectionNameKeyPath: "title",
        cacheName: nil)
      try controller.performFetch()
      #expect(controller.fetchedObjects == [] && controller.sections?.isEmpty == true)
      #expect(controller.sectionIndexTitles == [])
    }
  }

  @Test func changeTypesHaveCoreDatasNumbers() {
    let types: [FetchedResultsChangeType] = [.insert, .delete, .move, .update]
    #expect(types.map(\.rawValue) == [1, 2, 3, 4])
  }

  @Test func withoutANameEveryCacheIsDeleted() async {
    await #expect(processExitsWith: .success) {
      try Stack().use { context in
        for title in ["a", "b"] { context.make("Book", ["title": title]) }
        try context.save()
        let request = FetchRequest<ManagedObject>(entityName: "Book")
        request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
        let controller = FetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title",
          cacheName: "books")
        try controller.performFetch()
        // Refused while a cache holds sections for the request as it was.
        controller.fetchRequest.predicate = ObjectPredicate(format: "title == 'a'")
        do {
          try controller.performFetch()
          fatalError("the cache was not in use")
        } catch {}
        FetchedResultsController<ManagedObject>.deleteCache(withName: nil)
        try controller.performFetch()
        precondition(controller.fetchedObjects?.count == 1)
      }
    }
  }
}
