// What a save does in which order, and what it leaves when it fails (chapter 11).
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnContext

/// Chapter 11: saving.
@Suite struct SaveRuleTests {
  private func version(_ object: ManagedObject) -> Int64? { object.snapshot?.version }

  // MARK: Steps 1 to 4

  @Test func withoutChangesASaveDoesNothingEvenWithoutACoordinator() throws {
    let context = ManagedObjectContext(.privateQueue)
    try context.performAndWait {
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test func theEventEndsBeforeWillSaveIsPosted() throws {
    try Stack().use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification,
        ManagedObjectContext.willSaveObjectsNotification)
      context.make("Author")
      try context.save()
      #expect(
        recorder.notifications.map(\.name) == [
          ManagedObjectContext.didChangeObjectsNotification,
          ManagedObjectContext.willSaveObjectsNotification,
        ])
    }
  }

  @Test func changesOfAWillSaveObserverAreSavedToo() throws {
    let stack = try Stack()
    try stack.use { context in
      let kept = Kept(object: context.make("Author"))
      let token = NotificationCenter.default.addObserver(
        forName: ManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
      ) { _ in kept.object.setValue("by an observer", forKey: "name") }
      try context.save()
      NotificationCenter.default.removeObserver(token)
      #expect(!context.hasChanges)
    }
    let names = try stack.use { try $0.all("Author").map { $0.text("name") } }
    #expect(names == ["by an observer"])
  }

  @Test func insertedUpdatedAndDeletedObjectsAreAskedAndTold() throws {
    try Stack().use { context in
      let updated = try #require(context.make("Author") as? Author)
      let deleted = try #require(context.make("Author") as? Author)
      let clean = try #require(context.make("Author") as? Author)
      try context.save()
      let inserted = try #require(context.make("Author") as? Author)
      updated.name = "x"
      context.delete(deleted)
      context.processPendingChanges()
      for author in [updated, deleted, clean, inserted] { author.calls = [] }
      try context.save()
      for author in [updated, deleted, inserted] {
        #expect(author.calls == ["willSave", "didSave"])
      }
      #expect(clean.calls.isEmpty)
    }
  }

  @Test func anObjectThatBecomesDirtyInWillSaveIsAskedAndSavedToo() throws {
    let stack = try Stack()
    try stack.use { context in
      let first = try #require(context.make("Author", ["name": "first"]) as? Author)
      let second = try #require(context.make("Author", ["name": "second"]) as? Author)
      try context.save()
      second.calls = []
      first.onWillSave = { _ in
        if second.name == "second" {
          second.name = "changed"
          _ = context.make("Tag", ["label": "new"])
        }
      }
      first.name = "x"
      try context.save()
      #expect(second.calls == ["willSave", "didSave"] && !context.hasChanges)
    }
    try stack.use { context in
      let names = try context.all("Author", sortedBy: "name").map { $0.text("name") }
      let tags = try context.all("Tag").count
      #expect(names == ["changed", "x"] && tags == 1)
    }
  }

  @Test func anEndlessLoopOfWillSaveIsGivenUpAfterAThousandRounds() throws {
    try Stack().use { context in
      let author = try #require(context.make("Author") as? Author)
      var count = 0
      author.onWillSave = {
        count += 1
        $0.name = "\(count)"
      }
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(count == 1000 && error?.code == .persistentStoreSave && context.hasChanges)
    }
  }

  @Test func deletesCanBePropagatedBySavingAndAreAskedToo() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let friend = try #require(context.make("Author") as? Author)
      author.mutableSetValue(forKey: "friends").add(friend)
      let book = context.make("Book", ["author": author])
      try context.save()
      context.propagatesDeletesAtEndOfEvent = false
      friend.calls = []
      context.delete(author)
      context.processPendingChanges()
      #expect(!book.isDeleted && friend.many("friends") == [author])
      try context.save()
      #expect(book.managedObjectContext == nil && friend.many("friends").isEmpty)
      #expect(friend.calls == ["willSave", "didSave"])
    }
  }

  // MARK: Step 5

  @Test func aRefusedSaveLeavesTheContextAsItWas() throws {
    let stack = try Stack()
    try stack.use { context in
      let (kept, gone) = (context.make("Author"), context.make("Author"))
      try context.save()
      kept.setValue("x", forKey: "name")
      context.delete(gone)
      let bad = context.make("Book", ["pages": 0])
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didSaveObjectsNotification)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationNumberTooSmall && recorder.notifications.isEmpty)
      #expect(context.insertedObjects == [bad] && context.updatedObjects == [kept])
      #expect(context.deletedObjects == [gone] && bad.objectID.isTemporaryID)
      let names = try stack.use { try $0.all("Author").map { $0.text("name") } }
      #expect(names == ["Anonymous", "Anonymous"])
      context.rollback()
      #expect(!context.hasChanges && kept.text("name") == "Anonymous" && !gone.isDeleted)
    }
  }

  // MARK: Step 6

  @Test(arguments: StoreChoice.allCases)
  func objectsWithoutADifferenceAreCleanedButNotWritten(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      let equal = try #require(context.make("Author", ["name": "a"]) as? Author)
      let transient = context.make("Author", ["name": "b"])
      let written = context.make("Author", ["name": "c"])
      try context.save()
      equal.name = "a"
      transient.setValue("glad", forKey: "mood")
      written.setValue("d", forKey: "name")
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didSaveObjectsNotification)
      try context.save()
      #expect(recorder.objects(.updatedObjects) == [written] && !context.hasChanges)
      #expect([equal, transient, written].map(version) == [1, 1, 2])
      #expect(equal.calls.last == "didSave" && transient.text("mood") == "glad")
    }
  }

  @Test func aSetPutBackAsItWasIsNotWritten() throws {
    try Stack(in: .sqlite).use { context in
      let (book, tag) = (context.make("Book"), context.make("Tag", ["label": "x"]))
      try context.save()
      let tags = book.mutableSetValue(forKey: "tags")
      tags.add(tag)
      tags.remove(tag)
      #expect(book.hasChanges && !book.hasPersistentChangedValues)
      try context.save()
      #expect([book, tag].map(version) == [1, 1])
    }
  }

  // MARK: Steps 7 and 8

  @Test func withoutAWritableStoreForTheEntityTheSaveFails() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("Library.sqlite")
    for options in [[:], [StoreOptionKey.readOnly: true]] as [[String: Any]] {
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: Library.model(), storeKinds: [SQLiteStoreKind()])
      let store = try coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil, at: url, options: options)
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        context.make("Tag", ["label": "x"])
        if options.isEmpty {
          try context.save()
        } else {
          let error = #expect(throws: CoreDataError.self) { try context.save() }
          #expect(error?.code == .persistentStoreSave && context.insertedObjects.count == 1)
        }
      }
      try coordinator.remove(store)
    }
  }

  @Test func idsObtainedBeforeTheSaveAreFinalAndTheirRowsComeWithIt() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let (early, dropped) = (context.make("Author"), context.make("Author"))
      try context.obtainPermanentIDs(for: [early, dropped])
      let id = early.objectID
      #expect(!id.isTemporaryID && early.isInserted)
      let stored = try stack.use { try $0.all("Author").count }
      #expect(stored == 0)
      context.delete(dropped)
      let late = context.make("Author")
      try context.save()
      #expect(early.objectID == id && late.objectID.rowKey == 3, "unused IDs leave gaps")
      let found = try stack.use { try $0.existingObject(with: id).text("name") }
      #expect(found == "Anonymous")
    }
  }

  // MARK: Steps 10 and 11

  @Test func onlyAffectedStoresGetARequest() throws {
    let stack = try Stack()
    let second = try stack.coordinator.addPersistentStore(
      ofType: StoreTypeName.inMemory, configurationName: nil, at: nil, options: nil)
    let commits = CommitRecorder()
    stack.coordinator.addObserver(commits)
    try stack.use { context in
      let (a, b) = (context.make("Author"), context.make("Author"))
      context.assign(b, to: second)
      try context.save()
      #expect(commits.take() == [stack.store, second])
      b.setValue("x", forKey: "name")
      try context.save()
      #expect(commits.take() == [second])
      a.setValue(a.text("name"), forKey: "name")
      try context.save()
      #expect(commits.take().isEmpty)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func oneStoreTakesAllOrNothing(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      context.make("Tag", ["label": "x"])
      let book = context.make("Book", ["title": "old"])
      let gone = context.make("Book", ["title": "gone"])
      try context.save()
      book.setValue("new", forKey: "title")
      context.delete(gone)
      context.make("Author")
      context.make("Tag", ["label": "x"])
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .managedObjectConstraintMerge)
      #expect(context.insertedObjects.count == 2 && context.deletedObjects == [gone])
    }
    try stack.use { context in
      let titles = try context.all("Book", sortedBy: "title").map { $0.text("title") }
      let authors = try context.all("Author").count
      #expect(titles == ["gone", "old"] && authors == 0)
    }
  }

  @Test func aStoreThatFailsAfterAnotherHasCommittedIsNamed() throws {
    let stack = try Stack(in: .sqlite)
    let second = try stack.coordinator.addPersistentStore(
      ofType: StoreTypeName.inMemory, configurationName: nil, at: nil, options: nil)
    try stack.use { context in
      func tag(in store: PersistentStore) -> ManagedObject {
        let tag = context.make("Tag", ["label": "x"])
        context.assign(tag, to: store)
        return tag
      }
      let first = tag(in: stack.store)
      let (a, b) = (tag(in: second), tag(in: second))
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .persistentStoreIncompleteSave)
      let affected = error?.userInfo["NSAffectedStoresErrorKey"] as? [PersistentStore]
      #expect(affected == [second])
      #expect(!first.hasChanges && context.insertedObjects == [a, b])
      context.delete(b)
      try context.save()
      #expect(a.objectID.persistentStore === second && !context.hasChanges)
    }
    let count = try stack.use { try $0.all("Tag").count }
    #expect(count == 2)
  }

  // MARK: Steps 12 and 13

  @Test func theIDChangesButNotTheObject() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let (temporary, hash) = (author.objectID, author.hash)
      let held: Set<ManagedObject> = [author]
      try context.save()
      #expect(author.objectID != temporary && author.hash == hash && held.contains(author))
      #expect(context.registeredObject(for: author.objectID) === author)
      #expect(context.registeredObjects == [author])
    }
  }

  @Test func whatWasSavedIsCommittedFromThenOn() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["title": "a", "author": author])
      try context.save()
      book.setValue("b", forKey: "title")
      #expect(book.committedValues(forKeys: ["title"])["title"] as? String == "a")
      try context.save()
      #expect(book.committedValues(forKeys: ["title"])["title"] as? String == "b")
      #expect(book.changedValues().isEmpty && author.committedValues(forKeys: ["books"]).count == 1)
      context.rollback()
      #expect(book.text("title") == "b" && author.many("books") == [book])
    }
  }

  @Test func objectsAreToldBeforeObserversAndTheIDsComeLast() throws {
    try Stack().use { context in
      let author = Kept(object: context.make("Author"))
      let order = LockedValue<[String]>([])
      let names = [
        ManagedObjectContext.didSaveObjectsNotification,
        ManagedObjectContext.didSaveObjectIDsNotification,
      ]
      let tokens = names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
          let last = (author.object as? Author)?.calls.last ?? ""
          order.with { $0 += [last, name.rawValue] }
        }
      }
      try context.save()
      tokens.forEach { NotificationCenter.default.removeObserver($0) }
      #expect(
        order.value == ["didSave", names[0].rawValue, "didSave", names[1].rawValue])
    }
  }

  @Test func changesInDidSaveBelongToTheNextSave() throws {
    try Stack().use { context in
      let kept = Kept(object: context.make("Author"))
      let token = NotificationCenter.default.addObserver(
        forName: ManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
      ) { _ in
        if kept.object.text("name") == "Anonymous" { kept.object.setValue("x", forKey: "name") }
      }
      try context.save()
      #expect(context.updatedObjects == [kept.object])
      try context.save()
      NotificationCenter.default.removeObserver(token)
      #expect(!context.hasChanges && kept.object.text("name") == "x")
    }
  }
}

/// The stores that commits went to.
// Unchecked: the list is inside a lock.
final class CommitRecorder: CoordinatorObserver, @unchecked Sendable {
  private let stores = LockedValue<[PersistentStore]>([])

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didCommit notice: CommitNotice,
    by source: (any CoordinatorObserver)?
  ) {
    stores.with { $0.append(notice.store) }
  }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didRemove store: PersistentStore
  ) {}

  /// The stores since the last time.
  func take() -> [PersistentStore] {
    defer { stores.with { $0 = [] } }
    return stores.value
  }
}
