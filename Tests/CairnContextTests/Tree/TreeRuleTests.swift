// Contexts below contexts: reading, saving, identity (chapter 14).
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// Chapter 14: parent and child contexts.
@Suite struct TreeRuleTests {
  private func child(of parent: ManagedObjectContext) -> ManagedObjectContext {
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    return child
  }

  // MARK: Fetch

  @Test(arguments: StoreChoice.allCases)
  func aFetchSeesTheParentsChangesAndThenItsOwn(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    let root = stack.context()
    let (middle, leaf) = { ($0, child(of: $0)) }(child(of: root))
    func titles(_ context: ManagedObjectContext, _ format: String? = nil) throws -> [String] {
      try context.performAndWait {
        try context.all("Book", format, sortedBy: "title").compactMap { $0.text("title") }
      }
    }
    try root.performAndWait {
      for title in ["a", "b", "c", "d"] { root.make("Book", ["title": title, "pages": 1]) }
      try root.save()
      let books = try root.all("Book", sortedBy: "title")
      books[0].setValue("A", forKey: "title")
      root.delete(books[1])
      root.make("Book", ["title": "e"])
    }
    #expect(try titles(middle) == ["A", "c", "d", "e"])
    try middle.performAndWait {
      let books = try middle.all("Book", sortedBy: "title")
      books[1].setValue(50, forKey: "pages")
      middle.delete(books[2])
    }
    #expect(try titles(leaf) == ["A", "c", "e"])
    #expect(try titles(leaf, "pages > 10") == ["c"])
    try leaf.performAndWait {
      leaf.make("Book", ["title": "f"])
      try leaf.all("Book", "title == 'c'").first?.setValue("z", forKey: "title")
    }
    #expect(try titles(leaf) == ["A", "e", "f", "z"])
    #expect(try titles(leaf, "title == 'c'").isEmpty)
    #expect(try titles(root) == ["A", "c", "d", "e"])
    let counts = try leaf.performAndWait {
      try leaf.count(for: FetchRequest<ManagedObject>(entityName: "Book"))
    }
    #expect(counts == 4)
  }

  @Test func relationshipsAreThoseOfTheParentsObjects() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    let ids = try root.performAndWait {
      let author = root.make("Author")
      let book = root.make("Book", ["author": author])
      let tag = root.make("Tag", ["label": "x"])
      try root.save()
      book.mutableSetValue(forKey: "tags").add(tag)
      for title in ["2", "1"] {
        book.mutableOrderedSetValue(forKey: "chapters").insert(
          root.make("Chapter", ["title": title]), at: 0)
      }
      return (author.objectID, book.objectID)
    }
    leaf.performAndWait {
      let (author, book) = (leaf.object(with: ids.0), leaf.object(with: ids.1))
      #expect(author.many("books") == [book] && book.one("author") === author)
      #expect(book.many("tags").first?.many("works") == [book])
      let chapters = book.mutableOrderedSetValue(forKey: "chapters").members
      #expect(chapters.map { $0.text("title") } == ["1", "2"] && !leaf.hasChanges)
    }
  }

  // MARK: Save

  @Test func aSaveIsOneEventOfTheParent() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    let (kept, gone) = try root.performAndWait {
      let objects = (root.make("Author"), root.make("Author"))
      try root.save()
      return (Kept(object: objects.0), Kept(object: objects.1))
    }
    let recorder = root.performAndWait {
      NotificationRecorder(root, ManagedObjectContext.didChangeObjectsNotification)
    }
    let saves = leaf.performAndWait {
      NotificationRecorder(
        leaf, ManagedObjectContext.willSaveObjectsNotification,
        ManagedObjectContext.didSaveObjectsNotification)
    }
    try leaf.performAndWait {
      leaf.object(with: kept.object.objectID).setValue("x", forKey: "name")
      leaf.delete(leaf.object(with: gone.object.objectID))
      leaf.make("Tag", ["label": "new"])
      try leaf.save()
      #expect(saves.notifications.count == 2 && saves.objects(.insertedObjects).count == 1)
      #expect(saves.objects(.updatedObjects).count == 1)
      #expect(saves.objects(.deletedObjects).count == 1)
    }
    root.performAndWait {
      #expect(recorder.notifications.count == 1)
      #expect(recorder.objects(.updatedObjects) == [kept.object])
      #expect(recorder.objects(.deletedObjects) == [gone.object])
      #expect(recorder.objects(.insertedObjects).map { $0.text("label") } == ["new"])
      #expect(root.hasChanges)
    }
  }

  @Test func everyKindOfChangeReachesTheParentAndTheStore() throws {
    let stack = try Stack(in: .sqlite)
    let root = stack.context()
    let leaf = child(of: child(of: root))
    let middle = try #require(leaf.parent)
    try root.performAndWait {
      let book = root.make("Book", ["title": "t", "author": root.make("Author", ["name": "a"])])
      for label in ["x", "y"] {
        book.mutableSetValue(forKey: "tags").add(root.make("Tag", ["label": label]))
      }
      for title in ["1", "2", "3"] {
        book.mutableOrderedSetValue(forKey: "chapters").add(
          root.make("Chapter", ["title": title]))
      }
      try root.save()
    }
    try leaf.performAndWait {
      let book = try #require(try leaf.all("Book").first)
      book.setValue("T", forKey: "title")
      book.setValue(leaf.make("Author", ["name": "b"]), forKey: "author")
      leaf.delete(try #require(try leaf.all("Tag", "label == 'x'").first))
      book.mutableSetValue(forKey: "tags").add(leaf.make("Tag", ["label": "z"]))
      let chapters = book.mutableOrderedSetValue(forKey: "chapters")
      chapters.moveObjects(at: [2], to: 0)
      chapters.removeObject(at: 1)
      chapters.insert(leaf.make("Chapter", ["title": "n"]), at: 1)
      try leaf.save()
    }
    for context in [middle, root] { try context.performAndWait { try context.save() } }
    try stack.use { reader in
      let book = try #require(try reader.all("Book").first)
      #expect(book.text("title") == "T" && book.one("author")?.text("name") == "b")
      #expect(Set(book.many("tags").map { $0.text("label") }) == ["y", "z"])
      let chapters = book.mutableOrderedSetValue(forKey: "chapters").members
      #expect(chapters.map { $0.text("title") } == ["3", "n", "2"])
      let loose = try reader.all("Chapter", "book == nil").map { $0.text("title") }
      #expect(loose == ["1"])
    }
  }

  @Test func aPermanentIDObtainedByTheChildIsTheParentsToo() throws {
    let stack = try Stack()
    let root = stack.context()
    let leaf = child(of: root)
    let id = try leaf.performAndWait {
      let author = leaf.make("Author")
      try leaf.obtainPermanentIDs(for: [author])
      let id = author.objectID
      try leaf.save()
      #expect(!id.isTemporaryID && author.objectID == id)
      return id
    }
    try root.performAndWait {
      #expect(root.insertedObjects.map(\.objectID) == [id])
      try root.save()
    }
    let found = try stack.use { try $0.existingObject(with: id).text("name") }
    #expect(found == "Anonymous")
  }

  @Test func refreshingBringsThePermanentID() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      let author = leaf.make("Author")
      try leaf.save()
      try root.performAndWait { try root.save() }
      #expect(author.objectID.isTemporaryID)
      leaf.refresh(author, mergeChanges: true)
      #expect(!author.objectID.isTemporaryID && leaf.registeredObjects == [author])
    }
  }

  @Test func theParentValidatesAgainWhenItSaves() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      leaf.make("Book", ["pages": 5])
      try leaf.save()
    }
    try root.performAndWait {
      let book = try #require(try root.all("Book").first)
      book.setValue(0, forKey: "pages")
      #expect(throws: CoreDataError.self) { try root.save() }
      book.setValue(1, forKey: "pages")
      try root.save()
    }
  }

  @Test func errorsOfTheStoreAppearAtTheRootAndLeaveItsChanges() throws {
    let stack = try Stack(in: .sqlite)
    let root = stack.context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      leaf.make("Tag", ["label": "x"])
      leaf.make("Tag", ["label": "x"])
      try leaf.save()
      #expect(!leaf.hasChanges)
    }
    try root.performAndWait {
      let error = #expect(throws: CoreDataError.self) { try root.save() }
      #expect(error?.code == .managedObjectConstraintMerge && root.insertedObjects.count == 2)
      root.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
      try root.save()
    }
    let tags = try leaf.performAndWait { try leaf.all("Tag").count }
    #expect(tags == 1)
  }

  // MARK: Transient values

  @Test func transientValuesGoUpWithTheSaveAndAreLostInAFault() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    try leaf.performAndWait {
      let author = leaf.make("Author", ["mood": "happy"])
      try leaf.save()
      #expect(author.text("mood") == "happy")
      let above = try root.performAndWait { try root.all("Author").first?.text("mood") }
      #expect(above == "happy")
      leaf.refresh(author, mergeChanges: false)
      #expect(author.isFault && author.text("mood") == nil)
    }
    try root.performAndWait {
      let author = try #require(try root.all("Author").first)
      try root.save()
      #expect(author.text("mood") == "happy")
      root.refresh(author, mergeChanges: false)
      #expect(author.text("mood") == nil)
    }
  }

  @Test func aTransientChangeAloneReachesTheParentToo() throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    let kept = try root.performAndWait {
      let author = root.make("Author")
      try root.save()
      return Kept(object: author)
    }
    try leaf.performAndWait {
      leaf.object(with: kept.object.objectID).setValue("sad", forKey: "mood")
      try leaf.save()
    }
    #expect(root.performAndWait { kept.object.text("mood") } == "sad")
  }

  // MARK: Refreshing

  @Test(arguments: [true, false])
  func refreshingReadsWhatTheParentHasNow(mergeChanges: Bool) throws {
    let root = try Stack().context()
    let leaf = child(of: root)
    let kept = try root.performAndWait {
      let book = root.make("Book", ["title": "old", "pages": 1])
      try root.save()
      return Kept(object: book)
    }
    try leaf.performAndWait {
      let book = try leaf.existingObject(with: kept.object.objectID)
      book.setValue(5, forKey: "pages")
      root.performAndWait { kept.object.setValue("unsaved", forKey: "title") }
      leaf.refresh(book, mergeChanges: mergeChanges)
      #expect(book.text("title") == "unsaved")
      #expect(book.number("pages") == (mergeChanges ? 5 : 1))
      #expect(leaf.hasChanges == mergeChanges)
    }
  }

  // MARK: Requests

  @Test func historyRequestsGoToTheRoot() throws {
    let stack = try Stack(history: true)
    let leaf = child(of: child(of: stack.context()))
    try stack.use { context in
      context.make("Book")
      try context.save()
    }
    try leaf.performAndWait {
      let result = try leaf.execute(
        PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
      let transactions =
        (result as? PersistentHistoryResult)?.result as? [PersistentHistoryTransaction]
      #expect(transactions?.count == 1 && leaf.queryGenerationToken == nil)
    }
  }
}
