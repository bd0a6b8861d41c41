import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Testing

/// What a save tells, and whom (core-data-semantics.md, on saving and notifications).
@Suite struct SaveNotificationTests {
  @Test func whatChangedBeforeTheSaveAndWhatWasSavedAreToldEachForItself() throws {
    try Stack().use { context in
      let early = context.make("Chapter")
      context.processPendingChanges()
      let late = context.make("Chapter")
      let changed = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      let saved = NotificationRecorder(context, ManagedObjectContext.didSaveObjectsNotification)
      let ids = NotificationRecorder(context, ManagedObjectContext.didSaveObjectIDsNotification)
      try context.save()
      #expect(changed.objects(.insertedObjects) == [late])
      #expect(saved.objects(.insertedObjects) == [early, late])
      #expect(saved.objects(.updatedObjects).isEmpty && saved.objects(.deletedObjects).isEmpty)
      #expect(ids.ids(.insertedObjectIDs) == [early.objectID, late.objectID])
    }
  }

  @Test func theSameObjectsAreToldTwiceWithTheirKindOfChangeEachTime() throws {
    try Stack().use { context in
      let tags = (0..<20).map { _ in context.make("Chapter") }
      let changed = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      let saved = NotificationRecorder(context, ManagedObjectContext.didSaveObjectsNotification)
      try context.save()
      #expect(changed.objects(.insertedObjects) == Set(tags))
      #expect(saved.objects(.insertedObjects) == Set(tags))
      for tag in tags.prefix(5) { context.delete(tag) }
      for tag in tags.suffix(5) { tag.setValue("changed", forKey: "title") }
      try context.save()
      for recorder in [changed, saved] {
        #expect(recorder.objects(.insertedObjects).isEmpty)
        #expect(recorder.objects(.updatedObjects) == Set(tags.suffix(5)))
        #expect(recorder.objects(.deletedObjects) == Set(tags.prefix(5)))
      }
    }
  }

  @Test func anObjectReadAloneGivesItsRowUpWhenItGoes() throws {
    let stack = try Stack(in: .sqlite)
    let ids = try stack.use { context in
      let tags = (0..<10).map { _ in context.make("Chapter") }
      try context.save()
      return tags.map(\.objectID)
    }
    try stack.use { context in
      var objects = try ids.map { try context.existingObject(with: $0) }
      #expect(try context.existingObject(with: ids[0]) === objects[0])
      #expect(ids.allSatisfy { stack.coordinator.cachedSnapshot(for: $0) != nil })
      for object in objects { context.refresh(object, mergeChanges: false) }
      for object in objects { _ = object.value(forKey: "title") }
      objects = []
    }
    #expect(ids.allSatisfy { stack.coordinator.cachedSnapshot(for: $0) == nil })
  }

  @Test(.timeLimit(.minutes(1))) func notificationsCanBeAwaitedOneAfterTheOther() async throws {
    let stack = try Stack()
    let context = stack.context()
    let notes = NotificationCenter.default.notifications(
      named: .NSManagedObjectContextDidSave, object: context)
    try await context.perform {
      for count in 1...2 {
        for _ in 0..<count { context.make("Chapter") }
        try context.save()
      }
    }
    var counts: [Int] = []
    for await note in notes {
      let inserted = note.userInfo?["inserted"] as? Set<ManagedObject>
      counts.append(inserted?.count ?? 0)
      if counts.count == 2 { break }
    }
    #expect(counts == [1, 2])
  }
}
