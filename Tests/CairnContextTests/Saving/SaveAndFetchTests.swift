// A save and a fetch from end to end.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@Suite struct SaveAndFetchTests {
  @Test func aSavedObjectIsFoundByAnotherContextWithItsValues() throws {
    let stack = try Stack()
    try stack.use { context in
      let author = context.make("Author", ["name": "Ada", "born": Date(timeIntervalSince1970: 5)])
      context.make(
        "Book", ["title": "Notes", "pages": 42, "price": Decimal(9.5), "author": author])
      try context.save()
    }
    try stack.use { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.text("title") == "Notes")
      #expect(book.number("pages") == 42)
      #expect(book.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(value: 9.5))
      #expect(book.one("author")?.text("name") == "Ada")
      #expect(book.one("author")?.many("books") == [book])
      #expect(book.one("author")?.value(forKey: "born") as? Date == Date(timeIntervalSince1970: 5))
    }
  }

  @Test func aSavedObjectIsCleanAndHasAPermanentID() throws {
    try Stack().use { context in
      let author = context.make("Author")
      #expect(author.objectID.isTemporaryID && author.isInserted && context.hasChanges)
      try context.save()
      #expect(!author.objectID.isTemporaryID && !author.hasChanges && !context.hasChanges)
      #expect(context.registeredObject(for: author.objectID) === author)
    }
  }

  @Test func anUpdateIsWritten() throws {
    let stack = try Stack()
    let id = try stack.use { context in
      let author = context.make("Author", ["name": "Ada"])
      try context.save()
      author.setValue("Grace", forKey: "name")
      #expect(author.isUpdated && author.hasPersistentChangedValues)
      try context.save()
      return author.objectID
    }
    try stack.use { context in
      let author = try context.existingObject(with: id)
      #expect(author.text("name") == "Grace")
    }
  }

  @Test func aDeletedObjectIsGoneAndDetached() throws {
    let stack = try Stack()
    try stack.use { context in
      let author = context.make("Author")
      try context.save()
      context.delete(author)
      #expect(author.isDeleted)
      try context.save()
      #expect(author.managedObjectContext == nil && !author.isDeleted)
      #expect(try context.all("Author").isEmpty)
    }
    try stack.use { context in
      let authors = try context.all("Author")
      #expect(authors.isEmpty)
    }
  }

  @Test func linksAndOrderSurviveASave() throws {
    let stack = try Stack()
    try stack.use { context in
      let book = context.make("Book", ["title": "B"])
      let tags = ["x", "y"].map { context.make("Tag", ["label": $0]) }
      book.mutableSetValue(forKey: "tags").addObjects(from: tags)
      let chapters = book.mutableOrderedSetValue(forKey: "chapters")
      for title in ["one", "two", "three"] {
        chapters.insert(context.make("Chapter", ["title": title]), at: 0)
      }
      try context.save()
    }
    try stack.use { context in
      let book = try #require(try context.all("Book").first)
      #expect(Set(book.many("tags").compactMap { $0.text("label") }) == ["x", "y"])
      let chapters = book.mutableOrderedSetValue(forKey: "chapters").members
      #expect(chapters.compactMap { $0.text("title") } == ["three", "two", "one"])
      book.mutableOrderedSetValue(forKey: "chapters").moveObjects(at: [2], to: 0)
      book.mutableSetValue(forKey: "tags").removeAllObjects()
      try context.save()
    }
    try stack.use { context in
      let book = try #require(try context.all("Book").first)
      let chapters = book.mutableOrderedSetValue(forKey: "chapters").members
      #expect(chapters.compactMap { $0.text("title") } == ["one", "three", "two"])
      #expect(book.many("tags").isEmpty)
      #expect(try context.all("Tag").allSatisfy { $0.many("works").isEmpty })
    }
  }

  @Test func assigningAnEqualValueWritesNothing() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": "Ada"])
      try context.save()
      author.setValue("Ada", forKey: "name")
      #expect(author.hasChanges && !author.hasPersistentChangedValues)
      try context.save()
      #expect(!author.hasChanges)
    }
  }

  @Test func aTransientValueSurvivesTheSaveButNotTheFault() throws {
    try Stack().use { context in
      let author = context.make("Author", ["mood": "glad"])
      try context.save()
      #expect(author.text("mood") == "glad")
      context.refresh(author, mergeChanges: false)
      #expect(author.text("mood") == nil)
    }
  }

  @Test func aSaveWithoutStoresFailsAndKeepsEverythingPending() throws {
    let stack = try Stack()
    try stack.coordinator.remove(stack.store)
    try stack.use { context in
      let author = context.make("Author")
      #expect(throws: CoreDataError.self) { try context.save() }
      #expect(author.isInserted && context.hasChanges)
    }
  }
}
