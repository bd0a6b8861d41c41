// When an event ends and what its end does, rule by rule (chapter 7).
import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 7.1 to 7.3: the two stages of change tracking, `processPendingChanges()`, and what
/// observers see.
@Suite struct ProcessingRuleTests {
  private static let didChange = ManagedObjectContext.didChangeObjectsNotification

  // MARK: 7.1

  @Test func theSetsDescribeProcessedAndUnprocessedChangesTogether() throws {
    try Stack().use { context in
      let (a, b, c) = (context.make("Author"), context.make("Author"), context.make("Author"))
      try context.save()
      let early = context.make("Author")
      a.setValue("x", forKey: "name")
      context.delete(b)
      context.processPendingChanges()
      let late = context.make("Author")
      c.setValue("y", forKey: "name")
      #expect(context.insertedObjects == [early, late])
      #expect(context.updatedObjects == [a, c] && context.deletedObjects == [b])
      context.processPendingChanges()
      #expect(context.insertedObjects == [early, late])
      #expect(context.updatedObjects == [a, c] && context.deletedObjects == [b])
      #expect(context.hasChanges)
    }
  }

  // MARK: 7.2

  @Test func severalChangesOfOneObjectAreOneUpdate() throws {
    try Stack().use { context in
      let book = context.make("Book")
      try context.save()
      let recorder = NotificationRecorder(context, Self.didChange)
      for pages in 1...5 { book.setValue(pages, forKey: "pages") }
      book.setValue("t", forKey: "title")
      context.processPendingChanges()
      #expect(recorder.notifications.count == 1)
      #expect(recorder.objects(.updatedObjects) == [book])
    }
  }

  @Test func anInsertionReportedBeforeIsReportedAsDeletedWhenItGoes() throws {
    try Stack().use { context in
      let author = context.make("Author")
      context.processPendingChanges()
      let recorder = NotificationRecorder(context, Self.didChange)
      context.delete(author)
      context.processPendingChanges()
      #expect(recorder.objects(.deletedObjects) == [author])
      #expect(recorder.notifications.last?.userInfo?["inserted"] == nil)
    }
  }

  @Test func deleteRulesAreFollowedUntilNothingMoreIsAdded() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      let chapters = (0..<3).map { _ in context.make("Chapter", ["book": book]) }
      try context.save()
      let recorder = NotificationRecorder(context, Self.didChange)
      context.delete(author)
      #expect(!book.isDeleted && !chapters[0].isDeleted)
      context.processPendingChanges()
      #expect(recorder.notifications.count == 1)
      #expect(recorder.objects(.deletedObjects) == Set([author, book] + chapters))
    }
  }

  @Test func onlyTheObjectsOfTheEventAreReported() throws {
    try Stack().use { context in
      let (a, b) = (context.make("Author"), context.make("Author"))
      try context.save()
      let recorder = NotificationRecorder(context, Self.didChange)
      a.setValue("x", forKey: "name")
      context.processPendingChanges()
      b.setValue("y", forKey: "name")
      context.processPendingChanges()
      #expect(recorder.objects(.updatedObjects) == [b])
      #expect(recorder.notifications.last?.userInfo?.count == 1, "empty kinds are left out")
    }
  }

  @Test func thePostingIsSynchronous() throws {
    try Stack().use { context in
      let seen = LockedValue<[Int]>([])
      let token = NotificationCenter.default.addObserver(
        forName: Self.didChange, object: context, queue: nil
      ) { _ in seen.append(1) }
      context.make("Author")
      context.processPendingChanges()
      seen.append(2)
      NotificationCenter.default.removeObserver(token)
      #expect(seen.value == [1, 2])
    }
  }

  @Test(arguments: ["undo", "redo", "rollback", "save", "fetch", "count"])
  func verbsThatNeedAnOrderedStateEndTheEventFirst(verb: String) throws {
    try Stack().use { context in
      let author = context.make("Author")
      let recorder = NotificationRecorder(context, Self.didChange)
      switch verb {
      case "undo": context.undo()
      case "redo": context.redo()
      case "rollback": context.rollback()
      case "save": try context.save()
      case "count":
        _ = try context.count(for: FetchRequest<ManagedObject>(entityName: "Author"))
      default: _ = try context.all("Author")
      }
      let first = recorder.notifications.first?.userInfo?["inserted"] as? Set<ManagedObject>
      #expect(first == [author])
    }
  }

  @Test func eachPassOfTheSaveLoopEndsAnEvent() throws {
    try Stack().use { context in
      let author = try #require(context.make("Author") as? Author)
      try context.save()
      author.onWillSave = { if $0.name != "saved" { $0.name = "saved" } }
      author.name = "x"
      let recorder = NotificationRecorder(context, Self.didChange)
      try context.save()
      let updates = recorder.notifications.filter { $0.userInfo?["updated"] != nil }
      #expect(updates.count == 2)
    }
  }

  @Test @MainActor func onTheMainQueueAnEventEndsWithTheTurn() async throws {
    let context = ManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = try Stack().coordinator
    let recorder = NotificationRecorder(context, Self.didChange)
    context.make("Author")
    context.make("Author")
    #expect(recorder.notifications.isEmpty)
    await withCheckedContinuation { next in DispatchQueue.main.async { next.resume() } }
    #expect(recorder.notifications.count == 1 && recorder.objects(.insertedObjects).count == 2)
    await withCheckedContinuation { next in DispatchQueue.main.async { next.resume() } }
    #expect(recorder.notifications.count == 1, "nothing new, nothing told")
  }

  // MARK: 7.3

  @Test(arguments: [true, false])
  func aRefreshAloneIsReported(mergeChanges: Bool) throws {
    try Stack().use { context in
      let author = context.make("Author")
      try context.save()
      let recorder = NotificationRecorder(context, Self.didChange)
      context.refresh(author, mergeChanges: mergeChanges)
      context.processPendingChanges()
      #expect(recorder.objects(.refreshedObjects) == [author])
      #expect(recorder.notifications.last?.userInfo?["updated"] == nil)
    }
  }

  @Test func changesThroughPrimitivesAreNotReported() throws {
    try Stack().use { context in
      let author = context.make("Author")
      try context.save()
      let recorder = NotificationRecorder(context, Self.didChange)
      author.setPrimitiveValue("quiet", forKey: "name")
      context.processPendingChanges()
      #expect(recorder.notifications.isEmpty && !context.hasChanges)
      #expect(author.text("name") == "quiet")
    }
  }

  @Test func changesInAwakeFromFetchAreNotReportedAndDoNotCount() throws {
    let stack = try WorkshopStack(model: Sleeper.model())
    try stack.use { context in
      context.make("Sleeper", ["name": "a"])
      try context.save()
    }
    try stack.use { context in
      let recorder = NotificationRecorder(context, Self.didChange)
      let sleeper = try #require(try context.all("Sleeper").first)
      #expect(sleeper.text("name") == "awake")
      context.processPendingChanges()
      #expect(recorder.notifications.isEmpty && !context.hasChanges && !sleeper.hasChanges)
    }
  }

  @Test func willSaveCarriesNothingAndDidSaveTheObjectsOfTheSave() throws {
    try Stack().use { context in
      let (kept, gone) = (context.make("Author"), context.make("Author"))
      try context.save()
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.willSaveObjectsNotification,
        ManagedObjectContext.didSaveObjectsNotification)
      let new = context.make("Author")
      kept.setValue("x", forKey: "name")
      context.delete(gone)
      try context.save()
      #expect(recorder.notifications.count == 2 && recorder.notifications[0].userInfo == nil)
      #expect(recorder.objects(.insertedObjects) == [new])
      #expect(recorder.objects(.updatedObjects) == [kept])
      #expect(recorder.objects(.deletedObjects) == [gone])
      #expect(recorder.notifications[1].object as? ManagedObjectContext === context)
    }
  }

  @Test func withHistoryDidSaveTellsThePlaceInIt() throws {
    try Stack(history: true).use { context in
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didSaveObjectsNotification)
      context.make("Author")
      try context.save()
      #expect(recorder.notifications.last?.userInfo?["newChangeToken"] is PersistentHistoryToken)
    }
  }

  @Test func removingAStoreInvalidatesItsObjects() async throws {
    let stack = try Stack()
    let context = stack.context()
    let id = try await context.perform {
      let author = context.make("Author")
      try context.save()
      context.retainsRegisteredObjects = true
      return author.objectID
    }
    let recorder = await context.perform { NotificationRecorder(context, Self.didChange) }
    try stack.coordinator.remove(stack.store)
    await context.perform(schedule: .enqueued) {
      #expect(recorder.ids(.invalidatedAllObjects) == [id])
      #expect(context.registeredObjects.isEmpty)
    }
  }
}

/// An object that changes itself when it is read.
final class Sleeper: ManagedObject {
  override func awakeFromFetch() {
    super.awakeFromFetch()
    setValue("awake", forKey: "name")
  }

  static func model() -> ManagedObjectModel {
    let sleeper = EntityDescription(
      name: "Sleeper", properties: [AttributeDescription(name: "name", type: .string)])
    sleeper.managedObjectClassName = String(reflecting: Sleeper.self)
    let model = ManagedObjectModel()
    model.entities = [sleeper]
    return model
  }
}
