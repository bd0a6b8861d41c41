// Which class objects have, and what they say about themselves.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

final class Robot: ManagedObject {}
final class Engine: ManagedObject {}

/// Chapters 3.3 and 4 of the specification.
@Suite struct ObjectClassTests {
  private func model(className: String?) -> ManagedObjectModel {
    let entity = EntityDescription(
      name: "Machine", properties: [AttributeDescription(name: "name", type: .string)])
    entity.managedObjectClassName = className
    let model = ManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private func machineType(in model: ManagedObjectModel) throws -> ManagedObject.Type {
    try WorkshopStack(model: model).use { Swift.type(of: $0.make("Machine")) }
  }

  @Test func theModelNamesTheClassOfAnEntitysObjects() throws {
    let module = String(reflecting: Robot.self)
    #expect(try machineType(in: model(className: module)) == Robot.self)
    #expect(try machineType(in: model(className: nil)) == ManagedObject.self)
    #expect(try machineType(in: model(className: "NoSuchClass")) == ManagedObject.self)
  }

  @Test func oneEntityMayHaveAnotherClassInEachModel() throws {
    let (robot, engine) = (String(reflecting: Robot.self), String(reflecting: Engine.self))
    #expect(try machineType(in: model(className: robot)) == Robot.self)
    #expect(try machineType(in: model(className: engine)) == Engine.self)
  }

  @Test func settingNoClassBringsBackTheDefault() {
    let entity = EntityDescription(name: "Machine")
    entity.managedObjectClassName = "Robot"
    entity.managedObjectClassName = nil
    #expect(entity.managedObjectClassName == "NSManagedObject")
  }

  @Test func anObjectOfAnAbstractEntityCannotBeMade() async {
    await #expect(processExitsWith: .failure) {
      try Stack().use { _ = $0.make("Work") }
    }
  }

  @Test func theTextHasClassEntityIDAndData() throws {
    try WorkshopStack(model: model(className: String(reflecting: Robot.self))).use { context in
      let robot = context.make("Machine", ["name": "r2"])
      let address = "0x" + String(UInt(bitPattern: ObjectIdentifier(robot)), radix: 16)
      let text = robot.description
      #expect(text.hasPrefix("<Robot: \(address)> (entity: Machine; id: 0x"))
      #expect(text.contains("<x-coredata:///Machine/t") && text.contains("name = \"r2\";"))
    }
  }

  @Test func anObjectWithoutContextKeepsItsValues() throws {
    let stack = try WorkshopStack()
    let entity = try #require(
      stack.coordinator.managedObjectModel.entitiesByName["Piece"])
    let piece = ManagedObject(entity: entity, insertInto: nil)
    piece.setValue("loose", forKey: "title")
    #expect(piece.managedObjectContext == nil && !piece.isInserted && !piece.isFault)
    try stack.use { context in
      context.insert(piece)
      try context.save()
      #expect(try context.all("Piece", "title == 'loose'") == [piece])
    }
  }

  @Test func aDeletedObjectStaysReadableAfterTheSave() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker", ["name": "Ada"])
      let piece = context.make("Piece", ["title": "axe", "maker": worker])
      try context.save()
      _ = piece.text("title")
      context.delete(piece)
      try context.save()
      #expect(piece.managedObjectContext == nil && !piece.isDeleted)
      #expect(piece.text("title") == "axe" && piece.one("maker") == nil)
      #expect(piece.many("parts").isEmpty)
    }
  }

  @Test func theEntityOfAClassWithoutOneIsEmptyAndNoTrap() throws {
    final class Nobody: ManagedObject {}
    let stack = try WorkshopStack()
    let entity = Nobody.entity()
    #expect(entity.name == nil && entity.managedObjectModel == nil && entity.properties.isEmpty)
    let request: FetchRequest<Nobody> = Nobody.fetchRequest()
    try stack.use { context in
      _ = #expect(throws: CoreDataError.self) { try context.fetch(request) }
    }
  }
}
