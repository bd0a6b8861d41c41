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
private final class Told: ManagedObject {
  override func didSave() {}
}
private final class Ruled: ManagedObject {
  override func validateForUpdate() throws { try super.validateForUpdate() }
}
private final class Keyed: ManagedObject {
  override class var keyValidators: [String: KeyValidator] { [:] }
}

/// Chapter 2: classes for entities.
///
/// A class is asked and told only what it has methods for.
@Suite struct ClassTraitTests {
  private static let all: ObjectFlags = [.hearsOfChanges, .hearsOfSaves, .hasOwnRules]

  private func traits(_ type: ManagedObject.Type) throws -> ObjectFlags {
    let model = Library.model()
    try model.prepareForUse()
    let entity = try #require(model.entitiesByName["Tag"])
    return withExtendedLifetime(model) {
      type.init(detachedFrom: entity).flags.intersection(Self.all)
    }
  }

  @Test func aClassIsAskedAndToldWhatItHasMethodsFor() throws {
    #expect(try traits(ManagedObject.self) == [])
    #expect(try traits(Plain.self) == [])
    #expect(try traits(Announced.self) == .hearsOfChanges)
    #expect(try traits(AnnouncedHeir.self) == .hearsOfChanges, "methods are inherited")
    #expect(try traits(Told.self) == .hearsOfSaves)
    #expect(try traits(Ruled.self) == .hasOwnRules)
    #expect(try traits(Keyed.self) == .hasOwnRules)
    #expect(try traits(Author.self) == .hearsOfSaves)
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
