// Fetch requests: what the store finds, with unsaved changes on top.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

@Suite struct FetchTests {
  private func stack(_ titles: [String]) throws -> Stack {
    let stack = try Stack()
    try stack.use { context in
      for (index, title) in titles.enumerated() {
        context.make("Book", ["title": title, "pages": index + 1])
      }
      try context.save()
    }
    return stack
  }

  private func request(_ entity: String = "Book") -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
    return request
  }

  private func titles(_ objects: [ManagedObject]) -> [String] {
    objects.compactMap { $0.text("title") }
  }

  @Test func limitAndOffsetApplyAfterSorting() throws {
    try stack(["c", "a", "d", "b"]).use { context in
      let request = request()
      (request.fetchOffset, request.fetchLimit) = (1, 2)
      let found = try context.fetch(request)
      #expect(titles(found) == ["b", "c"])
    }
  }

  @Test func unsavedChangesShowInTheResultInOrder() throws {
    try stack(["a", "b", "c"]).use { context in
      let books = try context.fetch(request())
      context.delete(books[0])
      books[1].setValue("z", forKey: "title")
      context.make("Book", ["title": "m"])
      let request = request()
      let found = try context.fetch(request)
      #expect(titles(found) == ["c", "m", "z"])
      let count = try context.count(for: request)
      #expect(count == 3)
      request.fetchLimit = 2
      let limited = try context.fetch(request)
      #expect(titles(limited) == ["c", "m"])
    }
  }

  @Test func aChangedObjectIsTestedAgain() throws {
    try stack(["a", "b"]).use { context in
      let books = try context.fetch(request())
      books[0].setValue("x", forKey: "title")
      let request = request()
      request.predicate = ObjectPredicate(format: "title == %@", "a")
      let before = try context.fetch(request)
      #expect(before.isEmpty)
      request.predicate = ObjectPredicate(format: "title == %@", "x")
      let after = try context.fetch(request)
      #expect(after == [books[0]])
    }
  }

  @Test func unsavedChangesCanBeLeftOut() throws {
    try stack(["a"]).use { context in
      context.make("Book", ["title": "b"])
      let request = request()
      request.includesPendingChanges = false
      let found = try context.fetch(request)
      #expect(titles(found) == ["a"])
    }
  }

  @Test func anObjectIsFetchedTwiceAsTheSameInstanceWithItsUnsavedValues() throws {
    try stack(["a"]).use { context in
      let first = try #require(try context.fetch(request()).first)
      first.setValue("changed", forKey: "title")
      let again = try context.fetch(request()).first
      #expect(again === first && again?.text("title") == "changed")
    }
  }

  @Test func fetchingASuperentityFindsItsSubentities() throws {
    let stack = try stack(["a"])
    try stack.use { context in
      context.make("Essay", ["title": "e"])
      let all = try context.fetch(request("Work"))
      #expect(titles(all) == ["a", "e"])
      let request = request("Work")
      request.includesSubentities = false
      let exact = try context.fetch(request)
      #expect(exact.isEmpty)
    }
  }

  @Test func objectIDsAndCountsAreResultsToo() throws {
    try stack(["a", "b"]).use { context in
      let ids = FetchRequest<ManagedObjectID>(entityName: "Book")
      ids.resultType = .managedObjectIDResultType
      let found = try context.fetch(ids)
      #expect(found.count == 2 && found.allSatisfy { !$0.isTemporaryID })
      let count = FetchRequest<NSNumber>(entityName: "Book")
      count.resultType = .countResultType
      let counted = try context.fetch(count)
      #expect(counted == [2])
    }
  }

  @Test func dictionariesHaveTheColumnsAskedFor() throws {
    try stack(["a", "b"]).use { context in
      let request = FetchRequest<NSDictionary>(entityName: "Book")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["title", "pages"]
      request.sortDescriptors = [ObjectSortDescriptor(key: "pages", ascending: false)]
      let rows = try context.fetch(request)
      #expect(rows.first?["title"] as? String == "b" && rows.first?["pages"] as? Int == 2)
    }
  }

  @Test func aPredicateCanNameAnObject() throws {
    let stack = try Stack()
    try stack.use { context in
      let (a, b) = (context.make("Author"), context.make("Author"))
      context.make("Book", ["title": "x", "author": a])
      context.make("Book", ["title": "y", "author": b])
      try context.save()
      let request = request()
      request.predicate = ObjectPredicate(format: "author == %@", b)
      let found = try context.fetch(request)
      #expect(titles(found) == ["y"])
    }
  }

  @Test func prefetchedRelationshipsAreLoadedAndFilled() throws {
    let stack = try Stack()
    try stack.use { context in
      let author = context.make("Author")
      for _ in 0..<3 { context.make("Book", ["author": author]) }
      try context.save()
    }
    try stack.use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Author")
      request.relationshipKeyPathsForPrefetching = ["books"]
      let author = try #require(try context.fetch(request).first)
      #expect(!author.hasFault(forRelationshipNamed: "books"))
      let isFilled = author.many("books").allSatisfy { !$0.isFault }
      #expect(isFilled)
    }
  }

  @Test func anUnknownEntityIsAnErrorThatNamesTheOthers() throws {
    try Stack().use { context in
      let error = #expect(throws: CoreDataError.self) { try context.all("Nonsense") }
      #expect(error?.message.contains("Author") == true)
    }
  }

  @Test func aTemplateTakesItsVariables() throws {
    try stack(["a", "b"]).use { context in
      let model = Library.model()
      let template = FetchRequest<ManagedObject>(entityName: "Book")
      template.predicate = ObjectPredicate(format: "title == $TITLE")
      model.setFetchRequestTemplate(template, forName: "ByTitle")
      let request = try #require(
        model.fetchRequestFromTemplate(
          withName: "ByTitle", substitutionVariables: ["TITLE": "b"]))
      let found = try context.fetch(request).compactMap { $0 as? ManagedObject }
      #expect(titles(found) == ["b"])
    }
  }
}
