// Relationships, rule by rule (chapter 8).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 8: inverse maintenance, checks, access and order.
@Suite struct RelationshipRuleTests {
  // MARK: 8.1

  @Test func settingAToOneTakesTheObjectFromItsFormerOwner() throws {
    try Stack().use { context in
      let (a, b, book) = (context.make("Author"), context.make("Author"), context.make("Book"))
      book.setValue(a, forKey: "author")
      try context.save()
      book.setValue(b, forKey: "author")
      #expect(a.many("books").isEmpty && b.many("books") == [book])
      #expect(context.updatedObjects == [a, b, book])
      book.setValue(nil, forKey: "author")
      #expect(b.many("books").isEmpty && book.one("author") == nil)
    }
  }

  @Test func addingToAManyToManyAddsToTheOtherSideAndLeavesOthersAlone() throws {
    try Stack().use { context in
      let (a, b) = (context.make("Book"), context.make("Book"))
      let tag = context.make("Tag", ["label": "x"])
      a.mutableSetValue(forKey: "tags").add(tag)
      b.mutableSetValue(forKey: "tags").add(tag)
      #expect(tag.many("works") == [a, b] && a.many("tags") == [tag])
      a.mutableSetValue(forKey: "tags").remove(tag)
      #expect(tag.many("works") == [b])
    }
  }

  @Test func eitherOrBothAssignmentsOfATreeDo() throws {
    try WorkshopStack().use { context in
      let whole = context.make("Piece")
      let (a, b, c) = (context.make("Piece"), context.make("Piece"), context.make("Piece"))
      a.setValue(whole, forKey: "whole")
      whole.mutableOrderedSetValue(forKey: "parts").add(b)
      c.setValue(whole, forKey: "whole")
      whole.mutableOrderedSetValue(forKey: "parts").add(c)
      let parts = whole.value(forKey: "parts") as? NSOrderedSet
      #expect(parts?.array as? [ManagedObject] == [a, b, c] && b.one("whole") === whole)
    }
  }

  @Test func allThatATouchMovesCountsAsUpdated() throws {
    try Stack().use { context in
      let authors = (0..<2).map { _ in context.make("Author") }
      let books = authors.map { context.make("Book", ["author": $0]) }
      try context.save()
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      authors[0].setValue(Set(books), forKey: "books")
      context.processPendingChanges()
      #expect(recorder.objects(.updatedObjects) == Set(authors + [books[1]]))
    }
  }

  @Test func anOrderedInverseGainsAtItsEndAndOrderedOperationsKeepTheIndex() throws {
    try WorkshopStack().use { context in
      let (teacher, other) = (context.make("Worker"), context.make("Worker"))
      let students = (0..<3).map { _ in context.make("Worker") }
      for student in students.dropLast() {
        student.mutableOrderedSetValue(forKey: "teachers").add(teacher)
      }
      students[0].mutableOrderedSetValue(forKey: "teachers").insert(other, at: 0)
      teacher.mutableOrderedSetValue(forKey: "students").insert(students[2], at: 1)
      #expect(
        teacher.mutableOrderedSetValue(forKey: "students").members
          == [students[0], students[2], students[1]])
      #expect(
        students[0].mutableOrderedSetValue(forKey: "teachers").members == [other, teacher])
      #expect(students[2].mutableOrderedSetValue(forKey: "teachers").members == [teacher])
    }
  }

  @Test func withoutAnInverseNothingElseChanges() throws {
    let (a, b) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
    let (one, many) = (Workshop.toOne("one"), Workshop.toMany("many"))
    (one.destinationEntity, many.destinationEntity) = (b, b)
    a.properties = [one, many]
    b.properties = [AttributeDescription(name: "name", type: .string)]
    let model = ManagedObjectModel()
    model.entities = [a, b]
    let stack = try WorkshopStack(model: model)
    try stack.use { context in
      let owners = (0..<2).map { _ in context.make("A") }
      let targets = (0..<2).map { _ in context.make("B", ["name": "t"]) }
      try context.save()
      for (owner, target) in zip(owners, targets) {
        owner.setValue(targets[0], forKey: "one")
        owner.mutableSetValue(forKey: "many").add(target)
      }
      #expect(context.updatedObjects == Set(owners))
      try context.save()
    }
    try stack.use { context in
      for owner in try context.all("A") {
        #expect(owner.one("one")?.text("name") == "t" && owner.many("many").count == 1)
      }
    }
  }

  @Test func primitiveSettersMaintainNothing() throws {
    try Stack().use { context in
      let (author, book) = (context.make("Author"), context.make("Book"))
      author.setPrimitiveValue(Set([book]), forKey: "books")
      #expect(author.many("books") == [book] && book.one("author") == nil)
    }
  }

  // MARK: 8.2

  @Test(arguments: [
    ("wrong to-one", "to-one", "Author"), ("wrong to-many", "to-many", "NSManagedObject"),
    ("null", "to-many", "NSSet"), ("text", "to-many", "NSSet"), ("array", "to-many", "NSSet"),
    ("unordered", "ordered to-many", "NSOrderedSet"),
  ])
  func whatDoesNotFitTrapsWithCoreDatasWords(
    what: String, kind: String, desired: String
  ) async throws {
    let result = await Self.trap(what)
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains("Unacceptable type of value for \(kind) relationship: property = \""),
      "\(text)")
    #expect(text.contains("desired type = \(desired); given type = "), "\(text)")
  }

  private static func trap(_ what: String) async -> ExitTest.Result? {
    switch what {
    case "wrong to-one":
      return await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try Stack().use { $0.make("Book").setValue($0.make("Book"), forKey: "author") }
      }
    case "wrong to-many":
      return await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try Stack().use { context in
          let wrong: Set<ManagedObject> = [context.make("Tag")]
          context.make("Author").setValue(wrong, forKey: "books")
        }
      }
    case "null":
      return await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try Stack().use { $0.make("Author").setValue(NSNull(), forKey: "books") }
      }
    case "array":
      return await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try Stack().use { $0.make("Author").setValue([$0.make("Book")], forKey: "books") }
      }
    case "unordered":
      return await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try Stack().use { $0.make("Book").setValue(Set([$0.make("Chapter")]), forKey: "chapters") }
      }
    default:
      return await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try Stack().use { $0.make("Author").setValue("books", forKey: "books") }
      }
    }
  }

  @Test func objectsOfSubentitiesFit() throws {
    try Stack().use { context in
      let author = context.make("Author")
      author.setValue(Set([context.make("Book"), context.make("Essay")]), forKey: "books")
      #expect(
        author.many("books").map(\.entity.name).compactMap { $0 }.sorted() == ["Book", "Essay"])
    }
  }

  @Test func everyKindOfSetFitsAndAMutableOneOfAnotherObjectToo() throws {
    try Stack().use { context in
      let (a, b) = (context.make("Author"), context.make("Author"))
      let books = Set((0..<3).map { _ in context.make("Book") })
      a.setValue(NSSet(array: Array(books)), forKey: "books")
      #expect(a.many("books") == books)
      b.setValue(a.mutableSetValue(forKey: "books"), forKey: "books")
      #expect(b.many("books") == books && a.many("books").isEmpty)
      a.setValue(Set<AnyHashable>(books), forKey: "books")
      #expect(a.many("books") == books)
    }
  }

  @Test func nilEmptiesAToMany() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      author.setValue(nil, forKey: "books")
      #expect(author.many("books").isEmpty && book.one("author") == nil)
      book.mutableOrderedSetValue(forKey: "chapters").add(context.make("Chapter"))
      book.setValue(nil, forKey: "chapters")
      #expect(book.many("chapters").isEmpty)
    }
  }

  // MARK: 8.3

  @Test func theGetterGivesAnUnchangingSet() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let first = context.make("Book", ["author": author])
      let books = author.value(forKey: "books") as? Set<ManagedObject>
      context.make("Book", ["author": author])
      #expect(books == [first] && author.many("books").count == 2)
    }
  }

  @Test func mutationKindsHaveFoundationsNumbers() {
    #expect(KeyValueSetMutationKind.union.rawValue == 1)
    #expect(KeyValueSetMutationKind.minus.rawValue == 2)
    #expect(KeyValueSetMutationKind.intersect.rawValue == 3)
    #expect(KeyValueSetMutationKind.set.rawValue == 4)
  }

  @Test func faultsOfRelationshipsAreKnownByName() throws {
    let stack = try Stack()
    try stack.use { context in
      context.make("Book", ["author": context.make("Author")])
      try context.save()
    }
    try stack.use { context in
      let author = try #require(try context.all("Author").first)
      #expect(author.hasFault(forRelationshipNamed: "books") && author.isFault)
      let book = try #require(author.many("books").first)
      #expect(!author.hasFault(forRelationshipNamed: "books"))
      #expect(book.hasFault(forRelationshipNamed: "tags"))
    }
  }

  @Test func objectIDsTrapForToOnesAndUnknownNames() async {
    await #expect(processExitsWith: .failure) {
      try Stack().use { _ = $0.make("Book").objectIDs(forRelationshipNamed: "author") }
    }
    await #expect(processExitsWith: .failure) {
      try Stack().use { _ = $0.make("Book").objectIDs(forRelationshipNamed: "nothing") }
    }
  }

  // MARK: 8.4

  @Test(arguments: StoreChoice.allCases)
  func aNewOrderAloneIsAChangeOfTheOwnerAndOfNobodyElse(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      let book = context.make("Book")
      let chapters = (0..<3).map { context.make("Chapter", ["title": "\($0)"]) }
      book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
      try context.save()
      book.mutableOrderedSetValue(forKey: "chapters").exchangeObject(at: 0, withObjectAt: 2)
      #expect(context.updatedObjects == [book] && book.hasPersistentChangedValues)
      let changed = book.changedValues()["chapters"] as? NSOrderedSet
      #expect(changed?.array as? [ManagedObject] == chapters.reversed())
      try context.save()
    }
    try stack.use { context in
      let titles = try context.all("Book").first?.mutableOrderedSetValue(forKey: "chapters").members
        .map { $0.text("title") }
      #expect(titles == ["2", "1", "0"])
    }
  }

  @Test func predicatesGoThroughOrderedRelationships() throws {
    try Stack(in: .sqlite).use { context in
      let book = context.make("Book", ["title": "b"])
      context.make("Book")
      book.mutableOrderedSetValue(forKey: "chapters").add(context.make("Chapter", ["title": "x"]))
      try context.save()
      let found = try context.all("Book", "ANY chapters.title == 'x' AND chapters.@count == 1")
      #expect(found == [book])
    }
  }

  // MARK: Costs

  @Test(arguments: ["first", "last", "anywhere", "index"])
  func takingMembersOutOneByOneCostsLittleEach(way: String) throws {
    try Stack().use { context in
      let count = 10_000
      let book = context.make("Book")
      let chapters = (0..<count).map { _ in context.make("Chapter") }
      book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
      try context.save()
      var random = SeededGenerator(seed: 5)
      let start = Date()
      let list = book.mutableOrderedSetValue(forKey: "chapters")
      switch way {
      case "first": for chapter in chapters.dropLast() { list.remove(chapter) }
      case "last": for chapter in chapters.dropFirst().reversed() { list.remove(chapter) }
      case "anywhere":
        for chapter in chapters.shuffled(using: &random).dropLast() { list.remove(chapter) }
      default:
        for left in (2...count).reversed() {
          list.removeObject(at: Int.random(in: 0..<left, using: &random))
        }
      }
      let seconds = Date().timeIntervalSince(start)
      #expect(list.count == 1 && book.many("chapters").count == 1)
      #expect(list.members.first?.one("book") === book)
      #expect(seconds < 20, "\(seconds) s: searching the list each time takes minutes")
    }
  }

  @Test func positionsStayRightWhileMembersComeAndGo() throws {
    try Stack().use { context in
      let book = context.make("Book")
      let list = book.mutableOrderedSetValue(forKey: "chapters")
      var plain: [ManagedObject] = []
      var random = SeededGenerator(seed: 11)
      for step in 0..<3000 {
        switch Int.random(in: 0..<(step < 1000 ? 4 : 10), using: &random) {
        case 0..<3:
          let chapter = context.make("Chapter")
          list.add(chapter)
          plain.append(chapter)
        case 3 where step % 50 == 0:
          let chapter = context.make("Chapter")
          let place = Int.random(in: 0...plain.count, using: &random)
          list.insert(chapter, at: place)
          plain.insert(chapter, at: place)
        case _ where !plain.isEmpty:
          let place = plain.indices.randomElement(using: &random) ?? 0
          #expect(list.index(of: plain[place]) == place)
          list.remove(plain.remove(at: place))
        default: break
        }
      }
      #expect(list.members == plain && list.array as? [ManagedObject] == plain)
    }
  }
}
