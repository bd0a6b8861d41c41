// Which class objects have, when the program does not have the one that the model names, or not yet.
import CairnModel
import CairnStore
import Foundation
import Testing

@_spi(Runtime) @testable import CairnContext

/// Chapter 4: the class of an entity's objects, found once.
@Suite struct ClassLookupTests {
  private func entity(className: String) -> EntityDescription {
    let entity = EntityDescription(name: "E" + className)
    entity.managedObjectClassName = className
    entity.properties = [AttributeDescription(name: "title", type: .string, isOptional: true)]
    return entity
  }

  private func stack(_ entities: [EntityDescription]) throws -> Stack {
    let model = ManagedObjectModel()
    model.entities = entities
    return try Stack(model: model)
  }

  final class RegisteredLater: ManagedObject {}
  final class RegisteredByName: ManagedObject {}

  @Test func aClassThatIsRegisteredAfterAMissIsFound() throws {
    let (a, b) = (entity(className: "MissingA"), entity(className: "MissingB"))
    try stack([a, b]).use { context in
      for entity in [a, b] {
        let object = EntityDescription.insertNewObject(
          forEntityName: entity.name ?? "", into: context)
        #expect(type(of: object) == ManagedObject.self)
        #expect(ObjectClasses.type(for: entity) == ManagedObject.self)
      }
      RegisteredLater.registerClass(forEntityName: "EMissingA")
      // As the companion of a library does that was loaded meanwhile.
      ManagedObject.registerClass(RegisteredByName.self, named: "MissingB")
      #expect(context.make("EMissingA") is RegisteredLater)
      #expect(context.make("EMissingB") is RegisteredByName)
    }
  }

  @Test func aClassThatTheProgramUsesAfterAMissIsFound() throws {
    let used = entity(className: "UsedLater")
    let stack = try stack([used])
    try stack.use { context in
      #expect(!(context.make("EUsedLater") is UsedLater))
    }
    try stack.use { context in
      // The name in the model tells nothing of the module; the use does.
      _ = try context.fetch(FetchRequest<UsedLater>(entityName: "EUsedLater"))
      #expect(context.make("EUsedLater") is UsedLater)
    }
  }

  final class UsedLater: ManagedObject {}

  @Test func aLibraryThatIsLoadedLaterMakesTheNextLookUpAskAgain() throws {
    let before = ObjectClasses.loads
    #expect(ObjectClasses.loads == before)
    let missed = entity(className: "InALibrary")
    try stack([missed]).use { context in
      #expect(type(of: context.make("EInALibrary")) == ManagedObject.self)
      let kind = context.factory.kind(for: missed)
      #expect(kind.missedAt == before || kind.mayBeOutdated)
      // Any library that nothing here links.
      let names = [
        "libthread_db.so.1", "libBrokenLocale.so.1", "libnss_hesiod.so.2", "libpcprofile.so",
      ]
      guard names.contains(where: { dlopen($0, RTLD_NOW) != nil }) else { return }
      #expect(ObjectClasses.loads > before)
      #expect(kind.mayBeOutdated)
      #expect(type(of: context.make("EInALibrary")) == ManagedObject.self)
    }
  }

  @Test func theRuntimeIsNotAskedAgainForAClassThatItDoesNotHave() throws {
    let missing = entity(className: "NowhereToBeFound")
    try stack([missing]).use { context in
      let before = ObjectClasses.searches
      for _ in 0..<5000 { context.make("ENowhereToBeFound") }
      // Tests beside this one have a few classes looked up, too.
      #expect(ObjectClasses.searches - before < 1000)
    }
    // Nor by a context that has looked nothing up yet.
    let before = ObjectClasses.searches
    for _ in 0..<5000 { _ = ObjectClasses.type(for: missing) }
    #expect(ObjectClasses.searches - before < 1000)
  }
}
