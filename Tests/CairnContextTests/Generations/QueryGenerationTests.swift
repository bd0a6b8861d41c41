// Contexts pinned to one state of their stores.
import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapter 19 of the specification.
@Suite struct QueryGenerationTests {
  private struct Fixture {
    let stack: Stack
    let reader: ManagedObjectContext

    init(_ choice: StoreChoice) throws {
      stack = try Stack(in: choice)
      reader = stack.context()
      try stack.use { context in
        let author = context.make("Author", ["name": "Ann"])
        for title in ["a", "b", "c"] {
          context.make("Book", ["title": title, "pages": 1, "author": author])
        }
        try context.save()
      }
    }

    /// Another program deletes `a`, renames `b`, adds `d`.
    func changeElsewhere() throws {
      try stack.use { context in
        let books = try context.all("Book", sortedBy: "title")
        context.delete(books[0])
        books[1].setValue("B", forKey: "title")
        context.make("Book", ["title": "d", "author": books[1].one("author")])
        try context.save()
      }
    }

    func titles(_ context: ManagedObjectContext) throws -> [String] {
      try context.all("Book", sortedBy: "title").compactMap { $0.text("title") }
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func withoutAPinEachReadSeesTheNewestRows(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    try fixture.reader.performAndWait {
      #expect(fixture.reader.queryGenerationToken == nil)
      #expect(try fixture.titles(fixture.reader) == ["a", "b", "c"])
      fixture.reader.reset()
      try fixture.changeElsewhere()
      #expect(try fixture.titles(fixture.reader) == ["B", "c", "d"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func theFirstReadAfterPinningDecidesTheState(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(reader.queryGenerationToken == .current)
      try fixture.changeElsewhere()
      #expect(try fixture.titles(reader) == ["B", "c", "d"])
      #expect(reader.queryGenerationToken != nil && reader.queryGenerationToken != .current)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func fetchesCountsFaultsAndRelationshipsReadThePinnedState(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      let count = FetchRequest<ManagedObject>(entityName: "Book")
      #expect(try reader.count(for: count) == 3)
      let ids = FetchRequest<ManagedObjectID>(entityName: "Book")
      ids.resultType = .managedObjectIDResultType
      ids.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
      let found = try reader.fetch(ids)
      try fixture.changeElsewhere()
      #expect(try reader.count(for: count) == 3)
      #expect(try fixture.titles(reader) == ["a", "b", "c"])
      // Rows deleted elsewhere can still be read, also by faults.
      reader.refreshAllObjects()
      #expect(
        try found.map { try reader.existingObject(with: $0).text("title") } == ["a", "b", "c"])
      let author = try #require(try reader.all("Author").first)
      #expect(Set(author.many("books").compactMap { $0.text("title") }) == ["a", "b", "c"])
      let rows = FetchRequest<NSDictionary>(entityName: "Book")
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["title"]
      #expect(Set(try reader.fetch(rows).compactMap { $0["title"] as? String }) == ["a", "b", "c"])
      let byAuthor = try reader.all("Book", "author.books.@count == 3")
      #expect(byAuthor.count == 3)
    }
    // Others are not concerned.
    #expect(try fixture.stack.use { try fixture.titles($0) } == ["B", "c", "d"])
  }

  @Test(arguments: StoreChoice.allCases)
  func pinnedReadsDoNotReachOthersThroughTheRowCache(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      let book = try #require(try reader.all("Book", "title == 'b'").first)
      try fixture.changeElsewhere()
      reader.refresh(book, mergeChanges: false)
      #expect(book.text("title") == "b")
      #expect(
        try fixture.stack.use { try $0.existingObject(with: book.objectID).text("title") } == "B")
      reader.refresh(book, mergeChanges: false)
      #expect(book.text("title") == "b")
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func anotherContextsTokenGivesTheSameState(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    let token = try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(try fixture.titles(reader) == ["a", "b", "c"])
      return try #require(reader.queryGenerationToken)
    }
    try fixture.changeElsewhere()
    try fixture.stack.use { other in
      try other.setQueryGenerationFrom(token)
      #expect(other.queryGenerationToken == token)
      #expect(try fixture.titles(other) == ["a", "b", "c"])
      try other.setQueryGenerationFrom(nil)
      #expect(other.queryGenerationToken == nil)
      other.refreshAllObjects()
      #expect(try fixture.titles(other) == ["B", "c", "d"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func objectsAlreadyReadStayUntilTheyAreRefreshed(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      let book = try #require(try reader.all("Book", "title == 'b'").first)
      #expect(book.text("title") == "b")
      try fixture.changeElsewhere()
      try reader.setQueryGenerationFrom(.current)
      #expect(book.text("title") == "b")
      reader.refreshAllObjects()
      #expect(book.text("title") == "B")
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func theContextsOwnSaveMovesThePinAndTellsSo(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(try fixture.titles(reader) == ["a", "b", "c"])
      let before = reader.queryGenerationToken
      try fixture.changeElsewhere()
      let recorder = NotificationRecorder(reader, ManagedObjectContext.didSaveObjectsNotification)
      reader.make("Book", ["title": "e"])
      try reader.save()
      let told =
        recorder.notifications.last?.userInfo?["newQueryGeneration"] as? QueryGenerationToken
      #expect(told != nil && told == reader.queryGenerationToken && told != before)
      reader.refreshAllObjects()
      #expect(try fixture.titles(reader) == ["B", "c", "d", "e"])
    }
  }

  @Test func aSaveWithoutAPinTellsNoGeneration() throws {
    let fixture = try Fixture(.memory)
    try fixture.stack.use { context in
      let recorder = NotificationRecorder(context, ManagedObjectContext.didSaveObjectsNotification)
      context.make("Book")
      try context.save()
      #expect(recorder.notifications.last?.userInfo?["newQueryGeneration"] == nil)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aSaveComparesWithTheNewestRows(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      let book = try #require(try reader.all("Book", "title == 'b'").first)
      try fixture.changeElsewhere()
      book.setValue("mine", forKey: "title")
      let error = #expect(throws: (any Error).self) { try reader.save() }
      #expect(
        (error as? CoreDataError)?.code ?? .init(rawValue: (error as NSError?)?.code ?? 0)
          == .managedObjectMerge)
      reader.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
      try reader.save()
    }
    #expect(try fixture.stack.use { try fixture.titles($0) } == ["c", "d", "mine"])
  }

  @Test(arguments: StoreChoice.allCases)
  func mergingMovesThePin(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    var saved: Notification?
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      let book = try #require(try reader.all("Book", "title == 'b'").first)
      #expect(book.text("title") == "b")
      let other = fixture.stack.context()
      try other.performAndWait {
        try other.setQueryGenerationFrom(.current)
        let recorder = NotificationRecorder(other, ManagedObjectContext.didSaveObjectsNotification)
        try other.existingObject(with: book.objectID).setValue("B", forKey: "title")
        other.make("Book", ["title": "d"])
        try other.save()
        saved = recorder.notifications.last
      }
      let notification = try #require(saved)
      reader.mergeChanges(fromContextDidSave: notification)
      let told = notification.userInfo?["newQueryGeneration"] as? QueryGenerationToken
      #expect(reader.queryGenerationToken == told)
      #expect(book.text("title") == "B")
      #expect(try fixture.titles(reader) == ["B", "a", "c", "d"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func mergingTheSaveOfAContextWithoutAPinMovesItToo(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      let books = try reader.all("Book", sortedBy: "title")
      let ids = books.map(\.objectID)
      try fixture.changeElsewhere()
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["updated": [ids[1]], "deleted": [ids[0]]], into: [reader])
      #expect(books[1].text("title") == "B")
      #expect(try fixture.titles(reader) == ["B", "c", "d"])
    }
  }

  @Test func automaticMergingMovesThePin() async throws {
    let fixture = try Fixture(.sqlite)
    let reader = fixture.reader
    try reader.performAndWait {
      reader.automaticallyMergesChangesFromParent = true
      try reader.setQueryGenerationFrom(.current)
      #expect(try fixture.titles(reader) == ["a", "b", "c"])
    }
    try fixture.changeElsewhere()
    // Merging was enqueued before this block.
    #expect(try reader.performAndWait { try fixture.titles(reader) } == ["B", "c", "d"])
  }

  @Test(arguments: StoreChoice.allCases)
  func resetGoesToTheStateThatIsCurrentThen(choice: StoreChoice) throws {
    let fixture = try Fixture(choice)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(try fixture.titles(reader) == ["a", "b", "c"])
      reader.reset()
      #expect(reader.queryGenerationToken == .current)
      try fixture.changeElsewhere()
      #expect(try fixture.titles(reader) == ["B", "c", "d"])
    }
  }

  @Test func batchRequestsDoNotMoveThePin() throws {
    let fixture = try Fixture(.sqlite)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(try fixture.titles(reader) == ["a", "b", "c"])
      let update = BatchUpdateRequest(entityName: "Book")
      update.propertiesToUpdate = ["title": "x"]
      try reader.execute(update)
      reader.refreshAllObjects()
      #expect(try fixture.titles(reader) == ["a", "b", "c"])
    }
  }

  @Test func aChildReadsWhatItsParentReadsAndCannotBePinned() throws {
    let fixture = try Fixture(.sqlite)
    let reader = fixture.reader
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(try fixture.titles(reader) == ["a", "b", "c"])
    }
    try fixture.changeElsewhere()
    let child = ManagedObjectContext(.privateQueue)
    child.parent = reader
    try child.performAndWait {
      #expect(child.queryGenerationToken == nil)
      let titles = try fixture.titles(child)
      #expect(titles == ["a", "b", "c"])
      #expect(throws: (any Error).self) { try child.setQueryGenerationFrom(.current) }
    }
  }

  @Test func aTokenOfOtherStoresIsRefused() throws {
    let (first, second) = (try Fixture(.memory), try Fixture(.memory))
    let token = try first.reader.performAndWait {
      try first.reader.setQueryGenerationFrom(.current)
      _ = try first.titles(first.reader)
      return try #require(first.reader.queryGenerationToken)
    }
    second.reader.performAndWait {
      #expect(throws: (any Error).self) { try second.reader.setQueryGenerationFrom(token) }
      #expect(second.reader.queryGenerationToken == nil)
    }
  }

  @Test func anArchivedTokenIsWorthSomethingWhileTheStateIsThere() throws {
    let fixture = try Fixture(.sqlite)
    let reader = fixture.reader
    let archive = try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      _ = try fixture.titles(reader)
      return try NSKeyedArchiver.archivedData(
        withRootObject: #require(reader.queryGenerationToken), requiringSecureCoding: true)
    }
    func token() throws -> QueryGenerationToken {
      try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: QueryGenerationToken.self, from: archive))
    }
    try fixture.changeElsewhere()
    try fixture.stack.use { other in
      try other.setQueryGenerationFrom(token())
      #expect(try fixture.titles(other) == ["a", "b", "c"])
    }
    try reader.performAndWait { try reader.setQueryGenerationFrom(nil) }
    try fixture.stack.use { other in
      let error = #expect(throws: (any Error).self) { try other.setQueryGenerationFrom(token()) }
      #expect(String(describing: error).contains("no longer there"))
    }
  }
}
