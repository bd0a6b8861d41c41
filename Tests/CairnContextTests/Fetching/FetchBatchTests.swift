// Chapter 16.5: a batch size makes rows come in slices, when they are used.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Core Data semantics, 16.5: batching.
@Suite struct FetchBatchTests {
  private func stack(_ count: Int) throws -> CountingStack {
    let stack = try CountingStack()
    try stack.addBooks(count)
    // The saving context is gone; what it left in the row cache is swept by reading anew.
    return stack
  }

  private func request(_ size: Int) -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>("Book", by: "title")
    request.fetchBatchSize = size
    return request
  }

  /// A context that never takes rows from the cache.
  private func fresh(_ stack: CountingStack) -> ManagedObjectContext {
    let context = stack.context()
    context.stalenessInterval = 0
    return context
  }

  @Test func theFetchReadsNoRows() throws {
    let stack = try stack(25)
    let context = fresh(stack)
    try context.performAndWait {
      let books = try context.fetch(request(10))
      #expect(books.count == 25 && books.allSatisfy(\.isFault))
      #expect(stack.takeTraffic() == StoreTraffic(fetches: 1))
    }
  }

  @Test func theFirstUseReadsTheWholeBatchAndNothingElse() throws {
    let stack = try stack(25)
    let context = fresh(stack)
    try context.performAndWait {
      let books = try context.fetch(request(10))
      _ = stack.takeTraffic()
      #expect(books[13].text("title") == "013")
      #expect(stack.takeTraffic() == StoreTraffic(rowReads: 1, rows: 10))
      #expect(books.indices.filter { !books[$0].isFault } == Array(10..<20))
      #expect(books[10...19].map { $0.text("title") } == (10...19).map(CountingStack.title))
      #expect(stack.takeTraffic() == StoreTraffic())
      #expect(books[24].text("title") == "024")
      #expect(stack.takeTraffic() == StoreTraffic(rowReads: 1, rows: 5))
    }
  }

  @Test func batchesGoByPositionInTheResultNotInTheStore() throws {
    let stack = try stack(9)
    let context = fresh(stack)
    try context.performAndWait {
      let request = request(3)
      request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: false)]
      request.fetchOffset = 1
      let books = try context.fetch(request)
      #expect(books[0].text("title") == "007")
      let filled = books.filter { !$0.isFault }.compactMap { $0.text("title") }
      #expect(filled == ["007", "006", "005"])
    }
  }

  @Test func objectsThatHaveTheirValuesAreNotReadAgain() throws {
    let stack = try stack(10)
    let context = fresh(stack)
    try context.performAndWait {
      let known = try context.fetch(FetchRequest<ManagedObject>("Book", where: "title < '004'"))
      known.forEach { _ = $0.text("title") }
      let books = try context.fetch(request(10))
      _ = stack.takeTraffic()
      // A limit that is not above the batch size makes one batch of everything.
      #expect(books[9].text("title") == "009")
      #expect(stack.takeTraffic() == StoreTraffic(rowReads: 1, rows: 6))
      #expect(known.count == 4)
    }
  }

  @Test func unsavedChangesAreInTheResultAndTouchFewBatches() throws {
    let stack = try stack(200)
    let context = fresh(stack)
    try context.performAndWait {
      context.make("Book", ["title": "0505"])
      let books = try context.fetch(request(10))
      #expect(books.count == 201)
      let filled = books.filter { !$0.isFault }.count
      #expect(filled <= 1 + 10 * 8, "the place is found by halving: \(filled)")
      #expect(books[51].text("title") == "0505" && books[50].text("title") == "050")
    }
  }

  @Test func prefetchingHappensBatchByBatch() throws {
    let stack = try CountingStack()
    try stack.use { context in
      for number in 0..<6 {
        let author = context.make("Author", ["name": "\(number)"])
        context.make("Book", ["author": author])
      }
      try context.save()
    }
    let context = fresh(stack)
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>("Author", by: "name")
      request.fetchBatchSize = 2
      request.relationshipKeyPathsForPrefetching = ["books"]
      let authors = try context.fetch(request)
      _ = stack.takeTraffic()
      #expect(authors[2].text("name") == "2")
      #expect(
        authors.map { $0.hasFault(forRelationshipNamed: "books") }
          == [true, true, false, false, true, true])
      let traffic = stack.takeTraffic()
      #expect(traffic.rowReads == 2 && traffic.memberReads == 1, "\(traffic)")
    }
  }

  @Test func aBatchSizeAboveTheLimitIsNone() throws {
    let stack = try stack(10)
    let context = fresh(stack)
    try context.performAndWait {
      let request = request(5)
      request.fetchLimit = 5
      let books = try context.fetch(request)
      _ = stack.takeTraffic()
      #expect(books.map { $0.text("title") } == (0..<5).map(CountingStack.title))
      #expect(stack.takeTraffic() == StoreTraffic())
    }
  }

  @Test func resultsThatNobodyKeepsAreFreedAndLeaveTheirBatch() throws {
    let stack = try stack(20)
    let context = fresh(stack)
    try context.performAndWait {
      var books = try context.fetch(request(10))
      books.removeSubrange(1..<10)
      #expect(context.registeredObjects.count == 11)
      _ = stack.takeTraffic()
      #expect(books[0].text("title") == "000")
      #expect(stack.takeTraffic() == StoreTraffic(rowReads: 1, rows: 1))
    }
  }

  @Test func aChildContextFetchesInBatchesFromItsParent() throws {
    let stack = try stack(12)
    let parent = fresh(stack)
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    try child.performAndWait {
      let books = try child.fetch(request(5))
      #expect(books.count == 12 && books.allSatisfy(\.isFault))
      #expect(books[6].text("title") == "006")
      #expect(books.filter { !$0.isFault }.count == 5)
    }
  }
}
