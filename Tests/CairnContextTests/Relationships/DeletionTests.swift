// The four delete rules.
import CairnContext
import CairnModel
import CairnStore
import Testing

@Suite struct DeletionTests {
  @Test func cascadeDeletesMembersRecursively() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      let chapter = context.make("Chapter", ["book": book])
      try context.save()
      context.delete(author)
      context.processPendingChanges()
      #expect(book.isDeleted && chapter.isDeleted)
      try context.save()
      let chapters = try context.all("Chapter")
      #expect(chapters.isEmpty)
    }
  }

  @Test func nullifyTakesTheObjectFromTheOtherSide() throws {
    try Stack().use { context in
      let book = context.make("Book", ["author": context.make("Author")])
      let author = try #require(book.one("author"))
      try context.save()
      context.delete(book)
      context.processPendingChanges()
      #expect(author.many("books").isEmpty && !author.isDeleted)
    }
  }

  @Test func denyRefusesTheSaveWhileThereIsAMember() throws {
    try Stack().use { context in
      let author = context.make("Author", ["passport": context.make("Passport")])
      try context.save()
      context.delete(author)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationRelationshipDeniedDelete)
      #expect(author.isDeleted)
      context.delete(try #require(author.one("passport")))
      try context.save()
    }
  }

  @Test func aDeletedManyToManyLinkGoesFromBothSides() throws {
    let stack = try Stack()
    try stack.use { context in
      let tag = context.make("Tag", ["label": "x"])
      let book = context.make("Book")
      book.mutableSetValue(forKey: "tags").add(tag)
      try context.save()
      context.delete(tag)
      try context.save()
      #expect(book.many("tags").isEmpty)
    }
    try stack.use { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.many("tags").isEmpty)
    }
  }

  @Test func deletingANewObjectWritesNothing() throws {
    try Stack().use { context in
      let author = context.make("Author")
      context.delete(author)
      context.processPendingChanges()
      #expect(!context.hasChanges && author.managedObjectContext == nil)
    }
  }

  @Test func prepareForDeletionComesBeforePropagation() throws {
    try Stack().use { context in
      let author = try #require(context.make("Author") as? Author)
      let book = context.make("Book", ["author": author])
      try context.save()
      context.delete(author)
      #expect(author.calls.last == "prepareForDeletion" && !book.isDeleted)
    }
  }

  @Test func rollbackBringsTheDeletedAndTheirRelationshipsBack() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      let tag = context.make("Tag", ["label": "x"])
      book.mutableSetValue(forKey: "tags").add(tag)
      try context.save()
      context.delete(author)
      context.processPendingChanges()
      context.rollback()
      #expect(!author.isDeleted && !book.isDeleted && !context.hasChanges)
      #expect(author.many("books") == [book] && tag.many("works") == [book])
    }
  }

  @Test func propagationCanWaitForTheSave() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      try context.save()
      context.propagatesDeletesAtEndOfEvent = false
      context.delete(author)
      context.processPendingChanges()
      #expect(!book.isDeleted)
      try context.save()
      let books = try context.all("Book")
      #expect(books.isEmpty)
    }
  }
}
