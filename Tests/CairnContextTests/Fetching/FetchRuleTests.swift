// Chapters 16.1 to 16.3 and 16.6: what the properties of a fetch do.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Core Data semantics, 16.1 (properties), 16.3 (unsaved changes), 16.6 (prefetching), 20.4
/// (several stores).
@Suite struct FetchRuleTests {
  private func titles(_ objects: [ManagedObject]) -> [String] {
    objects.map { $0.text("title") ?? "nil" }
  }

  // MARK: Faults and rows

  @Test func resultsAreFaultsWhoseRowsAreAtHand() throws {
    let stack = try CountingStack()
    try stack.addBooks(3)
    try stack.use { context in
      let books = try context.fetch(FetchRequest<ManagedObject>("Book", by: "title"))
      let areFaults = books.allSatisfy(\.isFault)
      #expect(areFaults)
      #expect(titles(books) == ["000", "001", "002"])
      #expect(stack.takeTraffic() == StoreTraffic(fetches: 1))
    }
  }

  @Test func resultsAreFilledAtOnceWhenFaultsAreNotWanted() throws {
    let stack = try CountingStack()
    try stack.addBooks(3)
    try stack.use { context in
      let request = FetchRequest<ManagedObject>("Book", by: "title")
      request.returnsObjectsAsFaults = false
      let books = try context.fetch(request)
      let areFaults = books.contains(where: \.isFault)
      #expect(!areFaults)
    }
  }

  @Test func aFetchAsksTheStoreEvenIfAllObjectsAreThereAndOtherWaysDoNot() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let author = context.make("Author", ["name": "Ann"])
      for _ in 0..<3 { context.make("Book", ["author": author]) }
      try context.save()
    }
    try stack.use { context in
      let books = try context.all("Book")
      let author = try #require(books.first?.one("author"))
      #expect(author.text("name") == "Ann" && author.many("books").count == 3)
      _ = stack.takeTraffic()
      #expect(try context.all("Book").count == 3)
      #expect(stack.takeTraffic().fetches == 1)
      #expect(books.compactMap { context.registeredObject(for: $0.objectID) }.count == 3)
      #expect(author.many("books").compactMap { $0.one("author")?.text("name") }.count == 3)
      #expect(stack.takeTraffic() == StoreTraffic())
    }
  }

  @Test func withoutPropertyValuesOnlyIdentitiesAreRead() throws {
    let stack = try CountingStack()
    try stack.addBooks(3)
    let context = stack.context()
    context.stalenessInterval = 0
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>("Book", by: "title")
      request.includesPropertyValues = false
      let books = try context.fetch(request)
      _ = stack.takeTraffic()
      #expect(books[0].text("title") == "000")
      #expect(stack.takeTraffic().rowReads == 1, "the row had to be read")
    }
  }

  @Test func objectIDsBringTheirRowsIntoTheCacheUnlessToldNotTo() throws {
    let stack = try CountingStack()
    try stack.addBooks(3)
    let request = FetchRequest<ManagedObjectID>(entityName: "Book")
    request.resultType = .managedObjectIDResultType
    try stack.use { context in
      let ids = try context.fetch(request)
      _ = stack.takeTraffic()
      let filled = try ids.map { try context.existingObject(with: $0) }
      #expect(filled.count == 3 && stack.takeTraffic() == StoreTraffic())
    }
  }

  @Test func aRegisteredObjectKeepsItsValuesUnlessItIsToBeRefreshed() throws {
    let stack = try CountingStack()
    try stack.addBooks(2)
    let context = stack.context()
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>("Book", by: "title")
      let books = try context.fetch(request)
      #expect(titles(books) == ["000", "001"])
      books[1].setValue(77, forKey: "pages")
      try stack.use { other in
        for book in try other.fetch(request) {
          book.setValue("new " + (book.text("title") ?? ""), forKey: "title")
        }
        try other.save()
      }
      try expect(titles(context.fetch(request)), is: ["000", "001"])
      request.shouldRefreshRefetchedObjects = true
      try expect(titles(context.fetch(request)), is: ["new 000", "new 001"])
      // Unsaved changes stay, on top of the values just read.
      #expect(books[1].number("pages") == 77 && books[1].hasChanges)
      try context.save()
    }
    try stack.use { other in
      let request = FetchRequest<ManagedObject>("Book", by: "-title")
      let book = try #require(try other.fetch(request).first)
      #expect(book.text("title") == "new 001" && book.number("pages") == 77)
    }
  }

  // MARK: Stores

  @Test func aFetchRunsOverAllStoresInOrderWithLimitAndOffset() throws {
    let stack = try CountingStack(stores: 2)
    try stack.addBooks(3, to: stack.stores[0])
    try stack.addBooks(2, to: stack.stores[1])
    try stack.use { context in
      let request = FetchRequest<ManagedObject>("Book", by: "-title")
      try expect(titles(context.fetch(request)), is: ["002", "001", "001", "000", "000"])
      (request.fetchOffset, request.fetchLimit) = (1, 3)
      try expect(titles(context.fetch(request)), is: ["001", "001", "000"])
      try expect(context.count(for: request), is: 3)
      request.affectedStores = [stack.stores[1]]
      try expect(titles(context.fetch(request)), is: ["000"])
      request.affectedStores = []
      try expect(context.fetch(request).isEmpty, is: true)
    }
  }

  @Test func unsavedObjectsCountForTheStoreTheyWillGoTo() throws {
    let stack = try CountingStack(stores: 2)
    try stack.use { context in
      let book = context.make("Book", ["title": "second"])
      context.assign(book, to: stack.stores[1])
      context.make("Book", ["title": "first"])
      let request = FetchRequest<ManagedObject>("Book", by: "title")
      request.affectedStores = [stack.stores[1]]
      try expect(titles(context.fetch(request)), is: ["second"])
      request.affectedStores = [stack.stores[0]]
      try expect(titles(context.fetch(request)), is: ["first"])
    }
  }

  // MARK: Sorting

  @Test(arguments: StoreChoice.allCases)
  func resultsAreSortedThroughToOneRelationshipsWithNilFirst(_ choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      let (ann, bob) = (
        context.make("Author", ["name": "Ann"]), context.make("Author", ["name": "Bob"])
      )
      context.make("Book", ["title": "1", "author": bob])
      context.make("Book", ["title": "2", "author": ann])
      context.make("Book", ["title": "3"])
      context.make("Book", ["title": "4", "author": ann])
      try context.save()
      let request = FetchRequest<ManagedObject>("Book", by: "author.name", "-title")
      try expect(titles(context.fetch(request)), is: ["3", "4", "2", "1"])
      // A change of an author moves the books that did not change, once one of them did.
      ann.setValue("Zoe", forKey: "name")
      context.make("Book", ["title": "5", "author": bob])
      try expect(titles(context.fetch(request)), is: ["3", "5", "1", "4", "2"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func selectorsDecideHowTextIsSorted(_ choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      for title in ["b", "A", "a10", "C", "a9"] { context.make("Book", ["title": title]) }
      try context.save()
      func sorted(_ selector: SelectorName?) throws -> [String] {
        let request = FetchRequest<ManagedObject>(entityName: "Book")
        request.sortDescriptors = [
          ObjectSortDescriptor(key: "title", ascending: true, selector: selector)
        ]
        return titles(try context.fetch(request))
      }
      try expect(sorted(nil), is: ["A", "C", "a10", "a9", "b"])
      try expect(sorted(.caseInsensitiveCompare), is: ["A", "a10", "a9", "b", "C"])
      try expect(sorted(.localizedStandardCompare), is: ["A", "a9", "a10", "b", "C"])
    }
  }

  @Test func aComparatorCannotSortInADatabase() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.sortDescriptors = [
        ObjectSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame }
      ]
      let error = #expect(throws: CoreDataError.self) { try context.fetch(request) }
      #expect(error?.message.contains("comparator blocks are not supported") == true)
    }
  }

  // MARK: Unsaved changes

  @Test(arguments: StoreChoice.allCases)
  func limitAndOffsetCountUnsavedChanges(_ choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      for title in ["a", "b", "c", "d"] { context.make("Book", ["title": title]) }
      try context.save()
      let books = try context.fetch(FetchRequest<ManagedObject>("Book", by: "title"))
      context.delete(books[0])
      books[1].setValue("z", forKey: "title")
      context.make("Book", ["title": "m"])
      let request = FetchRequest<ManagedObject>("Book", by: "title")
      (request.fetchOffset, request.fetchLimit) = (1, 2)
      try expect(titles(context.fetch(request)), is: ["d", "m"])
      try expect(context.count(for: request), is: 2)
      request.includesPendingChanges = false
      let stored = try context.fetch(request).map(\.objectID)
      #expect(stored == [books[1].objectID, books[2].objectID])
      (request.fetchOffset, request.fetchLimit) = (0, 0)
      try expect(context.count(for: request), is: 4)
    }
  }

  @Test func unsavedObjectsComeWithTemporaryIDs() throws {
    try Stack().use { context in
      let book = context.make("Book")
      let request = FetchRequest<ManagedObjectID>(entityName: "Book")
      request.resultType = .managedObjectIDResultType
      let ids = try context.fetch(request)
      #expect(ids == [book.objectID] && ids[0].isTemporaryID)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func anUnsavedObjectAsAValueIsFoundAmongUnsavedChanges(_ choice: StoreChoice) throws {
    try Stack(in: choice).use { context in
      context.make("Book", ["title": "saved"])
      try context.save()
      let author = context.make("Author")
      let book = context.make("Book", ["title": "new", "author": author])
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.predicate = ObjectPredicate(format: "author == %@", author)
      let found = try context.fetch(request)
      #expect(found == [book])
    }
  }

  // MARK: Prefetching

  @Test func eachStepOfAPrefetchIsOneQuery() throws {
    let stack = try CountingStack()
    try stack.use { context in
      for name in ["Ann", "Bob"] {
        let author = context.make("Author", ["name": name])
        for number in 0..<3 {
          let book = context.make("Book", ["title": "\(name) \(number)", "author": author])
          context.make("Chapter", ["title": "one", "book": book])
        }
      }
      try context.save()
    }
    let context = stack.context()
    context.stalenessInterval = 0
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>("Author", by: "name")
      request.relationshipKeyPathsForPrefetching = ["books.chapters"]
      _ = stack.takeTraffic()
      let authors = try context.fetch(request)
      let traffic = stack.takeTraffic()
      // One query for authors, then members and rows of books, and of chapters.
      #expect(traffic == StoreTraffic(fetches: 1, rowReads: 2, rows: 12, memberReads: 2))
      let chapters = authors.flatMap { $0.many("books") }.flatMap { $0.many("chapters") }
      #expect(chapters.compactMap { $0.text("title") } == Array(repeating: "one", count: 6))
      #expect(stack.takeTraffic() == StoreTraffic(), "everything is there")
    }
  }

  @Test func aPrefetchedToOneIsFilledAndHeld() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let author = context.make("Author", ["name": "Ann"])
      for _ in 0..<3 { context.make("Book", ["author": author]) }
      context.make("Book")
      try context.save()
    }
    try stack.use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.relationshipKeyPathsForPrefetching = ["author"]
      let books = try context.fetch(request)
      _ = stack.takeTraffic()
      #expect(books.compactMap { $0.one("author")?.text("name") } == ["Ann", "Ann", "Ann"])
      #expect(stack.takeTraffic() == StoreTraffic())
    }
  }
}
