// Chapters 6, 11 and 14 of the specification.
import CairnContext
import CairnModel
import CairnStore
import Testing

/// The permanent IDs that objects of child contexts get.
@Suite struct ChildIDTests {
  private func child(of parent: ManagedObjectContext) -> ManagedObjectContext {
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    return child
  }

  private func onlyTag(in stack: Stack) throws -> ManagedObjectID {
    try stack.use { context in
      let tags = try context.all("Tag")
      #expect(tags.count == 1)
      return try #require(tags.first?.objectID)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aNewObjectOfTheParentGetsTheIDThatItsRowWillHave(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    let parent = stack.context()
    let child = child(of: parent)
    parent.performAndWait { _ = parent.make("Tag", ["label": "a"]) }
    let id = try child.performAndWait {
      let tag = try #require(try child.all("Tag").first)
      #expect(tag.objectID.isTemporaryID)
      try child.obtainPermanentIDs(for: [tag])
      #expect(child.registeredObject(for: tag.objectID) === tag && !child.hasChanges)
      return tag.objectID
    }
    #expect(!id.isTemporaryID)
    try parent.performAndWait {
      #expect(parent.insertedObjects.map(\.objectID) == [id])
      try parent.save()
    }
    #expect(try onlyTag(in: stack).uriRepresentation() == id.uriRepresentation())
  }

  @Test(arguments: StoreChoice.allCases)
  func anObjectThatTheRootHasSavedGetsTheIDOfItsRow(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    let parent = stack.context()
    let child = child(of: parent)
    let tag = try child.performAndWait {
      let tag = child.make("Tag", ["label": "a"])
      try child.save()
      return Held(tag)
    }
    try parent.performAndWait { try parent.save() }
    try child.performAndWait {
      #expect(tag.object.objectID.isTemporaryID)
      try child.obtainPermanentIDs(for: [tag.object])
    }
    #expect(
      try onlyTag(in: stack).uriRepresentation() == tag.object.objectID.uriRepresentation())
  }

  @Test(arguments: [false, true])
  func anObjectSavedIntoTheParentGetsOneIDForBoth(isReleased: Bool) throws {
    let stack = try Stack(in: .sqlite)
    let root = stack.context()
    let parent = child(of: root)
    let child = child(of: parent)
    let tag = try child.performAndWait {
      let tag = child.make("Tag", ["label": "a"])
      try child.save()
      return Held(tag)
    }
    if isReleased { try parent.performAndWait { try parent.save() } }
    try child.performAndWait { try child.obtainPermanentIDs(for: [tag.object]) }
    if !isReleased { try parent.performAndWait { try parent.save() } }
    try root.performAndWait {
      #expect(root.insertedObjects.map(\.objectID) == [tag.object.objectID])
      try root.save()
    }
    #expect(
      try onlyTag(in: stack).uriRepresentation() == tag.object.objectID.uriRepresentation())
  }

  @Test(arguments: StoreChoice.allCases)
  func anObjectThatIsNewInTheChildKeepsItsIDThroughBothSaves(choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    let parent = stack.context()
    let child = child(of: parent)
    let id = try child.performAndWait {
      let book = child.make("Book", ["title": "t"])
      let tag = child.make("Tag", ["label": "a"])
      tag.mutableSetValue(forKey: "works").add(book)
      try child.obtainPermanentIDs(for: [tag])
      let id = tag.objectID
      try child.save()
      #expect(tag.objectID === id && !id.isTemporaryID)
      return id
    }
    try parent.performAndWait {
      #expect(parent.insertedObjects.contains { $0.objectID == id })
      try parent.save()
    }
    #expect(try onlyTag(in: stack).uriRepresentation() == id.uriRepresentation())
    let labels = try stack.use { try $0.all("Book", "ANY tags.label == 'a'").count }
    #expect(labels == 1)
  }
}

/// An object that leaves its queue to be compared.
// Unchecked: the tests wait for each queue.
private struct Held: @unchecked Sendable {
  let object: ManagedObject

  init(_ object: ManagedObject) { self.object = object }
}
