// Deletion, rule by rule (chapter 9).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 9: deletion.
@Suite struct DeletionRuleTests {
  /// A parent with children related by the given rule; the inverse may be left out.
  private func family(
    _ rule: DeleteRule, inverse: Bool = true, change: (RelationshipDescription) -> Void = { _ in }
  ) -> ManagedObjectModel {
    let (parent, child) = (EntityDescription(name: "Parent"), EntityDescription(name: "Child"))
    let (children, owner) = (Workshop.toMany("children", rule), Workshop.toOne("parent"))
    children.destinationEntity = child
    if inverse { Workshop.link(children, to: child, owner, to: parent) }
    change(children)
    parent.properties = [AttributeDescription(name: "name", type: .string), children]
    child.properties =
      [AttributeDescription(name: "name", type: .string)] + (inverse ? [owner] : [])
    let model = ManagedObjectModel()
    model.entities = [parent, child]
    return model
  }

  // MARK: delete(_:)

  @Test func anUnsavedObjectLeavesAtOnceAndIsDetachedWithTheEvent() throws {
    try Stack().use { context in
      let author = try #require(context.make("Author") as? Author)
      context.delete(author)
      #expect(context.insertedObjects.isEmpty && author.managedObjectContext === context)
      #expect(author.calls.last == "prepareForDeletion")
      context.processPendingChanges()
      #expect(author.managedObjectContext == nil)
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.willSaveObjectsNotification)
      try context.save()
      #expect(recorder.notifications.isEmpty)
    }
  }

  @Test func aDeletedObjectStaysReadableUntilTheSave() throws {
    try Stack().use { context in
      let book = context.make("Book", ["title": "t", "author": context.make("Author")])
      try context.save()
      context.delete(book)
      context.processPendingChanges()
      #expect(book.isDeleted && !book.isUpdated && book.hasChanges)
      #expect(book.text("title") == "t" && book.managedObjectContext === context)
      try context.save()
      #expect(!book.isDeleted && !book.hasChanges && book.managedObjectContext == nil)
      #expect(context.registeredObject(for: book.objectID) == nil)
    }
  }

  @Test func whenItIsPreparedRelationshipsAreIntact() throws {
    let stack = try WorkshopStack(model: Preparer.model())
    try stack.use { context in
      let whole = try #require(context.make("Preparer", ["name": "w"]) as? Preparer)
      let parts = (0..<2).compactMap { _ in context.make("Preparer", ["whole": whole]) as? Preparer
      }
      try context.save()
      context.delete(whole)
      context.processPendingChanges()
      #expect(whole.seen == [2] && parts.map(\.seen) == [[0], [0]])
      #expect(parts.map(\.wholeWhenPrepared) == ["w", "w"])
    }
  }

  @Test func deletingTwiceIsHarmlessAndPreparesAgain() throws {
    try Stack().use { context in
      let author = try #require(context.make("Author") as? Author)
      try context.save()
      context.delete(author)
      context.delete(author)
      #expect(author.calls.filter { $0 == "prepareForDeletion" }.count == 2)
      #expect(context.deletedObjects == [author])
      try context.save()
      context.delete(author)
      #expect(!context.hasChanges)
    }
  }

  @Test func anObjectOfAnotherContextCannotBeDeleted() async {
    await #expect(processExitsWith: .failure) {
      let stack = try Stack()
      try stack.use { other in
        let author = Kept(object: other.make("Author"))
        try stack.use { $0.delete(author.object) }
      }
    }
  }

  @Test func anObjectChangedAndDeletedHasTheStoredRowDeleted() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let book = context.make("Book", ["title": "t"])
      try context.save()
      book.setValue("changed", forKey: "title")
      context.delete(book)
      try context.save()
      let count = try context.all("Book").count
      #expect(count == 0)
    }
  }

  // MARK: Rows

  /// What a cascade leads to counts as read when the row cache read it, not when it is deleted.
  @Test func aChildThatAnotherContextChangedAfterItWasReadIsAConflictOfTheCascade() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let author = context.make("Author")
      for number in 0..<20 { context.make("Book", ["title": "\(number)", "author": author]) }
      try context.save()
    }
    // A caller holds the rows, in another context of the same coordinator.
    try stack.use { holder in
      let held = try holder.all("Book")
      #expect(held.allSatisfy { $0.text("title") != nil })
      try stack.useElsewhere { other in
        let book = try #require(try other.all("Book").first { $0.text("title") == "7" })
        book.setValue("changed", forKey: "title")
        try other.save()
      }
      try stack.use { context in
        context.delete(try #require(try context.all("Author").first))
        #expect(throws: (any Error).self) { try context.save() }
        #expect(context.deletedObjects.count == 21)
        context.rollback()
        #expect(!context.hasChanges)
      }
      withExtendedLifetime(held) {}
    }
    try stack.use { context in
      let titles = try context.all("Book").compactMap { $0.text("title") }
      #expect(titles.count == 20 && titles.contains("changed"))
    }
  }

  // MARK: When

  @Test(arguments: [true, false])
  func propagationWaitsForTheEventOrTheSave(atEndOfEvent: Bool) throws {
    try Stack().use { context in
      context.propagatesDeletesAtEndOfEvent = atEndOfEvent
      let book = context.make("Book")
      let chapter = context.make("Chapter", ["book": book])
      try context.save()
      context.delete(book)
      #expect(!chapter.isDeleted)
      context.processPendingChanges()
      #expect(chapter.isDeleted == atEndOfEvent)
      try context.save()
      #expect(chapter.managedObjectContext == nil)
    }
  }

  @Test func denyIsAskedBySavingOnly() throws {
    try WorkshopStack(model: family(.deny)).use { context in
      let parent = context.make("Parent")
      let children = (0..<2).map { _ in context.make("Child", ["parent": parent]) }
      try context.save()
      context.delete(parent)
      context.processPendingChanges()
      #expect(parent.isDeleted && children[0].one("parent") === parent)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationRelationshipDeniedDelete)
      #expect(error?.userInfo["NSValidationErrorObject"] as? ManagedObject === parent)
      #expect(error?.userInfo["NSValidationErrorKey"] as? String == "children")
      children.forEach(context.delete)
      try context.save()
      #expect(parent.managedObjectContext == nil)
    }
  }

  // MARK: Rules

  @Test func noActionLeavesAReferenceThatLeadsNowhere() throws {
    let stack = try WorkshopStack(model: family(.noAction))
    try stack.use { context in
      let parent = context.make("Parent", ["name": "p"])
      context.make("Child", ["name": "c", "parent": parent])
      try context.save()
      context.delete(parent)
      try context.save()
    }
    try stack.use { context in
      let child = try #require(try context.all("Child").first)
      let parent = try #require(child.one("parent"))
      #expect(parent.isFault && !parent.isDeleted)
      #expect(parent.text("name") == nil && parent.isDeleted, "an inaccessible fault")
    }
  }

  @Test(arguments: [DeleteRule.nullify, .cascade, .deny, .noAction])
  func withoutAnInverseOnlyCascadePropagates(rule: DeleteRule) throws {
    try WorkshopStack(model: family(rule, inverse: false)).use { context in
      let (parent, child) = (context.make("Parent"), context.make("Child"))
      parent.setValue(Set([child]), forKey: "children")
      try context.save()
      context.delete(parent)
      context.processPendingChanges()
      #expect(child.isDeleted == (rule == .cascade))
      #expect(!context.updatedObjects.contains(child))
    }
  }

  @Test func theRulesAreThoseOfTheDeletedObjectAndNotOfItsInverse() throws {
    // chapter.book nullifies though book.chapters cascades.
    try Stack().use { context in
      let book = context.make("Book")
      let chapters = (0..<2).map { _ in context.make("Chapter", ["book": book]) }
      try context.save()
      context.delete(chapters[0])
      try context.save()
      #expect(!book.isDeleted && book.many("chapters") == [chapters[1]])
    }
  }

  @Test func mutualCascadesAreSafe() throws {
    let model = ManagedObjectModel()
    let (a, b) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
    let (others, owner) = (Workshop.toMany("others", .cascade), Workshop.toOne("owner", .cascade))
    Workshop.link(others, to: b, owner, to: a)
    a.properties = [others]
    b.properties = [owner]
    model.entities = [a, b]
    try WorkshopStack(model: model).use { context in
      let owner = context.make("A")
      let others = (0..<3).map { _ in context.make("B", ["owner": owner]) }
      try context.save()
      context.delete(others[1])
      try context.save()
      #expect(([owner] + others).allSatisfy { $0.managedObjectContext == nil })
    }
  }

  @Test func propagationReadsFaultedRelationships() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      let author = context.make("Author")
      for _ in 0..<3 {
        let book = context.make("Book", ["author": author])
        for _ in 0..<2 { context.make("Chapter", ["book": book]) }
      }
      try context.save()
    }
    try stack.use { context in
      let author = try #require(try context.all("Author").first)
      context.delete(author)
      context.processPendingChanges()
      #expect(context.deletedObjects.count == 10)
      try context.save()
    }
    let left = try stack.use { try $0.all("Book").count + $0.all("Chapter").count }
    #expect(left == 0)
  }

  @Test func nullifyThatEmptiesAMandatoryToManyFailsTheSave() throws {
    let model = family(.nullify) { children in
      children.isOptional = false
      children.minCount = 1
    }
    try WorkshopStack(model: model).use { context in
      let parent = context.make("Parent")
      let child = context.make("Child", ["parent": parent])
      try context.save()
      context.delete(child)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationRelationshipLacksMinimumCount)
      #expect(error?.userInfo["NSValidationErrorObject"] as? ManagedObject === parent)
    }
  }

  @Test func aMemberTooFewFailsTheSaveToo() throws {
    try WorkshopStack(model: family(.nullify) { $0.minCount = 2 }).use { context in
      let parent = context.make("Parent")
      let children = (0..<2).map { _ in context.make("Child", ["parent": parent]) }
      try context.save()
      context.delete(children[0])
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationRelationshipLacksMinimumCount)
      context.delete(children[1])
      try context.save()
      #expect(parent.many("children").isEmpty, "an optional empty relationship passes")
    }
  }

  // MARK: Taking it back

  @Test(arguments: [true, false])
  func undoAndRollbackBringObjectAndRelationshipsBack(isUndo: Bool) throws {
    try Stack().use { context in
      let author = try #require(context.make("Author", ["name": "a"]) as? Author)
      let friend = context.make("Author")
      author.mutableSetValue(forKey: "friends").add(friend)
      let book = context.make("Book", ["author": author])
      let chapters = (0..<3).map { context.make("Chapter", ["title": "\($0)", "book": book]) }
      try context.save()
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      context.delete(author)
      context.processPendingChanges()
      #expect(context.deletedObjects.count == 5 && friend.many("friends").isEmpty)
      if isUndo { context.undo() } else { context.rollback() }
      #expect(!context.hasChanges && !author.isDeleted && author.name == "a")
      #expect(author.many("books") == [book] && friend.many("friends") == [author])
      #expect(book.mutableOrderedSetValue(forKey: "chapters").members == chapters)
      #expect(author.calls.last == "awakeFromSnapshotEvents \(isUndo ? 4 : 16)")
    }
  }

  @Test func anObjectInsertedAgainAfterTheEventFindsThoseItBelongedTo() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      let chapter = context.make("Chapter", ["book": book])
      let passport = context.make("Passport", ["owner": author])
      try context.save()
      context.delete(book)
      context.delete(passport)
      context.processPendingChanges()
      #expect(author.many("books").isEmpty && chapter.isDeleted && author.one("passport") == nil)
      context.insert(book)
      context.insert(passport)
      #expect(author.many("books") == [book] && author.one("passport") === passport)
      #expect(book.many("chapters").isEmpty, "its members are deleted still")
      try context.save()
      let stored = try context.all("Book").map { $0.one("author") }
      #expect(stored == [author])
    }
  }

  @Test func insertingADeletedObjectAgainTakesTheDeletionBack() throws {
    try Stack().use { context in
      let author = context.make("Author")
      try context.save()
      context.delete(author)
      context.insert(author)
      #expect(!author.isDeleted && context.deletedObjects.isEmpty)
      try context.save()
      let count = try context.all("Author").count
      #expect(count == 1)
    }
  }
}

/// An object that looks around when it is prepared for its deletion.
final class Preparer: ManagedObject {
  var seen: [Int] = []
  var wholeWhenPrepared: String?

  override func prepareForDeletion() {
    super.prepareForDeletion()
    seen.append(many("parts").count)
    wholeWhenPrepared = one("whole")?.text("name")
  }

  static func model() -> ManagedObjectModel {
    let entity = EntityDescription(name: "Preparer")
    entity.managedObjectClassName = String(reflecting: Preparer.self)
    let (parts, whole) = (Workshop.toMany("parts", .cascade), Workshop.toOne("whole"))
    Workshop.link(parts, to: entity, whole, to: entity)
    entity.properties = [AttributeDescription(name: "name", type: .string), parts, whole]
    let model = ManagedObjectModel()
    model.entities = [entity]
    return model
  }
}
