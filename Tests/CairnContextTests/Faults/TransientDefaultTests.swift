// Chapters 3.5, 6 and 10.2 of the specification.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// A required transient attribute with a default has that default whenever its object was read.
@Suite struct TransientDefaultTests {
  /// A note with a stored title and transient attributes of several kinds.
  private func model() -> ManagedObjectModel {
    func transient(
      _ name: String, _ type: AttributeType, optional: Bool = false, default value: Any?
    ) -> AttributeDescription {
      let attribute = AttributeDescription(
        name: name, type: type, isOptional: optional, defaultValue: value)
      attribute.isTransient = true
      return attribute
    }
    let place = CompositeAttributeDescription()
    (place.name, place.isTransient, place.isOptional) = ("place", true, false)
    place.elements = [AttributeDescription(name: "row", type: .integer16, defaultValue: 5)]
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Note",
        properties: [
          AttributeDescription(name: "title", type: .string),
          transient("length", .integer32, default: 7), transient("state", .string, default: "new"),
          transient("hint", .string, optional: true, default: "none"),
          transient("scratch", .undefined, default: "blank"), place,
        ])
    ]
    return model
  }

  private func expectDefaults(
    of note: ManagedObject, _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(note.number("length") == 7, sourceLocation: place)
    #expect(note.text("state") == "new", sourceLocation: place)
    #expect(note.text("scratch") == "blank", sourceLocation: place)
    #expect(note.value(forKeyPath: "place.row") as? Int == 5, sourceLocation: place)
    #expect(!note.hasChanges && note.changedValues().isEmpty, sourceLocation: place)
  }

  @Test(arguments: StoreChoice.allCases)
  func afterAFetchARefreshAndAFaultTheDefaultIsThere(choice: StoreChoice) throws {
    let stack = try Stack(in: choice, model: model())
    try stack.use { context in
      let note = context.make("Note", ["title": "a"])
      #expect(note.number("length") == 7 && note.text("scratch") == "blank")
      try context.save()
    }
    try stack.use { context in
      let note = try #require(try context.all("Note").first)
      expectDefaults(of: note)
      context.refresh(note, mergeChanges: false)
      #expect(note.isFault)
      expectDefaults(of: note)
      context.refresh(note, mergeChanges: true)
      expectDefaults(of: note)
      context.refreshAllObjects()
      expectDefaults(of: note)
      let same = context.object(with: note.objectID)
      #expect(same === note)
    }
    try stack.use { context in
      let id = try #require(try context.all("Note").first?.objectID)
      context.reset()
      expectDefaults(of: try context.existingObject(with: id))
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aFetchedObjectCanBeSavedAgain(choice: StoreChoice) throws {
    let stack = try Stack(in: choice, model: model())
    try stack.use { context in
      context.make("Note", ["title": "a"])
      try context.save()
    }
    try stack.use { context in
      let note = try #require(try context.all("Note").first)
      note.setValue("b", forKey: "title")
      try context.save()
      expectDefaults(of: note)
    }
    let titles = try stack.use { try $0.all("Note", "title == 'b'").count }
    #expect(titles == 1)
  }

  @Test func anOptionalTransientAttributeIsNilAfterAFetch() throws {
    let stack = try Stack(model: model())
    try stack.use { context in
      #expect(context.make("Note").text("hint") == "none")
      try context.save()
    }
    try stack.use { context in
      let note = try #require(try context.all("Note").first)
      #expect(note.value(forKey: "hint") == nil)
    }
  }

  @Test func aValueThatWasSetIsKeptUntilTheObjectIsRefreshed() throws {
    try Stack(model: model()).use { context in
      let note = context.make("Note", ["length": 9, "title": "a"])
      try context.save()
      #expect(note.number("length") == 9)
      note.setValue("b", forKey: "title")
      note.setValue(11, forKey: "length")
      context.refresh(note, mergeChanges: true)
      #expect(note.number("length") == 11 && note.text("title") == "b")
      note.setValue(nil, forKey: "state")
      context.refresh(note, mergeChanges: true)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      context.rollback()
      expectDefaults(of: note)
    }
  }

  @Test func aMergeLeavesTheDefault() throws {
    let stack = try Stack(model: model())
    let context = stack.context()
    try context.performAndWait {
      let note = context.make("Note", ["title": "a"])
      try context.save()
      let recorder = Recorder()
      try stack.use { other in
        let token = recorder.record(other)
        try #require(try other.all("Note").first).setValue("b", forKey: "title")
        try other.save()
        NotificationCenter.default.removeObserver(token)
      }
      context.mergeChanges(fromContextDidSave: try #require(recorder.notification))
      #expect(note.text("title") == "b")
      expectDefaults(of: note)
    }
  }

  @Test func aChildHasTheDefaultToo() throws {
    let parent = try Stack(model: model()).context()
    try parent.performAndWait {
      parent.make("Note", ["title": "a", "length": 9])
      try parent.save()
    }
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    try child.performAndWait {
      let note = try #require(try child.all("Note").first)
      expectDefaults(of: note)
      note.setValue("b", forKey: "title")
      try child.save()
    }
  }
}

/// Keeps the last did-save notification.
// Unchecked: used by one test at a time, which waits for the save.
private final class Recorder: @unchecked Sendable {
  private(set) var notification: Notification?

  func record(_ context: ManagedObjectContext) -> any NSObjectProtocol {
    NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
    ) { [weak self] in self?.notification = $0 }
  }
}
