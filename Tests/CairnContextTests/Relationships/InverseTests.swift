// Both sides of a relationship agree at once, whichever side is changed.
import CairnContext
import CairnModel
import Testing

@Suite struct InverseTests {
  @Test func settingAToOneAddsToTheOtherSide() throws {
    try Stack().use { context in
      let (author, book) = (context.make("Author"), context.make("Book"))
      book.setValue(author, forKey: "author")
      #expect(author.many("books") == [book])
    }
  }

  @Test func addingToAToManyTakesTheMemberFromItsFormerOwner() throws {
    try Stack().use { context in
      let (a, b, book) = (context.make("Author"), context.make("Author"), context.make("Book"))
      a.mutableSetValue(forKey: "books").add(book)
      b.mutableSetValue(forKey: "books").add(book)
      #expect(a.many("books").isEmpty && b.many("books") == [book] && book.one("author") === b)
    }
  }

  @Test func aOneToOneRelationshipReleasesBothFormerPartners() throws {
    try Stack().use { context in
      let (a, b) = (context.make("Author"), context.make("Author"))
      let (p, q) = (context.make("Passport"), context.make("Passport"))
      a.setValue(p, forKey: "passport")
      b.setValue(q, forKey: "passport")
      a.setValue(q, forKey: "passport")
      #expect(a.one("passport") === q && q.one("owner") === a)
      #expect(b.one("passport") == nil && p.one("owner") == nil)
    }
  }

  @Test func assigningAWholeSetRemovesAndAdds() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let books = (0..<3).map { _ in context.make("Book") }
      author.setValue(Set(books[0...1]), forKey: "books")
      author.setValue(Set(books[1...2]), forKey: "books")
      #expect(books[0].one("author") == nil && books[2].one("author") === author)
    }
  }

  @Test func aRelationshipThatIsItsOwnInverseIsSymmetric() throws {
    try Stack().use { context in
      let (a, b) = (context.make("Author"), context.make("Author"))
      a.mutableSetValue(forKey: "friends").add(b)
      #expect(b.many("friends") == [a])
      b.mutableSetValue(forKey: "friends").remove(a)
      #expect(a.many("friends").isEmpty)
    }
  }

  @Test func anObjectJoinsAnOrderedRelationshipAtItsEnd() throws {
    try Stack().use { context in
      let book = context.make("Book")
      let chapters = (0..<3).map { _ in context.make("Chapter") }
      for chapter in chapters { chapter.setValue(book, forKey: "book") }
      #expect(book.mutableOrderedSetValue(forKey: "chapters").members == chapters)
    }
  }

  @Test func bothSidesCountAsUpdated() throws {
    try Stack().use { context in
      let (author, book) = (context.make("Author"), context.make("Book"))
      try context.save()
      book.setValue(author, forKey: "author")
      #expect(context.updatedObjects == [author, book])
    }
  }

  @Test func setPrimitiveValueMaintainsNoInverse() throws {
    try Stack().use { context in
      let (author, book) = (context.make("Author"), context.make("Book"))
      book.setPrimitiveValue(author, forKey: "author")
      #expect(book.one("author") === author && author.many("books").isEmpty)
    }
  }

  @Test func addingToALargeRelationshipDoesNotReadIt() throws {
    let stack = try Stack()
    try stack.use { context in
      context.make("Book", ["author": context.make("Author")])
      try context.save()
    }
    try stack.use { context in
      let author = try #require(try context.all("Author").first)
      author.mutableSetValue(forKey: "books").add(context.make("Book"))
      #expect(author.hasFault(forRelationshipNamed: "books"))
      #expect(author.many("books").count == 2)
    }
  }

  @Test func theOtherSideIsNotLoadedToChangeIt() throws {
    let stack = try Stack()
    try stack.use { context in
      context.make("Book", ["author": context.make("Author")])
      try context.save()
    }
    try stack.use { context in
      let author = try #require(try context.all("Author").first)
      let book = context.make("Book", ["author": author])
      #expect(author.hasFault(forRelationshipNamed: "books"))
      #expect(author.many("books").count == 2 && author.many("books").contains(book))
    }
  }
}
