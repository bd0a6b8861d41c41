// A context whose parent is another context.
import CairnContext
import CairnModel
import CairnStore
import Testing

@Suite struct ParentContextTests {
  private func child(of parent: ManagedObjectContext) -> ManagedObjectContext {
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    return child
  }

  @Test func aFetchSeesTheParentsUnsavedChanges() throws {
    let parent = try Stack().context()
    parent.performAndWait { _ = parent.make("Author", ["name": "unsaved"]) }
    let child = child(of: parent)
    try child.performAndWait {
      let author = try #require(try child.all("Author").first)
      #expect(author.text("name") == "unsaved" && !child.hasChanges)
    }
  }

  @Test func aSaveMovesChangesIntoTheParentAndNoFurther() throws {
    let stack = try Stack()
    let parent = stack.context()
    let child = child(of: parent)
    try child.performAndWait {
      let author = child.make("Author", ["name": "Ada"])
      child.make("Book", ["title": "t", "author": author])
      try child.save()
      #expect(!child.hasChanges && author.objectID.isTemporaryID)
    }
    try parent.performAndWait {
      #expect(parent.insertedObjects.count == 2)
      let book = try #require(try parent.all("Book").first)
      #expect(book.one("author")?.text("name") == "Ada")
      #expect(book.one("author")?.many("books") == [book])
      let stored = try stack.use { try $0.all("Book").count }
      #expect(stored == 0)
      try parent.save()
    }
    let names = try stack.use { try $0.all("Author").map { $0.text("name") } }
    #expect(names == ["Ada"])
  }

  @Test func updatesAndDeletionsReachTheParent() throws {
    let parent = try Stack().context()
    let ids = try parent.performAndWait {
      let objects = [parent.make("Author", ["name": "a"]), parent.make("Author", ["name": "b"])]
      try parent.save()
      return objects.map(\.objectID)
    }
    let child = child(of: parent)
    try child.performAndWait {
      try child.existingObject(with: ids[0]).setValue("changed", forKey: "name")
      child.delete(try child.existingObject(with: ids[1]))
      try child.save()
    }
    parent.performAndWait {
      #expect(parent.object(with: ids[0]).text("name") == "changed")
      #expect(parent.updatedObjects.count == 1 && parent.deletedObjects.count == 1)
    }
  }

  @Test func aChildCanGoOnAfterTheRootSaved() throws {
    let stack = try Stack()
    let parent = stack.context()
    let child = child(of: parent)
    try child.performAndWait {
      let author = child.make("Author", ["name": "first"])
      try child.save()
      try parent.performAndWait { try parent.save() }
      author.setValue("second", forKey: "name")
      try child.save()
    }
    try parent.performAndWait { try parent.save() }
    let names = try stack.use { try $0.all("Author").map { $0.text("name") } }
    #expect(names == ["second"])
  }

  @Test func aChildsErrorPolicyReportsWhatTheParentChangedMeanwhile() throws {
    let parent = try Stack().context()
    let id = try parent.performAndWait {
      let author = parent.make("Author", ["name": "a"])
      try parent.save()
      return author.objectID
    }
    let child = child(of: parent)
    try child.performAndWait {
      let author = try child.existingObject(with: id)
      author.setValue("child", forKey: "name")
      parent.performAndWait { parent.object(with: id).setValue("parent", forKey: "name") }
      #expect(throws: CoreDataError.self) { try child.save() }
      child.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
      try child.save()
    }
    parent.performAndWait { #expect(parent.object(with: id).text("name") == "child") }
  }
}
