// When values are read, and what is read along.
import CairnContext
import CairnModel
import CairnStore
import Testing

@Suite struct FaultTests {
  @Test func readingOneMemberReadsItsSiblings() throws {
    let stack = try Stack()
    try stack.use { context in
      let author = context.make("Author")
      for index in 0..<10 { context.make("Book", ["title": "\(index)", "author": author]) }
      try context.save()
    }
    try stack.use { context in
      let author = try #require(try context.all("Author").first)
      let books = author.many("books")
      #expect(books.count == 10)
      // Members are faults until the first one is asked for.
      let before = books.filter(\.isFault).count
      _ = books.first?.text("title")
      let after = books.filter(\.isFault).count
      #expect(before == 10 && after == 0 && author.many("books") == books)
    }
  }

  @Test func identityQuestionsFireNothing() throws {
    let stack = try Stack()
    try stack.use { context in
      context.make("Book")
      try context.save()
    }
    try stack.use { context in
      let book = try #require(try context.all("Book").first)
      _ = (book.objectID, book.entity, book.hash, book.isInserted, book.hasChanges)
      _ = (book.changedValues(), book.description, book.hasFault(forRelationshipNamed: "tags"))
      #expect(book.isFault)
      book.willAccessValue(forKey: nil)
      #expect(!book.isFault)
    }
  }

  @Test func aFetchCanFillObjectsAtOnce() throws {
    let stack = try Stack()
    try stack.use { context in
      context.make("Book")
      try context.save()
    }
    try stack.use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.returnsObjectsAsFaults = false
      let book = try #require(try context.fetch(request).first)
      #expect(!book.isFault)
    }
  }

  @Test func refreshingWithMergeReadsTheRowAgainAndKeepsUnsavedChanges() throws {
    let stack = try Stack()
    try stack.use { context in
      let book = context.make("Book", ["title": "a", "pages": 1])
      try context.save()
      book.setValue(9, forKey: "pages")
      try stack.use { other in
        try other.existingObject(with: book.objectID).setValue("b", forKey: "title")
        try other.save()
      }
      #expect(book.text("title") == "a")
      context.refresh(book, mergeChanges: true)
      #expect(book.text("title") == "b" && book.number("pages") == 9 && book.isUpdated)
      try context.save()
    }
  }

  @Test func aBatchRequestNeedsAStoreThatExecutesIt() throws {
    try Stack().use { context in
      let request = BatchInsertRequest(entityName: "Book", objects: [["title": "x"]])
      let error = #expect(throws: CoreDataError.self) { try context.execute(request) }
      #expect(error?.code == .persistentStoreUnsupportedRequestType)
    }
  }
}
