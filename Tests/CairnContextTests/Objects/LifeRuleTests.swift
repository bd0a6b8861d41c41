// States, hooks and identity of an object, rule by rule (chapter 4).
@testable import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 4: managed object life cycle.
@Suite struct LifeRuleTests {
  private func state(_ object: ManagedObject) -> String {
    var words: [String] = []
    if object.managedObjectContext == nil { words.append("loose") }
    if object.isInserted { words.append("inserted") }
    if object.isUpdated { words.append("updated") }
    if object.isDeleted { words.append("deleted") }
    if object.hasChanges { words.append("changed") }
    if object.hasPersistentChangedValues { words.append("persistently") }
    if object.isFault { words.append("fault") }
    return words.joined(separator: " ")
  }

  /// An edit screen's draft, which is put into the context when the user is done.
  @Test(arguments: [true, false])
  func anObjectThatIsInsertedLaterLeadsToWhatWasSavedMeanwhile(isSetFromTheDraft: Bool) throws {
    try Stack().use { context in
      let entity = try #require(EntityDescription.entity(forEntityName: "Book", in: context))
      let author = EntityDescription.insertNewObject(forEntityName: "Author", into: context)
      let book = ManagedObject(entity: entity, insertInto: nil)
      if isSetFromTheDraft {
        book.setValue(author, forKey: "author")
      } else {
        author.mutableSetValue(forKey: "books").add(book)
      }
      try context.save()
      context.insert(book)
      #expect(book.value(forKey: "author") as? ManagedObject === author)
      try context.save()
      for object in [book, author] { context.refresh(object, mergeChanges: false) }
      #expect(book.value(forKey: "author") as? ManagedObject === author)
      #expect(author.value(forKey: "books") as? Set<ManagedObject> == [book])
    }
  }

  @Test(arguments: [true, false])
  func anUnsavedObjectInsertedAgainLeadsToWhatItLedToBefore(isSavedMeanwhile: Bool) throws {
    try Stack().use { context in
      let author = context.make("Author")
      let (book, passport) = (context.make("Book"), context.make("Passport"))
      book.setValue(author, forKey: "author")
      passport.setValue(author, forKey: "owner")
      for object in [book, passport] { context.delete(object) }
      if isSavedMeanwhile { try context.save() } else { context.processPendingChanges() }
      #expect(author.many("books").isEmpty && author.one("passport") == nil)
      for object in [book, passport] { context.insert(object) }
      #expect(author.many("books") == [book] && author.one("passport") === passport)
      try context.save()
      for object in [author, book, passport] { context.refresh(object, mergeChanges: false) }
      #expect(book.one("author") === author && passport.one("owner") === author)
      #expect(author.many("books") == [book] && author.one("passport") === passport)
    }
  }

  /// In a process of its own: drafts are counted for all contexts together.
  @Test func aSaveForgetsTemporaryIDsUnlessADraftMayLeadToThem() async {
    await #expect(processExitsWith: .success) {
      try Stack().use { context in
        func saved() throws -> ManagedObjectID {
          let author = EntityDescription.insertNewObject(forEntityName: "Author", into: context)
          let book = EntityDescription.insertNewObject(forEntityName: "Book", into: context)
          book.setValue(author, forKey: "author")
          let id = author.objectID
          try context.save()
          return context.registry.current(id)
        }
        #expect(try saved().isTemporaryID)
        let entity = try #require(EntityDescription.entity(forEntityName: "Book", in: context))
        var draft: ManagedObject? = ManagedObject(entity: entity, insertInto: nil)
        let author = EntityDescription.insertNewObject(forEntityName: "Author", into: context)
        draft?.setValue(author, forKey: "author")
        #expect(try !saved().isTemporaryID)
        context.reset()
        draft = nil
        #expect(try saved().isTemporaryID, "nothing leads to it any more")
      }
    }
  }

  @Test func anObjectGoesThroughItsStates() throws {
    try Stack().use { context in
      let entity = try #require(EntityDescription.entity(forEntityName: "Book", in: context))
      let book = ManagedObject(entity: entity, insertInto: nil)
      #expect(state(book) == "loose" && book.objectID.isTemporaryID)
      context.insert(book)
      #expect(state(book) == "inserted changed")
      book.setValue("a", forKey: "title")
      #expect(state(book) == "inserted changed persistently")
      try context.save()
      #expect(state(book) == "" && !book.objectID.isTemporaryID)
      book.setValue("a", forKey: "title")
      #expect(state(book) == "updated changed", "an equal value")
      book.setValue("b", forKey: "title")
      #expect(state(book) == "updated changed persistently")
      try context.save()
      #expect(state(book) == "")
      context.refresh(book, mergeChanges: false)
      #expect(state(book) == "fault")
      context.delete(book)
      #expect(state(book) == "deleted changed")
      try context.save()
      #expect(state(book) == "loose")
    }
  }

  @Test func aTransientChangeIsAChangeButNoPersistentOne() throws {
    try Stack().use { context in
      let author = context.make("Author")
      try context.save()
      author.setValue("glad", forKey: "mood")
      #expect(state(author) == "updated changed")
    }
  }

  @Test func insertionIsRegistrationDefaultsAndThenAwaking() throws {
    let stack = try WorkshopStack(model: Waker.model())
    try stack.use { context in
      let waker = try #require(context.make("Waker") as? Waker)
      #expect(waker.seen == ["name default", "inserted true", "registered true"])
      #expect(waker.text("name") == "set while awaking" && context.insertedObjects == [waker])
      try context.save()
      let stored = try stack.use { try $0.all("Waker").first?.text("name") }
      #expect(stored == "set while awaking")
    }
  }

  @Test func whatAwakeFromInsertSetsIsPartOfTheInsertion() throws {
    try WorkshopStack(model: Waker.model()).use { context in
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      let waker = try #require(context.make("Waker") as? Waker)
      context.processPendingChanges()
      #expect(manager.undoCount == 1)
      context.undo()
      #expect(!context.hasChanges && !manager.canUndo)
      context.redo()
      #expect(waker.text("name") == "set while awaking" && waker.seen.count == 3)
    }
  }

  @Test func awakeFromFetchComesEachTimeAFaultIsFilled() throws {
    try Stack().use { context in
      let author = try #require(context.make("Author") as? Author)
      try context.save()
      author.calls = []
      for _ in 0..<2 {
        context.refresh(author, mergeChanges: false)
        _ = author.name
      }
      let fault = ["willTurnIntoFault", "didTurnIntoFault", "awakeFromFetch"]
      #expect(author.calls == fault + fault)
    }
  }

  @Test func theFlagsOfSnapshotEventsHaveCoreDatasNumbers() {
    let flags: [SnapshotEventType] = [
      .undoInsertion, .undoDeletion, .undoUpdate, .rollback, .refresh, .mergePolicy,
    ]
    #expect(flags.map(\.rawValue) == [2, 4, 8, 16, 32, 64])
  }

  @Test func identityIsThatOfTheObject() throws {
    let stack = try Stack()
    try stack.use { context in
      let author = context.make("Author")
      try context.save()
      try stack.use { other in
        let same = try other.existingObject(with: author.objectID)
        #expect(same != author && same.objectID == author.objectID)
        #expect(same.objectID.hash == author.objectID.hash)
      }
      #expect(try context.existingObject(with: author.objectID) === author)
    }
  }

  @Test func aClassWithoutExactlyOneEntityCannotMakeObjects() async {
    await #expect(processExitsWith: .failure) {
      let (a, b) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
      for entity in [a, b] {
        entity.managedObjectClassName = String(reflecting: Robot.self)
        entity.properties = [AttributeDescription(name: "name", type: .string)]
      }
      let model = ManagedObjectModel()
      model.entities = [a, b]
      try WorkshopStack(model: model).use { _ = Robot(context: $0) }
    }
    await #expect(processExitsWith: .failure) {
      try Stack().use { _ = Engine(context: $0) }
    }
  }

  @Test func unmodelledChangesMakeAnObjectDirtyOnlyIfItsClassSaysSo() throws {
    let model = Waker.model()
    try WorkshopStack(model: model).use { context in
      let waker = try #require(context.make("Waker") as? Waker)
      try context.save()
      waker.willChangeValue(forKey: "notInTheModel")
      waker.didChangeValue(forKey: "notInTheModel")
      #expect(waker.hasChanges && !waker.hasPersistentChangedValues)
    }
    try Stack().use { context in
      let author = context.make("Author")
      try context.save()
      author.willChangeValue(forKey: "notInTheModel")
      author.didChangeValue(forKey: "notInTheModel")
      #expect(!author.hasChanges && ManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
    }
  }
}

/// An object that looks around when it is inserted.
final class Waker: ManagedObject {
  var seen: [String] = []

  override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    seen.append("name \(text("name") ?? "nil")")
    seen.append("inserted \(isInserted)")
    seen.append("registered \(managedObjectContext?.registeredObject(for: objectID) === self)")
    setValue("set while awaking", forKey: "name")
  }

  static func model() -> ManagedObjectModel {
    let entity = EntityDescription(
      name: "Waker",
      properties: [AttributeDescription(name: "name", type: .string, defaultValue: "default")])
    entity.managedObjectClassName = String(reflecting: Waker.self)
    let model = ManagedObjectModel()
    model.entities = [entity]
    return model
  }
}
