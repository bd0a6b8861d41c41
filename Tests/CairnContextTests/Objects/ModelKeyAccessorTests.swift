// Properties of a class for keys that the model has as well.
@_spi(Generated) import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// An event whose class computes the title of its section, and shows a number as an enumeration.
private class Event: ManagedObject {
  enum Level: Int { case low = 1, high = 2 }

  /// A transient attribute.
  var section: String? {
    willAccessValue(forKey: "section")
    let known = primitiveValue(forKey: "section") as? String
    didAccessValue(forKey: "section")
    if let known { return known }
    let made = "Year \(primitiveValue(forKey: "year") as? Int ?? 0)"
    setPrimitiveValue(made, forKey: "section")
    return made
  }

  var level: Level {
    get { Level(rawValue: primitiveValue(forKey: "level") as? Int ?? 1) ?? .low }
    set {
      willChangeValue(forKey: "level")
      setPrimitiveValue(newValue.rawValue, forKey: "level")
      didChangeValue(forKey: "level")
    }
  }

  /// Shown in capitals, stored as it was given; cannot be set.
  var name: String? { (primitiveValue(forKey: "name") as? String)?.uppercased() }
}

/// Inherits the accessors.
private final class Feast: Event {}

/// Chapter 5 of the specification: key-value access looks for custom accessors first.
@Suite struct ModelKeyAccessorTests {
  /// What the companion file of this target would say.
  private static let registered: Void = {
    ClassProperties.add("section", \Event.section)
    ClassProperties.add("level", \Event.level)
    ClassProperties.add("name", \Event.name)
    Event.registerClass(Event.self, named: "Event", overriding: [])
    Feast.registerClass(Feast.self, named: "Feast", overriding: [])
  }()

  private static func model() -> ManagedObjectModel {
    let event = EntityDescription(name: "Event")
    let feast = EntityDescription(name: "Feast")
    for entity in [event, feast] { entity.managedObjectClassName = entity.name ?? "" }
    let section = AttributeDescription(name: "section", type: .string)
    section.isTransient = true
    let name = AttributeDescription(name: "name", type: .string)
    name.setValidationPredicates(
      [ObjectPredicate(format: "SELF MATCHES '[a-z]+'")], withValidationWarnings: ["small"])
    event.properties = [
      section, name, AttributeDescription(name: "year", type: .integer64),
      AttributeDescription(name: "level", type: .integer16, defaultValue: 1),
    ]
    event.subentities = [feast]
    let model = ManagedObjectModel()
    model.entities = [event, feast]
    return model
  }

  private func use(_ body: (ManagedObjectContext) throws -> Void) throws {
    _ = Self.registered
    try WorkshopStack(model: Self.model()).use(body)
  }

  @Test func theClassIsAskedForItsKey() throws {
    try use { context in
      let event = context.make("Event", ["year": 1969, "name": "moon"])
      #expect(event.value(forKey: "section") as? String == "Year 1969")
      #expect(event.value(forKey: "name") as? String == "MOON")
      #expect(event.value(forKey: "level") as? Int == 1, "a number, as the model says")
      let feast = context.make("Feast", ["year": 2000])
      #expect(feast.value(forKey: "section") as? String == "Year 2000")
      #expect(ObjectPredicate(format: "name == 'MOON'").evaluate(with: event))
      #expect(event.primitiveValue(forKey: "name") as? String == "moon")
    }
  }

  @Test func aPropertyThatCanBeSetIsSet() throws {
    try use { context in
      let event = context.make("Event", ["name": "moon"])
      event.setValue(2, forKey: "level")
      #expect((event as? Event)?.level == .high)
      try context.save()
      #expect(event.committedValues(forKeys: ["level"])["level"] as? Int == 2)
      event.setValue("mars", forKey: "name")
      #expect(event.primitiveValue(forKey: "name") as? String == "mars", "the model's own setter")
    }
  }

  /// The name would break its rule in capitals.
  @Test func whatIsStoredAndValidatedIsWhatTheObjectHolds() throws {
    try use { context in
      let event = context.make("Event", ["name": "moon", "year": 1969])
      #expect(event.changedValues()["name"] as? String == "moon")
      try context.save()
      context.refresh(event, mergeChanges: false)
      #expect(event.primitiveValue(forKey: "name") == nil, "a fault")
      event.willAccessValue(forKey: nil)
      #expect(event.primitiveValue(forKey: "name") as? String == "moon")
      event.setValue("MARS", forKey: "name")
      #expect(throws: CoreDataError.self) { try context.save() }
    }
  }

  @Test func aClassThatNothingIsKnownOfIsValidatedByWhatItHoldsToo() throws {
    final class Unknown: ManagedObject {
      var name: String? { (primitiveValue(forKey: "name") as? String)?.uppercased() }
    }
    ClassProperties.add("name", \Unknown.name)
    let model = Self.model()
    model.entitiesByName["Feast"]?.managedObjectClassName = "Unknown"
    Unknown.registerClass(Unknown.self, named: "Unknown")
    try WorkshopStack(model: model).use { context in
      let object = context.make("Feast", ["name": "moon"])
      #expect(object.value(forKey: "name") as? String == "MOON")
      try context.save()
    }
  }

  @Test func sectionsAreThoseThatTheClassComputes() throws {
    try use { context in
      for year in [1969, 1969, 1984] { context.make("Event", ["year": year]) }
      try context.save()
      context.reset()
      let request = FetchRequest<ManagedObject>(entityName: "Event")
      request.sortDescriptors = [ObjectSortDescriptor(key: "year", ascending: true)]
      let controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "section",
        cacheName: nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["Year 1969", "Year 1984"])
    }
  }
}
