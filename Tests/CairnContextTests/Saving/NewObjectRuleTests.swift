// New objects hand their values and IDs over to a save instead of copies (chapters 3 and 11).
import CairnModel
import CairnStore
import Foundation
import Testing

@_spi(Generated) @testable import CairnContext

/// Chapters 3.2 and 11: what a new object keeps when it is saved, and when that fails.
@Suite struct NewObjectRuleTests {
  @Test(arguments: StoreChoice.allCases)
  func anIDThatARowHasStaysTemporary(choice: StoreChoice) throws {
    try Stack(in: choice).use { context in
      let (known, unknown) = (context.make("Tag"), context.make("Tag"))
      let id = known.objectID
      let text = id.uriRepresentation()
      try context.save()
      #expect(id.isTemporaryID && id.uriRepresentation() == text)
      #expect(!known.objectID.isTemporaryID && !unknown.objectID.isTemporaryID)
      #expect(context.registeredObject(for: known.objectID) === known)
      #expect(context.registeredObject(for: unknown.objectID) === unknown)
      #expect(Set([known, unknown].map(\.objectID)).count == 2)
    }
  }

  @Test func anObjectNamedTwiceGetsOneIDAndOthersKeepTheirs() throws {
    try Stack(in: .sqlite).use { context in
      let (twice, other) = (context.make("Tag"), context.make("Tag"))
      let temporary = other.objectID
      try context.obtainPermanentIDs(for: [twice, twice])
      #expect(twice.objectID.rowKey == 1 && other.objectID === temporary)
      #expect(context.registeredObject(for: temporary) === other)
      #expect(context.registeredObject(for: twice.objectID) === twice)
      try context.save()
      #expect(other.objectID.rowKey == 2)
    }
  }

  @Test func referencesToNewObjectsArePermanentAfterTheSave() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let (book, chapter) = (context.make("Book"), context.make("Chapter"))
      chapter.setValue(book, forKey: "book")
      try context.save()
      let slot = try #require(chapter.layout.slotByName["book"])
      #expect(chapter.storedValue(at: slot) == .object(book.objectID))
      #expect(!book.objectID.isTemporaryID)
    }
    let title = try stack.use { context in
      let chapter = try #require(try context.all("Chapter").first)
      return (chapter.value(forKey: "book") as? ManagedObject)?.entity.name
    }
    #expect(title == "Book")
  }

  @Test(arguments: StoreChoice.allCases)
  func changesAfterASaveAreNotInWhatWasSaved(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      let tag = context.make("Tag", ["label": "saved"])
      try context.save()
      let row = try #require(tag.snapshot)
      tag.setValue("changed", forKey: "label")
      let slot = try #require(tag.layout.slotByName["label"])
      #expect(row[slot] == .string("saved") && tag.text("label") == "changed")
      #expect(tag.committedValues(forKeys: ["label"])["label"] as? String == "saved")
      let seen = try stack.use { try $0.all("Tag").map { $0.text("label") } }
      #expect(seen == ["saved"])
      context.rollback()
      #expect(tag.text("label") == "saved")
    }
  }

  @Test func afterARefusedSaveNewObjectsCanBeChangedAndSaved() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      context.make("Tag", ["label": "taken"])
      try context.save()
    }
    try stack.use { context in
      let (first, second) = (
        context.make("Tag", ["label": "free"]), context.make("Tag", ["label": "taken"])
      )
      #expect(throws: CoreDataError.self) { try context.save() }
      #expect(first.isInserted && second.isInserted && second.snapshot == nil)
      #expect(first.flags.contains(.ownsSlots) && second.flags.contains(.ownsSlots))
      second.setValue("free, too", forKey: "label")
      try context.save()
      #expect(!context.hasChanges && [first, second].map { $0.snapshot?.version } == [1, 1])
    }
    let labels = try stack.use { try $0.all("Tag").compactMap { $0.text("label") } }
    #expect(labels.sorted() == ["free", "free, too", "taken"])
  }

  @Test func anUndoneInsertionAfterARefusedSaveLeavesNothing() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      context.make("Tag", ["label": "taken"])
      try context.save()
      let tag = context.make("Tag", ["label": "taken"])
      #expect(throws: CoreDataError.self) { try context.save() }
      context.delete(tag)
      try context.save()
      #expect(!context.hasChanges && tag.managedObjectContext == nil)
    }
    #expect(try stack.use { try $0.all("Tag").count } == 1)
  }

  @Test func rowsOfNewObjectsStayInTheCacheAsLongAsTheirObjects() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      var tag: ManagedObject? = context.make("Tag", ["label": "a"])
      try context.save()
      let id = try #require(tag?.objectID)
      #expect(stack.coordinator.cachedSnapshot(for: id) != nil)
      // Saved again under the same ID: the context is one holder, not two.
      tag?.setValue("b", forKey: "label")
      try context.save()
      tag = nil
      context.releaseAbandonedRows(atLeast: 1)
      #expect(stack.coordinator.cachedSnapshot(for: id) == nil)
    }
  }
}
