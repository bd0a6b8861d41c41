import Foundation
import Testing

@_spi(Generated) @testable import CairnContext

/// Listing the members of a relationship brings their rows along, and is otherwise as if each
/// member's fault had been fired (core-data-semantics.md, chapter 5).
@Suite struct MemberRowTests {
  /// An author with books, all saved by a context that has gone.
  private func stack(books: Int) throws -> Stack {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let author = context.make("Author", ["name": "Ann"])
      for number in 0..<books {
        context.make("Book", ["title": "\(number)", "author": author])
      }
      try context.save()
    }
    return stack
  }

  /// Gives all books another title, through a coordinator of its own.
  private func changeElsewhere(_ stack: Stack, title: String) throws {
    try stack.useElsewhere { context in
      for book in try context.all("Book") { book.setValue(title, forKey: "title") }
      try context.save()
    }
  }

  private func author(_ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try context.all("Author").first)
  }

  @Test func membersAreFaultsUntilTheyAreUsed() throws {
    try stack(books: 200).use { context in
      let books = try author(context).many("books")
      #expect(books.count == 200 && books.allSatisfy(\.isFault))
      #expect(Set(books.compactMap { $0.text("title") }) == Set((0..<200).map(String.init)))
      #expect(books.allSatisfy { !$0.isFault && !$0.hasChanges })
    }
  }

  @Test func aCachedRowStandsBeforeTheOneInTheFile() throws {
    let stack = try stack(books: 3)
    try stack.use { reader in
      let read = try reader.all("Book")
      #expect(read.count == 3)
      try changeElsewhere(stack, title: "new")
      try stack.use { context in
        let books = try author(context).many("books")
        #expect(Set(books.compactMap { $0.text("title") }) == ["0", "1", "2"])
      }
    }
  }

  @Test func aRowThatIsTooOldIsReadAgain() throws {
    let stack = try stack(books: 3)
    try stack.use { reader in
      let read = try reader.all("Book")
      #expect(read.count == 3)
      try changeElsewhere(stack, title: "new")
      try stack.use { context in
        context.stalenessInterval = 0
        let books = try author(context).many("books")
        #expect(books.compactMap { $0.text("title") } == ["new", "new", "new"])
      }
    }
  }

  @Test func unsavedChangesStandOnTopOfWhatIsStored() throws {
    try stack(books: 4).use { context in
      let books = try context.all("Book", sortedBy: "title")
      let author = try author(context)
      books[1].setValue(nil, forKey: "author")
      books[2].setValue("changed", forKey: "title")
      let added = context.make("Book", ["title": "added", "author": author])
      let members = author.many("books")
      #expect(members == [books[0], books[2], books[3], added])
      #expect(Set(members.compactMap { $0.text("title") }) == ["0", "changed", "3", "added"])
      let index = try #require(author.layout.toManyByName["books"])
      #expect(Set(author.members(ofToMany: index)) == members)
    }
  }

  @Test func aFewMembersAreTheSameAsAListAsASetAndAsASetOfFoundation() throws {
    try stack(books: 5).use { context in
      let author = try author(context)
      let index = try #require(author.layout.toManyByName["books"])
      let list = author.members(ofToMany: index)
      let set = author.memberSet(ofToMany: index)
      #expect(list.count == 5 && set.count == 5)
      #expect(set as? Set<ManagedObject> == Set(list))
      #expect(author.loadedToMany(index).members == Set(list))
      // The set is made now; the list goes on being the same.
      #expect(Set(author.members(ofToMany: index)) == Set(list))
      author.removeMembers(CollectionOfOne(list[0]), toMany: index)
      #expect(Set(author.members(ofToMany: index)) == Set(list.dropFirst()))
      #expect(author.memberSet(ofToMany: index).count == 4)
    }
  }
}
