// Fetched results: what delegates are told, and when.
import CairnContext
import CairnIdentity
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapter 23 of the specification: tracking.
@Suite struct FetchedResultsDelegateTests {
  private struct Fixture {
    let context: ManagedObjectContext
    let controller: FetchedResultsController<ManagedObject>
    let recorder = ChangeRecorder()

    /// Books `a`…`d` of 2, 1, 2 and 10 pages, in sections by pages.
    init(_ context: ManagedObjectContext, sections: String? = "pages", limit: Int = 0) throws {
      self.context = context
      for (title, pages) in [("a", 2), ("b", 1), ("c", 2), ("d", 10)] {
        context.make("Book", ["title": title, "pages": pages])
      }
      try context.save()
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.sortDescriptors = [
        ObjectSortDescriptor(key: "pages", ascending: true),
        ObjectSortDescriptor(key: "title", ascending: true),
      ]
      request.fetchLimit = limit
      controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections,
        cacheName: nil)
      controller.delegate = recorder
      try controller.performFetch()
      recorder.start(controller)
    }

    func book(_ title: String) throws -> ManagedObject {
      try #require(controller.fetchedObjects?.first { $0.text("title") == title })
    }
    func path(_ row: Int, _ section: Int) -> IndexPath { IndexPath(row: row, section: section) }
    var shown: String { ShownList(controller).description }
  }

  @Test func aChangeOfAValueIsAnUpdateWhereTheObjectStands() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      try fixture.book("c").setValue(Decimal(3), forKey: "price")
      context.processPendingChanges()
      #expect(fixture.recorder.calls == ["will", "update", "did"])
      let row = try #require(fixture.recorder.rows.first)
      #expect(row.old == fixture.path(1, 1) && row.new == fixture.path(1, 1))
    }
  }

  @Test func anUpdateCountsInOldPlacesAndTellsTheNewOne() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      try fixture.book("c").setValue(Decimal(3), forKey: "price")
      context.delete(try fixture.book("a"))
      context.processPendingChanges()
      #expect(fixture.recorder.calls == ["will", "delete", "update", "did"])
      let row = try #require(fixture.recorder.rows.last)
      #expect(row.old == fixture.path(1, 1) && row.new == fixture.path(0, 1))
    }
  }

  @Test func sectionsComeBeforeObjectsAndMovesCarryBothPaths() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      try fixture.book("b").setValue(5, forKey: "pages")
      context.processPendingChanges()
      #expect(
        fixture.recorder.calls == ["will", "section delete", "section insert", "move", "did"])
      #expect(fixture.recorder.deletedSections == [0])
      #expect(fixture.recorder.insertedSections.map(\.index) == [1])
      let row = try #require(fixture.recorder.rows.first)
      #expect(row.old == fixture.path(0, 0) && row.new == fixture.path(0, 1))
      #expect(fixture.recorder.rows.count == 1)
      #expect(fixture.shown == "2: a c | 5: b | 10: d")
    }
  }

  @Test func anObjectThatChangesPlacesWithAnotherIsTheOneThatMoves() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      try fixture.book("a").setValue("z", forKey: "title")
      context.processPendingChanges()
      let rows = fixture.recorder.rows
      #expect(rows.map(\.type) == [.move] && rows.first?.object.text("title") == "z")
      #expect(fixture.shown == "1: b | 2: c z | 10: d")
    }
  }

  @Test func insertsAndDeletesBringAndTakeSections() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      context.make("Book", ["title": "e", "pages": 3])
      context.processPendingChanges()
      #expect(fixture.recorder.calls == ["will", "section insert", "insert", "did"])
      #expect(fixture.recorder.rows.first?.old == nil)
      fixture.recorder.calls = []
      context.delete(try fixture.book("e"))
      context.processPendingChanges()
      #expect(fixture.recorder.calls == ["will", "section delete", "delete", "did"])
      #expect(fixture.recorder.rows.first?.new == nil)
    }
  }

  @Test func anObjectThatStopsMatchingIsDeletedAndOneThatStartsIsInserted() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      fixture.controller.fetchRequest.predicate = ObjectPredicate(format: "isRead == NO")
      try fixture.controller.performFetch()
      let book = try fixture.book("a")
      book.setValue(true, forKey: "isRead")
      context.processPendingChanges()
      #expect(fixture.recorder.rows.map(\.type) == [.delete])
      book.setValue(false, forKey: "isRead")
      context.processPendingChanges()
      #expect(fixture.recorder.rows.map(\.type) == [.insert])
    }
  }

  @Test func anEventThatDoesNotConcernTheResultsIsNotTold() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      context.make("Tag", ["label": "x"])
      context.make("Essay", ["title": "e"])
      context.processPendingChanges()
      #expect(fixture.recorder.calls.isEmpty)
    }
  }

  @Test func theResultsAreTheOldOnesUntilTheDelegateKnows() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      context.make("Book", ["title": "e"])
      context.processPendingChanges()
      #expect(fixture.recorder.countBefore == 4 && fixture.controller.fetchedObjects?.count == 5)
    }
  }

  @Test func insertedObjectsBeyondTheLimitAreAdded() throws {
    try Stack().use { context in
      let fixture = try Fixture(context, limit: 2)
      #expect(fixture.shown == "1: b | 2: a")
      context.make("Book", ["title": "e", "pages": 50])
      context.processPendingChanges()
      #expect(fixture.shown == "1: b | 2: a | 50: e")
    }
  }

  @Test func aSaveOfAnotherContextIsNoticedWhenItIsMerged() throws {
    let stack = try Stack()
    try stack.use { context in
      let fixture = try Fixture(context)
      let ids = try [fixture.book("a"), fixture.book("d")].map(\.objectID)
      let other = stack.context()
      var saved: Notification?
      try other.performAndWait {
        let recorder = NotificationRecorder(other, ManagedObjectContext.didSaveObjectsNotification)
        try other.existingObject(with: ids[0]).setValue(1, forKey: "pages")
        other.delete(try other.existingObject(with: ids[1]))
        other.make("Book", ["title": "n", "pages": 1])
        try other.save()
        saved = recorder.notifications.last
      }
      #expect(fixture.recorder.calls.isEmpty)
      context.mergeChanges(fromContextDidSave: try #require(saved))
      #expect(fixture.shown == "1: a b n | 2: c")
      #expect(Set(fixture.recorder.rows.map(\.type)) == [.move, .delete, .insert])
      #expect(fixture.recorder.events == 1)
    }
  }

  @Test func refreshingAnObjectIsAnUpdate() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      context.refresh(try fixture.book("a"), mergeChanges: true)
      context.processPendingChanges()
      #expect(fixture.recorder.calls == ["will", "update", "did"])
    }
  }

  @Test func rollbackTakesTheChangesBack() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      try fixture.book("a").setValue(7, forKey: "pages")
      context.delete(try fixture.book("d"))
      context.make("Book", ["title": "e", "pages": 3])
      context.processPendingChanges()
      #expect(fixture.shown == "1: b | 2: c | 3: e | 7: a")
      context.rollback()
      #expect(fixture.shown == "1: b | 2: a c | 10: d")
      #expect(fixture.recorder.sections.map(\.name) == ["1", "2", "10"])
    }
  }

  @Test func resetIsNotToldAndEndsTrackingUntilTheNextFetch() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      context.reset()
      context.make("Book", ["title": "e", "pages": 3])
      context.processPendingChanges()
      #expect(fixture.recorder.calls.isEmpty)
      try fixture.controller.performFetch()
      #expect(fixture.shown == "1: b | 2: a c | 3: e | 10: d")
      context.make("Book", ["title": "f", "pages": 3])
      context.processPendingChanges()
      #expect(fixture.recorder.events == 1)
    }
  }

  @Test func changesThatTheDelegateMakesAreAnEventOfTheirOwn() throws {
    final class Meddler: FetchedResultsControllerDelegate {
      var shown: [Int] = []
      var depth = 0
      func controllerDidChangeContent(
        _ controller: FetchedResultsController<any FetchRequestResult>
      ) {
        depth += 1
        #expect(depth == 1)
        let count = controller.fetchedObjects?.count ?? 0
        shown.append(count)
        if count < 8 {
          controller.managedObjectContext.make("Book", ["title": "m\(count)"])
          controller.managedObjectContext.processPendingChanges()
        }
        depth -= 1
      }
    }
    try Stack().use { context in
      let fixture = try Fixture(context)
      let meddler = Meddler()
      fixture.controller.delegate = meddler
      try fixture.controller.performFetch()
      context.make("Book", ["title": "e"])
      context.processPendingChanges()
      #expect(meddler.shown == [5, 6, 7, 8])
    }
  }

  @Test func withoutADelegateNothingIsTracked() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      fixture.controller.delegate = nil
      try fixture.controller.performFetch()
      fixture.controller.delegate = fixture.recorder
      context.make("Book", ["title": "e"])
      context.processPendingChanges()
      #expect(fixture.recorder.calls.isEmpty && fixture.controller.fetchedObjects?.count == 4)
    }
  }

  @Test func aDelegateWithoutChangeMethodsIsNotTracked() throws {
    final class Titles: FetchedResultsControllerDelegate {
      func controller(
        _ controller: FetchedResultsController<any FetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
      ) -> String? { "#" + sectionName }
    }
    try Stack().use { context in
      let fixture = try Fixture(context)
      let titles = Titles()
      fixture.controller.delegate = titles
      try fixture.controller.performFetch()
      #expect(fixture.controller.sectionIndexTitles == ["#1", "#2", "#10"])
      context.make("Book", ["title": "e"])
      context.processPendingChanges()
      #expect(fixture.controller.fetchedObjects?.count == 4)
    }
  }

  @Test func theDelegatesControllerIsEqualToTheProgramsOne() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      context.make("Book", ["title": "e"])
      context.processPendingChanges()
      let told = try #require(
        fixture.recorder.lastController as? FetchedResultsController<any FetchRequestResult>)
      // Not inside of the macro, which would take the operator for any two objects.
      let program: FetchedResultsController<ManagedObject>? = fixture.controller
      let (isSame, isSameAsOptional) = (told === fixture.controller, told === program)
      #expect(isSame && isSameAsOptional && told == fixture.controller)
      #expect(told.hash == fixture.controller.hash)
      let other = try Fixture(context).controller
      let isAnother = told !== other
      #expect(isAnother && told != other)
    }
  }

  @Test func snapshotsComeWithTheFetchAndWithPermanentIDsAfterTheSave() throws {
    try Stack().use { context in
      let fixture = try Fixture(context)
      let recorder = SnapshotRecorder()
      fixture.controller.delegate = recorder
      try fixture.controller.performFetch()
      #expect(recorder.count == 1 && recorder.sections == ["1", "2", "10"])
      let book = context.make("Book", ["title": "e", "pages": 3])
      try fixture.book("a").setValue(Decimal(1), forKey: "price")
      context.processPendingChanges()
      #expect(recorder.count == 2 && recorder.items[2].map(\.isTemporaryID) == [true])
      #expect(recorder.reloaded == [try fixture.book("a").objectID])
      try context.save()
      #expect(recorder.items[2] == [book.objectID] && !book.objectID.isTemporaryID)
      #expect(recorder.otherCalls == 0)
    }
  }

  @Test func differencesComeWithoutSectionsOnly() throws {
    final class Both: FetchedResultsControllerDelegate {
      var calls: [String] = []
      func controller(
        _ controller: FetchedResultsController<any FetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<ManagedObjectID>
      ) { calls.append("difference") }
      func controllerDidChangeContent(
        _ controller: FetchedResultsController<any FetchRequestResult>
      ) { calls.append("did") }
    }
    try Stack().use { context in
      let both = Both()
      for sections in ["pages", nil] {
        let fixture = try Fixture(context, sections: sections)
        fixture.controller.delegate = both
        try fixture.controller.performFetch()
        context.make("Book", ["title": "e"])
        context.processPendingChanges()
        fixture.controller.delegate = nil
      }
      #expect(both.calls == ["did", "difference"])
    }
  }

  @Test func aDifferenceAssociatesMovesAndUpdates() throws {
    try Stack().use { context in
      let fixture = try Fixture(context, sections: nil)
      let recorder = DifferenceRecorder()
      fixture.controller.delegate = recorder
      try fixture.controller.performFetch()
      recorder.ids = (fixture.controller.fetchedObjects ?? []).map(\.objectID)
      let book = try fixture.book("d")
      book.setValue(0, forKey: "pages")
      book.setValue(1, forKey: "pages")
      book.setValue("0", forKey: "title")
      context.processPendingChanges()
      let difference = try #require(recorder.last)
      #expect(
        difference.map { $0 }.count == 2
          && difference.removals == [.remove(offset: 3, element: book.objectID, associatedWith: 0)])
      #expect(recorder.otherCalls == 0)
    }
  }

  @Test func aControllerIsFreedWithItsContextAndDelegate() throws {
    weak var controller: FetchedResultsController<ManagedObject>?
    weak var tracked: ManagedObjectContext?
    try Stack().use { context in
      let fixture = try Fixture(context)
      context.make("Book", ["title": "e"])
      context.processPendingChanges()
      (controller, tracked) = (fixture.controller, context)
      #expect(controller != nil)
    }
    #expect(controller == nil && tracked == nil)
  }
}
