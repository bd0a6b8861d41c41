// Cascades whose members nobody needs the values of (chapter 9).
import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation
import Testing

/// Chapter 9: deletion, of members that are deleted by key and version.
@Suite struct UnreadDeletionTests {
  private static let count = 20

  /// A store with a book of so many chapters, and another one of two.
  private func stack(history: Bool = false) throws -> Stack {
    let stack = try Stack(history: history, in: .sqlite)
    try stack.use { context in
      let book = context.make("Book", ["title": "long"])
      for number in 0..<Self.count {
        context.make("Chapter", ["title": "\(number)", "book": book])
      }
      let other = context.make("Book", ["title": "short"])
      for number in 0..<2 { context.make("Chapter", ["title": "s\(number)", "book": other]) }
      try context.save()
    }
    return stack
  }

  private func deleteBook(in context: ManagedObjectContext) throws -> ManagedObject {
    let book = try #require(try context.all("Book").first { $0.text("title") == "long" })
    context.delete(book)
    context.processPendingChanges()
    return book
  }

  private func titles(_ stack: Stack) throws -> Set<String> {
    try stack.use { Set(try $0.all("Chapter").compactMap { $0.text("title") }) }
  }

  private static let all = Set((0..<count).map(String.init) + ["s0", "s1"])

  @Test func everyMemberIsAnnouncedAndGoesWithTheSave() throws {
    let stack = try stack()
    try stack.use { context in
      let changes = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      let saves = NotificationRecorder(context, ManagedObjectContext.didSaveObjectsNotification)
      let ids = NotificationRecorder(context, ManagedObjectContext.didSaveObjectIDsNotification)
      let book = try deleteBook(in: context)
      let gone = changes.objects(.deletedObjects)
      #expect(gone == context.deletedObjects && gone.count == Self.count + 1)
      let chapters = gone.filter { $0 !== book }
      #expect(chapters.allSatisfy { $0.isFault && $0.isDeleted && $0.hasChanges })
      #expect(chapters.allSatisfy { $0.entity.name == "Chapter" && !$0.isUpdated })
      #expect(chapters.allSatisfy { context.registeredObject(for: $0.objectID) === $0 })
      try context.save()
      #expect(saves.objects(.deletedObjects) == gone)
      #expect(ids.ids(.deletedObjectIDs) == Set(gone.map(\.objectID)))
      #expect(gone.allSatisfy { $0.managedObjectContext == nil && !$0.isDeleted })
      #expect(context.registeredObjects.isDisjoint(with: gone) && !context.hasChanges)
    }
    #expect(try titles(stack) == ["s0", "s1"])
  }

  @Test func valuesCanBeReadUntilTheSaveAndAreNilAfterIt() throws {
    let stack = try stack()
    try stack.use { context in
      let book = try deleteBook(in: context)
      let chapters = context.deletedObjects.filter { $0 !== book }
      let read = try #require(chapters.first)
      let unread = try #require(chapters.first { $0 !== read })
      let title = read.text("title")
      #expect(title != nil && read.one("book") === book && !read.isFault)
      try context.save()
      #expect(read.text("title") == title)
      #expect(unread.text("title") == nil && unread.one("book") == nil)
    }
  }

  @Test func aMemberInUseKeepsItsValues() throws {
    let stack = try stack()
    try stack.use { context in
      let chapter = try #require(try context.all("Chapter").first { $0.text("title") == "3" })
      _ = try deleteBook(in: context)
      #expect(chapter.isDeleted && context.deletedObjects.count == Self.count + 1)
      try context.save()
      #expect(chapter.text("title") == "3" && chapter.managedObjectContext == nil)
    }
  }

  @Test func aMemberThatWasMovedStays() throws {
    let stack = try stack()
    try stack.use { context in
      let short = try #require(try context.all("Book").first { $0.text("title") == "short" })
      let chapter = try #require(try context.all("Chapter").first { $0.text("title") == "3" })
      chapter.setValue(short, forKey: "book")
      _ = try deleteBook(in: context)
      #expect(!chapter.isDeleted && context.deletedObjects.count == Self.count)
      try context.save()
    }
    #expect(try titles(stack) == ["3", "s0", "s1"])
  }

  @Test(arguments: [true, false])
  func rollbackBringsThemBack(afterAFailedSave: Bool) throws {
    let stack = try stack()
    try stack.use { context in
      let book = try deleteBook(in: context)
      if afterAFailedSave {
        context.make("Book", ["pages": 0])
        #expect(throws: (any Error).self) { try context.save() }
      }
      let chapters = context.deletedObjects.filter { $0 !== book }
      context.rollback()
      #expect(!context.hasChanges && chapters.allSatisfy { !$0.isDeleted && $0.isFault })
      #expect(Set(chapters.compactMap { $0.text("title") }).count == Self.count)
      #expect(book.many("chapters") == chapters)
      let one = try #require(chapters.first)
      one.setValue("changed", forKey: "title")
      try context.save()
    }
    #expect(try titles(stack).count == Self.count + 2)
  }

  @Test func insertingOneAgainTakesItsDeletionBack() throws {
    let stack = try stack()
    try stack.use { context in
      let book = try deleteBook(in: context)
      let chapter = try #require(context.deletedObjects.first { $0 !== book })
      context.insert(chapter)
      #expect(!chapter.isDeleted && chapter.one("book") == nil)
      try context.save()
      let gone = NotificationRecorder(context, ManagedObjectContext.didSaveObjectsNotification)
      context.delete(chapter)
      try context.save()
      #expect(gone.objects(.deletedObjects) == [chapter])
    }
    #expect(try titles(stack) == ["s0", "s1"])
  }

  @Test func oneThatIsGoneCanBeInsertedAsANewObject() throws {
    let stack = try stack()
    try stack.use { context in
      let book = try deleteBook(in: context)
      let chapter = try #require(context.deletedObjects.first { $0 !== book })
      try context.save()
      context.insert(chapter)
      chapter.setValue("again", forKey: "title")
      try context.save()
    }
    #expect(try titles(stack) == ["again", "s0", "s1"])
  }

  // MARK: Conflicts

  /// Deletes the book, while another context changes or deletes one of its chapters, and saves.
  private func deleteBook(
    _ stack: Stack, _ policy: MergePolicy, deletingOne: Bool = false
  ) throws {
    try stack.use(policy: policy) { context in
      _ = try deleteBook(in: context)
      try stack.useElsewhere { other in
        let chapter = try #require(try other.all("Chapter").first { $0.text("title") == "7" })
        if deletingOne { other.delete(chapter) } else { chapter.setValue("new", forKey: "title") }
        try other.save()
      }
      do {
        try context.save()
      } catch {
        #expect(context.deletedObjects.count == Self.count + 1)
        throw error
      }
      #expect(!context.hasChanges)
    }
  }

  @Test(arguments: [true, false])
  func aChangeSinceTheCascadeIsAConflict(deletingOne: Bool) throws {
    let stack = try stack()
    let error = #expect(throws: CoreDataError.self) {
      try deleteBook(stack, .error, deletingOne: deletingOne)
    }
    #expect(error?.code == .managedObjectMerge)
    #expect(try titles(stack).count == Self.count + (deletingOne ? 1 : 2))
  }

  @Test func thePolicyDecidesAboutAChangeSinceTheCascade() throws {
    let wins = try stack()
    try deleteBook(wins, .mergeByPropertyObjectTrump)
    #expect(try titles(wins) == ["s0", "s1"])
    let loses = try stack()
    try deleteBook(loses, .mergeByPropertyStoreTrump)
    #expect(try titles(loses) == ["new", "s0", "s1"])
    let gone = try stack()
    try deleteBook(gone, .mergeByPropertyStoreTrump, deletingOne: true)
    #expect(try titles(gone) == ["s0", "s1"])
  }

  // MARK: Elsewhere

  @Test func historyRecordsEachOfThem() throws {
    let stack = try stack(history: true)
    try stack.use { context in
      _ = try deleteBook(in: context)
      try context.save()
      let request = PersistentHistoryChangeRequest.fetchHistory(
        after: nil as PersistentHistoryToken?)
      let result = try context.execute(request) as? PersistentHistoryResult
      let transactions = result?.result as? [PersistentHistoryTransaction]
      let changes = transactions?.last?.changes ?? []
      #expect(changes.count == Self.count + 1)
      #expect(changes.allSatisfy { $0.changeType == .delete })
    }
  }

  @Test func aChildContextDeletesThroughItsParent() throws {
    let stack = try stack()
    try stack.use { parent in
      let child = ManagedObjectContext(.privateQueue)
      child.parent = parent
      try child.performAndWait {
        _ = try deleteBook(in: child)
        #expect(child.deletedObjects.count == Self.count + 1)
        try child.save()
      }
      #expect(parent.deletedObjects.count == Self.count + 1)
      try parent.save()
    }
    #expect(try titles(stack) == ["s0", "s1"])
  }

  @Test func withUndoTheirValuesComeBack() throws {
    let stack = try stack()
    try stack.use { context in
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      _ = try deleteBook(in: context)
      try context.save()
      context.undo()
      try context.save()
    }
    #expect(try titles(stack) == Self.all)
  }
}
