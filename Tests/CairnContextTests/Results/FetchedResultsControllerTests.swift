// Fetched results: fetching, sections, index titles, paths, cache.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapter 23 and Part II.6 of the specification, without delegates.
@Suite struct FetchedResultsControllerTests {
  /// Books by title with the given numbers of pages.
  private func fill(_ context: ManagedObjectContext, _ books: KeyValuePairs<String, Int>) throws {
    for (title, pages) in books { context.make("Book", ["title": title, "pages": pages]) }
    try context.save()
  }

  private func controller(
    _ context: ManagedObjectContext, by keys: [String] = ["title"], sections: String? = nil,
    cache: String? = nil, predicate: String? = nil
  ) -> FetchedResultsController<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Book")
    request.sortDescriptors = keys.map { ObjectSortDescriptor(key: $0, ascending: true) }
    request.predicate = predicate.map { ObjectPredicate(format: $0) }
    return FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections,
      cacheName: cache)
  }

  @Test func nothingIsThereBeforeTheFirstFetch() throws {
    try Stack().use { context in
      let controller = controller(context)
      #expect(controller.fetchedObjects == nil && controller.sections == nil)
      #expect(controller.managedObjectContext === context && controller.cacheName == nil)
    }
  }

  @Test func aRequestWithoutSortDescriptorsTraps() async {
    await #expect(processExitsWith: .failure) {
      try Stack().use { context in
        _ = FetchedResultsController(
          fetchRequest: FetchRequest<ManagedObject>(entityName: "Book"),
          managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      }
    }
  }

  @Test func withoutAKeyPathThereIsOneSectionAlsoWhenItIsEmpty() throws {
    try Stack().use { context in
      let controller = controller(context)
      try controller.performFetch()
      #expect(controller.sections?.count == 1)
      #expect(controller.sections?.first?.numberOfObjects == 0)
      #expect(controller.sections?.first?.name == "")
      #expect(controller.sections?.first?.indexTitle == nil)
    }
  }

  @Test func objectsAreCutIntoSectionsWhereTheValueChanges() throws {
    try Stack().use { context in
      try fill(context, ["a": 2, "b": 1, "c": 2, "d": 10])
      let controller = controller(context, by: ["pages", "title"], sections: "pages")
      try controller.performFetch()
      #expect(ShownList(controller).description == "1: b | 2: a c | 10: d")
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 2, 1])
    }
  }

  @Test func sectionsOfARelationshipsValueAndOfNoValue() throws {
    try Stack().use { context in
      for (title, name) in [("x", "Zoe"), ("y", "Anna"), ("z", "Anna")] {
        let author = context.make("Author", ["name": name])
        context.make("Book", ["title": title, "author": author])
      }
      context.make("Book", ["title": "w"])
      try context.save()
      let controller = controller(
        context, by: ["author.name", "title"], sections: "author.name")
      try controller.performFetch()
      #expect(ShownList(controller).description == ": w | Anna: y z | Zoe: x")
      #expect(controller.sectionIndexTitles == ["A", "Z"])
      #expect(controller.section(forSectionIndexTitle: "A", at: 0) == 1)
      #expect(controller.section(forSectionIndexTitle: "Z", at: 1) == 2)
      #expect(controller.section(forSectionIndexTitle: "Q", at: 0) == NSNotFound)
    }
  }

  @Test func aBooleanSectionIsNamedByItsNumber() throws {
    try Stack().use { context in
      context.make("Book", ["title": "a", "isRead": false])
      context.make("Book", ["title": "b", "isRead": true])
      try context.save()
      let controller = controller(context, by: ["isRead", "title"], sections: "isRead")
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["0", "1"])
    }
  }

  @Test func objectsOfASectionThatDoNotStandTogetherAreAnError() throws {
    try Stack().use { context in
      try fill(context, ["a": 2, "b": 1, "c": 2])
      let controller = controller(context, by: ["title"], sections: "pages")
      let error = #expect(throws: CoreDataError.self) { try controller.performFetch() }
      #expect(error?.code == .coreData)
      #expect((error?.userInfo["reason"] as? String)?.contains("index 2") == true)
    }
  }

  @Test func indexPathsAndObjectsLeadToEachOther() throws {
    try Stack().use { context in
      try fill(context, ["a": 2, "b": 1, "c": 2, "d": 10])
      let controller = controller(context, by: ["pages", "title"], sections: "pages")
      try controller.performFetch()
      let all = try #require(controller.fetchedObjects)
      #expect(all.map { $0.text("title") } == ["b", "a", "c", "d"])
      for object in all {
        let path = try #require(controller.indexPath(forObject: object))
        #expect(controller.object(at: path) === object)
      }
      #expect(controller.indexPath(forObject: all[2]) == IndexPath(row: 1, section: 1))
      let other = context.make("Book", ["title": "new"])
      #expect(controller.indexPath(forObject: other) == nil)
    }
  }

  @Test func anIndexPathOutsideOfTheResultsTraps() async {
    await #expect(processExitsWith: .failure) {
      try Stack().use { context in
        let request = FetchRequest<ManagedObject>(entityName: "Book")
        request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
        let controller = FetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
          cacheName: nil)
        try controller.performFetch()
        _ = controller.object(at: IndexPath(row: 0, section: 0))
      }
    }
  }

  @Test func limitAndOffsetHoldForTheFetch() throws {
    try Stack().use { context in
      try fill(context, ["a": 1, "b": 1, "c": 1, "d": 1])
      let controller = controller(context)
      controller.fetchRequest.fetchOffset = 1
      controller.fetchRequest.fetchLimit = 2
      try controller.performFetch()
      #expect(controller.fetchedObjects?.map { $0.text("title") } == ["b", "c"])
    }
  }

  @Test func unsavedObjectsAreAmongTheResults() throws {
    try Stack().use { context in
      try fill(context, ["b": 1])
      context.make("Book", ["title": "a"])
      let controller = controller(context)
      try controller.performFetch()
      #expect(ShownList(controller).description == ": a b")
    }
  }

  @Test func objectIDsAndDictionariesAreResultsToo() throws {
    try Stack().use { context in
      try fill(context, ["a": 2, "b": 1, "c": 2])
      let ids = FetchRequest<ManagedObjectID>(entityName: "Book")
      ids.resultType = .managedObjectIDResultType
      ids.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
      let byID = FetchedResultsController(
        fetchRequest: ids, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      try byID.performFetch()
      let first = try #require(byID.fetchedObjects?.first)
      #expect(byID.fetchedObjects?.count == 3)
      #expect(byID.indexPath(forObject: first) == IndexPath(row: 0, section: 0))
      let rows = FetchRequest<NSDictionary>(entityName: "Book")
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["title", "pages"]
      rows.sortDescriptors = [
        ObjectSortDescriptor(key: "pages", ascending: true),
        ObjectSortDescriptor(key: "title", ascending: true),
      ]
      let byRow = FetchedResultsController(
        fetchRequest: rows, managedObjectContext: context, sectionNameKeyPath: "pages",
        cacheName: nil)
      try byRow.performFetch()
      #expect(byRow.sections?.map(\.name) == ["1", "2"])
      #expect(byRow.sections?.map(\.numberOfObjects) == [1, 2])
      let last = byRow.object(at: IndexPath(item: 1, section: 1))
      #expect(last["title"] as? String == "c")
    }
  }

  @Test func aSubclassDecidesItsIndexTitles() throws {
    final class Controller: FetchedResultsController<ManagedObject> {
      override func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        "§\(sectionName)"
      }
    }
    try Stack().use { context in
      try fill(context, ["a": 1, "b": 2])
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.sortDescriptors = [ObjectSortDescriptor(key: "pages", ascending: true)]
      let controller = Controller(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "pages",
        cacheName: nil)
      try controller.performFetch()
      #expect(controller.sectionIndexTitles == ["§1", "§2"])
      #expect(controller.sections?.map(\.indexTitle) == ["§1", "§2"])
    }
  }

  // MARK: Cache

  @Test func theCacheGivesTheSectionsOfTheSameRowsOnly() throws {
    let stack = try Stack()
    let cache = "books-\(UUID().uuidString)"
    try stack.use { context in
      try fill(context, ["a": 2, "b": 1])
      func sections() throws -> String {
        let controller = controller(
          context, by: ["pages", "title"], sections: "pages", cache: cache)
        try controller.performFetch()
        return ShownList(controller).description
      }
      #expect(try sections() == "1: b | 2: a")
      #expect(try sections() == "1: b | 2: a")
      // Another program changes a row: the cache does not hold for it.
      try stack.use { other in
        let books = try other.all("Book", "title == 'a'")
        books.first?.setValue(3, forKey: "pages")
        try other.save()
      }
      context.refreshAllObjects()
      #expect(try sections() == "1: b | 3: a")
      // Unsaved changes neither.
      try context.all("Book", "title == 'b'").first?.setValue(9, forKey: "pages")
      #expect(try sections() == "3: a | 9: b")
      FetchedResultsController<ManagedObject>.deleteCache(withName: cache)
      #expect(try sections() == "3: a | 9: b")
    }
  }

  @Test func aRequestMayNotChangeWhileItsCacheIsInUse() throws {
    try Stack().use { context in
      let cache = "books-\(UUID().uuidString)"
      try fill(context, ["a": 2, "b": 1])
      let controller = controller(
        context, by: ["pages", "title"], sections: "pages", cache: cache)
      try controller.performFetch()
      controller.fetchRequest.predicate = ObjectPredicate(format: "pages > 1")
      let error = #expect(throws: CoreDataError.self) { try controller.performFetch() }
      #expect(error?.message.contains(cache) == true)
      FetchedResultsController<ManagedObject>.deleteCache(withName: cache)
      try controller.performFetch()
      #expect(ShownList(controller).description == "2: a")
    }
  }

  @Test func anotherControllerWithAnotherRequestTakesTheCacheOver() throws {
    try Stack().use { context in
      let cache = "books-\(UUID().uuidString)"
      try fill(context, ["a": 2, "b": 1])
      for (predicate, expected) in [
        (nil, "1: b | 2: a"), ("pages > 1", "2: a"), (nil, "1: b | 2: a"),
      ] {
        let controller = controller(
          context, by: ["pages", "title"], sections: "pages", cache: cache, predicate: predicate)
        try controller.performFetch()
        #expect(ShownList(controller).description == expected)
      }
    }
  }
}
