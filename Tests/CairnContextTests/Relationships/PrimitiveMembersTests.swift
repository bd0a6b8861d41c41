// Chapters 5 and 8.3 of the specification.
@_spi(Generated) import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// What `primitiveValue(forKey:)` gives for a to-many relationship.
@Suite struct PrimitiveMembersTests {
  private func withAuthor(
    _ body: (ManagedObjectContext, Author, [ManagedObject]) throws -> Void
  ) throws {
    try Stack(in: .sqlite).use { context in
      let author = try #require(context.make("Author") as? Author)
      let books = (0..<3).map { context.make("Book", ["title": "\($0)", "author": author]) }
      try context.save()
      try body(context, author, books)
    }
  }

  @Test func itIsCastToASwiftSetOfTheMembers() throws {
    try withAuthor { context, author, books in
      #expect(author.primitiveValue(forKey: "books") as? Set<ManagedObject> == Set(books))
      context.refresh(author, mergeChanges: false)
      #expect(author.primitiveValue(forKey: "books") as? Set<ManagedObject> == Set(books))
      let plain = author.primitiveValue(forKey: "books") as? NSSet
      #expect(plain?.count == 3 && plain as? Set<ManagedObject> == Set(books))
      let primitive: Set<ManagedObject> = author.managedValue("primitiveBooks")
      #expect(primitive == Set(books))
      #expect(author.primitiveValue(forKey: "friends") as? Set<Author> == [])
      #expect(!author.hasChanges && !context.hasChanges)
    }
  }

  @Test func whatIsAddedAndRemovedBelongsToTheObject() throws {
    try withAuthor { context, author, books in
      let set = try #require(author.primitiveValue(forKey: "books") as? NSMutableSet)
      let other = context.make("Book")
      set.add(other)
      set.remove(books[0])
      #expect(author.many("books") == [books[1], books[2], other])
      #expect(other.one("author") == nil && books[0].one("author") === author)
      #expect(author.primitiveValue(forKey: "books") as? Set<ManagedObject> == author.many("books"))
      set.removeAllObjects()
      set.add(books[1])
      #expect(author.many("books") == [books[1]])
      #expect(author.primitiveValue(forKey: "books") as AnyObject === set)
    }
  }

  @Test func itShowsWhatWasChangedByOtherWays() throws {
    try withAuthor { context, author, books in
      let set = try #require(author.primitiveValue(forKey: "books") as? NSMutableSet)
      let (other, third) = (context.make("Book"), context.make("Book"))
      author.mutableSetValue(forKey: "books").add(other)
      set.add(third)
      books[0].setValue(nil, forKey: "author")
      let all = Set([books[1], books[2], other, third])
      #expect(author.many("books") == all)
      #expect(author.primitiveValue(forKey: "books") as? Set<ManagedObject> == all)
      #expect(set.count == 4)
    }
  }

  @Test func anAnnouncedChangeIsSaved() throws {
    try withAuthor { context, author, books in
      let other = context.make("Book", ["title": "new"])
      for isSet in [true, false] {
        author.willChangeValue(forKey: "books")
        if isSet {
          var members = try #require(author.primitiveValue(forKey: "books") as? Set<ManagedObject>)
          members.remove(books[0])
          author.setPrimitiveValue(members, forKey: "books")
        } else {
          (author.primitiveValue(forKey: "books") as? NSMutableSet)?.add(other)
        }
        author.didChangeValue(forKey: "books")
      }
      #expect(books[0].one("author") == nil && other.one("author") === author)
      try context.save()
      context.reset()
      let titles = try context.all("Book", "author != nil").compactMap { $0.text("title") }
      #expect(Set(titles) == ["1", "2", "new"])
    }
  }

  @Test func itKeepsNobodyAlive() throws {
    try Stack().use { context in
      weak var author: ManagedObject?
      weak var book: ManagedObject?
      try {
        let (owner, member) = (context.make("Author"), context.make("Book"))
        owner.mutableSetValue(forKey: "books").add(member)
        try context.save()
        (author, book) = (owner, member)
        _ = owner.primitiveValue(forKey: "books")
        _ = owner.many("books")
        context.refresh(owner, mergeChanges: false)
        context.processPendingChanges()
      }()
      #expect(author == nil && book == nil)
    }
  }
}
