// What the library knows about the classes of a program (chapter 2).
import CairnModel
import Testing

@_spi(Generated) @_spi(Runtime) @testable import CairnContext

private final class Plain: ManagedObject {
  var note = ""
  override func awakeFromInsert() { note = "made" }
}
private class Announced: ManagedObject {
  var keys: [String] = []
  override func willChangeValue(forKey key: String) {
    super.willChangeValue(forKey: key)
    keys.append(key)
  }
}
private final class AnnouncedHeir: Announced {}
private class Told: ManagedObject {
  override func didSave() {}
}
private final class ToldHeir: Told {
  override func validateForUpdate() throws { try super.validateForUpdate() }
}
private class Unknown: ManagedObject {}
private final class UnknownHeir: Unknown {}
private final class Naming: ManagedObject {
  override class func entity() -> EntityDescription { named }
}
private let named = EntityDescription(name: "Tag")

/// Chapter 2: classes for entities.
///
/// A class is asked and told only what it has methods for, as far as generated code says what those are.
@Suite struct ClassHooksTests {
  private func hooks(_ type: ManagedObject.Type, _ members: [String]? = nil) -> ClassHooks {
    if let members {
      ManagedObject.registerClass(type, named: String(reflecting: type), overriding: members)
    }
    return ObjectClasses.hooks(of: type)
  }

  @Test func aClassIsAskedAndToldWhatItHasMethodsFor() throws {
    #expect(hooks(ManagedObject.self) == [])
    #expect(hooks(Plain.self, ["awakeFromInsert", "note"]) == .insertion)
    #expect(hooks(Told.self, ["didSave"]) == .saves)
    #expect(hooks(ToldHeir.self, ["validateForUpdate"]) == [.saves, .rules], "both count")
  }

  @Test func everyMemberThatIsSparedHasItsHook() {
    let expected: [ClassHooks: [String]] = [
      .changes: ["willChangeValue", "didChangeValue"], .saves: ["willSave", "didSave"],
      .rules: [
        "keyAccessors", "keyValidators", "value", "setValue", "validateValue", "validateForInsert",
        "validateForUpdate", "validateForDelete",
      ],
      .fetching: ["awakeFromFetch"], .insertion: ["awakeFromInsert"],
      .deletion: ["prepareForDeletion"], .entity: ["entity"],
      []: ["description", "willTurnIntoFault"],
    ]
    for (hook, members) in expected {
      for member in members { #expect(ClassHooks(overriding: [member]) == hook, "\(member)") }
    }
  }

  @Test func aClassThatNothingWasToldOfCountsAsOverridingAll() {
    #expect(hooks(Unknown.self) == .all)
    #expect(hooks(UnknownHeir.self, []) == .all, "its superclass may")
  }

  /// Which may have a say in what its entity is, and here has not.
  @Test func aClassThatNothingWasToldOfMakesObjectsOfTheContextsModel() throws {
    func model() -> ManagedObjectModel {
      let entity = EntityDescription(name: "OfUnknownClass")
      entity.managedObjectClassName = "Unknown"
      let model = ManagedObjectModel()
      model.entities = [entity]
      return model
    }
    try Stack(model: model()).use { context in
      let own = try #require(context.persistentStoreCoordinator?.managedObjectModel)
      try Stack(model: model()).use { _ in
        #expect(Unknown.entity().managedObjectModel !== own, "that of the newest model in use")
        #expect(Unknown(context: context).entity.managedObjectModel === own)
      }
      #expect(ObjectClasses.entity(namedBy: Naming.self, orIn: own) === named)
    }
  }

  @Test func aSlotSetInANewObjectIsAnnouncedToAClassThatWantsToKnow() throws {
    try Stack().use { context in
      let entity = try #require(
        context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Tag"])
      let tag = Announced(entity: entity, insertInto: context)
      let slot = try #require(tag.layout.slotByName["label"])
      tag.setStoredValue(.string("a"), at: slot)
      #expect(tag.keys == ["label"] && tag.text("label") == "a")
      context.delete(tag)
    }
  }
}
