// What an object says about its changes.
@_spi(Generated) import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@Suite struct ChangeTrackingTests {
  @Test func changedValuesAreTheCurrentOnesSinceTheSave() throws {
    try Stack().use { context in
      let book = context.make("Book", ["title": "a"])
      try context.save()
      book.setValue("b", forKey: "title")
      book.setValue(1, forKey: "pages")
      #expect(book.changedValues().keys.sorted() == ["title"])
      #expect(book.changedValues()["title"] as? String == "b")
      try context.save()
      #expect(book.changedValues().isEmpty)
    }
  }

  @Test func valuesForTheCurrentEventAreTheOldOnes() throws {
    try Stack().use { context in
      let book = context.make("Book", ["title": "a"])
      try context.save()
      book.setValue("b", forKey: "title")
      context.processPendingChanges()
      #expect(book.changedValuesForCurrentEvent().isEmpty)
      book.setValue("c", forKey: "title")
      book.setValue("d", forKey: "title")
      #expect(book.changedValuesForCurrentEvent()["title"] as? String == "b")
    }
  }

  @Test func membersOfTheCurrentEventAreTheOldOnes() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let (a, b) = (context.make("Book", ["author": author]), context.make("Book"))
      try context.save()
      b.setValue(author, forKey: "author")
      a.setValue(nil, forKey: "author")
      #expect(author.changedValuesForCurrentEvent()["books"] as? Set<ManagedObject> == [a])
    }
  }

  @Test func aNewObjectHasNoCommittedValues() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": "a"])
      #expect(author.committedValues(forKeys: nil).isEmpty)
      #expect(author.committedValues(forKeys: ["name", "books"]).isEmpty)
      try context.save()
      #expect(author.committedValues(forKeys: ["name"])["name"] as? String == "a")
    }
  }

  @Test func committedValuesAreThoseOfTheLastSave() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": "a"])
      let book = context.make("Book", ["title": "a", "author": author])
      try context.save()
      book.setValue("b", forKey: "title")
      book.setValue(nil, forKey: "author")
      let committed = book.committedValues(forKeys: nil)
      #expect(
        committed["title"] as? String == "a" && committed["author"] as? ManagedObject === author)
      #expect(author.committedValues(forKeys: ["books"])["books"] as? Set<ManagedObject> == [book])
    }
  }

  @Test func numbersComeAsNumbersAndConvert() throws {
    try Stack().use { context in
      let book = context.make("Book", ["pages": 7, "isRead": true])
      #expect(book.value(forKey: "pages") as? Int == 7)
      #expect(book.value(forKey: "isRead") as? Bool == true)
    }
  }

  @Test func keyPathsReachThroughRelationships() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": "Ada"])
      let book = context.make("Book", ["title": "t", "author": author])
      #expect(book.value(forKeyPath: "author.name") as? String == "Ada")
      #expect(author.value(forKeyPath: "books.title") as? Set<AnyHashable> == ["t"])
      book.setValue("Eve", forKeyPath: "author.name")
      #expect(author.text("name") == "Eve")
    }
  }

  @Test func slotsAndKeysAreTheSameValues() throws {
    try Stack().use { context in
      let book = context.make("Book")
      let slot = try #require(book.entity.layout.slotByName["title"])
      book.setStoredValue(.string("t"), at: slot)
      #expect(book.text("title") == "t" && book.storedValue(at: slot) == .string("t"))
    }
  }

  @Test func theDescriptionOfAFaultFiresNothing() throws {
    let stack = try Stack()
    try stack.use { context in
      context.make("Book", ["title": "t"])
      try context.save()
    }
    try stack.use { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.description.contains("data: <fault>") && book.isFault)
      _ = book.text("title")
      #expect(book.description.contains("title = \"t\";"))
    }
  }
}
