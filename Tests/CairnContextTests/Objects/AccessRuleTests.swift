// Property access, rule by rule (chapter 5).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 5: property access, what tests of single accessors leave out.
@Suite struct AccessRuleTests {
  @Test func aValueOfTheWrongClassTrapsWithCoreDatasWords() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Stack().use { $0.make("Author").setValue(5, forKey: "name") }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Unacceptable type of value for attribute: property = \"name\""))
    #expect(text.contains("desired type = ") && text.contains("given type = "))
    #expect(text.contains("value = 5"))
  }

  @Test func changedValuesAreCurrentOnesAndThoseOfTheEventOldOnes() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["title": "a", "pages": 1])
      try context.save()
      book.setValue("b", forKey: "title")
      book.setValue(author, forKey: "author")
      context.processPendingChanges()
      book.setValue("c", forKey: "title")
      book.setValue(9, forKey: "pages")
      #expect(book.changedValues().keys.sorted() == ["author", "pages", "title"])
      #expect(book.changedValues()["author"] as? ManagedObject === author)
      let event = book.changedValuesForCurrentEvent()
      #expect(event.keys.sorted() == ["pages", "title"])
      #expect(event["title"] as? String == "b" && event["pages"] as? Int == 1)
      #expect(author.changedValues().keys.sorted() == ["books"])
    }
  }

  @Test func committedValuesFireToManysOnlyWhenTheyAreNamed() throws {
    let stack = try Stack()
    let id = try stack.use { context in
      let author = context.make("Author", ["name": "a"])
      context.make("Book", ["author": author])
      try context.save()
      return author.objectID
    }
    try stack.use { context in
      let author = context.object(with: id)
      let all = author.committedValues(forKeys: nil)
      #expect(all.keys.sorted() == ["born", "name", "passport"])
      #expect(author.hasFault(forRelationshipNamed: "books"))
      let named = author.committedValues(forKeys: ["name", "books"])
      #expect(named.keys.sorted() == ["books", "name"])
      #expect((named["books"] as? Set<ManagedObject>)?.count == 1)
      #expect(author.committedValues(forKeys: nil).keys.contains("books"))
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func anEqualValueMarksTheObjectButWritesNothing(choice: StoreChoice) throws {
    try Stack(in: choice).use { context in
      let book = context.make("Book", ["title": "a", "price": Decimal(1)])
      try context.save()
      book.setValue("a", forKey: "title")
      book.setValue(NSDecimalNumber(string: "1.00"), forKey: "price")
      #expect(book.hasChanges && !book.hasPersistentChangedValues && book.changedValues().isEmpty)
      book.setValue("b", forKey: "title")
      book.setValue("a", forKey: "title")
      #expect(!book.hasPersistentChangedValues)
    }
  }

  @Test func aPrimitiveToManyIsAMutableSet() throws {
    try Stack().use { context in
      let (author, book) = (context.make("Author"), context.make("Book"))
      let books = try #require(author.primitiveValue(forKey: "books") as? NSMutableSet)
      books.add(book)
      #expect(author.many("books") == [book] && book.one("author") == nil)
      let whole = context.make("Book")
      #expect(whole.primitiveValue(forKey: "chapters") is NSMutableOrderedSet)
    }
  }

  @Test func primitiveAccessWithAnnouncementsIsTheAccessorsPattern() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": "a"])
      try context.save()
      context.refresh(author, mergeChanges: false)
      author.willAccessValue(forKey: "name")
      #expect(author.primitiveValue(forKey: "name") as? String == "a")
      author.didAccessValue(forKey: "name")
      author.willChangeValue(forKey: "name")
      author.setPrimitiveValue("b", forKey: "name")
      author.didChangeValue(forKey: "name")
      #expect(author.hasPersistentChangedValues && author.changedValues()["name"] as? String == "b")
      #expect(author.changedValuesForCurrentEvent()["name"] as? String == "a")
    }
  }

  @Test func aMutableValueChangedInPlaceIsNoChange() throws {
    try WorkshopStack().use { context in
      let colours = NSMutableArray(array: ["red"])
      let piece = context.make("Piece", ["colours": colours])
      try context.save()
      colours.add("green")
      #expect(!piece.hasChanges && !context.hasChanges)
    }
  }
}
