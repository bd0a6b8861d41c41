// Classes and calls as programs for Apple's platforms have them, with what they do.

import CoreData
import Testing

private final class ShapeRoom: NSManagedObject {
  let made: Int

  init(number: Int64, context: NSManagedObjectContext) {
    made = 1
    let known = NSEntityDescription.entity(forEntityName: "ShapeRoom", in: context)
    guard let entity = known else { fatalError("The model lacks ShapeRoom.") }
    super.init(entity: entity, insertInto: context)
    setPrimitiveValue(number, forKey: "number")
  }

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    made = 2
    super.init(entity: entity, insertInto: context)
  }
}

/// A class that no entity names.
private final class ShapeNamed: NSManagedObject {
  nonisolated(unsafe) static var model: NSManagedObjectModel?

  override class func entity() -> NSEntityDescription {
    model?.entitiesByName["ShapeDoor"] ?? NSEntityDescription()
  }
  override class func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> {
    let request = super.fetchRequest()
    request.fetchLimit = 1
    return request
  }
}

private final class ShapeDoor: NSManagedObject {}
/// A class of no entity.
private final class ShapeStray: NSManagedObject {}

extension ShapeDoor {
  @nonobjc fileprivate class func fetchRequest() -> NSFetchRequest<ShapeDoor> {
    let request = NSFetchRequest<ShapeDoor>(entityName: "ShapeDoor")
    request.fetchLimit = 7
    return request
  }
}

/// A helper for results of any type, as `NSFetchedResultsController` is.
private struct Page<Result: NSFetchRequestResult> {
  let request: NSFetchRequest<Result>
}
extension NSFetchRequest {
  fileprivate var page: Page<ResultType> { Page(request: self) }
}

private final class Doubling: ValueTransformer, @unchecked Sendable {
  let factor: Int
  override init() {
    factor = 2
    super.init()
  }
  override func transformedValue(_ value: Any?) -> Any? { (value as? Int).map { $0 * factor } }
}

extension NSPersistentStoreCoordinator {
  fileprivate convenience init(inMemory model: NSManagedObjectModel) throws {
    self.init(managedObjectModel: model)
    try addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  }
}

/// Chapters 4 and 16 of the specification: classes of objects, their entities and requests.
@Suite struct ClassShapeTests {
  private func context() throws -> NSManagedObjectContext {
    let model = NSManagedObjectModel()
    model.entities = ["ShapeRoom", "ShapeDoor"].map { name in
      let number = NSAttributeDescription()
      number.name = "number"
      number.attributeType = .integer64AttributeType
      number.isOptional = true
      let entity = NSEntityDescription()
      entity.name = name
      entity.managedObjectClassName = name
      entity.properties = [number]
      return entity
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = try NSPersistentStoreCoordinator(inMemory: model)
    return context
  }

  @Test func anInitializerOfAClassCallsTheDesignatedOneWithAContext() throws {
    let context = try context()
    try context.performAndWait {
      let room = ShapeRoom(number: 4, context: context)
      #expect(room.made == 1 && room.value(forKey: "number") as? Int == 4 && room.isInserted)
      #expect(ShapeRoom(context: context).made == 2)
      try context.save()
    }
  }

  @Test func initializersAndRequestsAskAnOverriddenEntity() throws {
    let context = try context()
    ShapeNamed.model = context.persistentStoreCoordinator?.managedObjectModel
    defer { ShapeNamed.model = nil }
    context.performAndWait {
      #expect(ShapeNamed(context: context).entity.name == "ShapeDoor")
      let request = ShapeNamed.fetchRequest()
      #expect(request.fetchLimit == 1 && request.entityName == "ShapeDoor")
      let typed: NSFetchRequest<ShapeNamed> = ShapeNamed.fetchRequest()
      #expect(typed.entityName == "ShapeDoor")
    }
  }

  @Test func requestsAreOfAnyResultUnlessAskedForAType() throws {
    let context = try context()
    try context.performAndWait { () throws -> Void in
      _ = ShapeRoom(context: context)
      _ = NSEntityDescription.insertNewObject(forEntityName: "ShapeDoor", into: context)
      try context.save()
      let untyped = ShapeRoom.fetchRequest()
      #expect(type(of: untyped) == NSFetchRequest<NSFetchRequestResult>.self)
      #expect(try context.fetch(untyped).first is ShapeRoom)
      let typed: NSFetchRequest<ShapeRoom> = ShapeRoom.fetchRequest()
      #expect(try context.fetch(typed).map(\.made) == [2])
      let own: NSFetchRequest<ShapeDoor> = ShapeDoor.fetchRequest()
      #expect(own.fetchLimit == 7, "a generated one")
      let general: NSFetchRequest<NSFetchRequestResult> = ShapeDoor.fetchRequest()
      #expect(general.fetchLimit == 0, "and the one of any result beside it")
      let deletion = NSBatchDeleteRequest(fetchRequest: untyped)
      #expect(deletion.fetchRequest.entityName == "ShapeRoom")
    }
  }

  @Test func whatIsForResultsTakesEveryRequest() {
    let request = NSFetchRequest<NSDictionary>(entityName: "ShapeRoom")
    #expect(request.page.request === request)
    let general = NSFetchRequest<NSFetchRequestResult>(entityName: "ShapeRoom")
    #expect(general.page.request === general)
    #expect(NSFetchRequest<NSManagedObjectID>().page.request.entityName == nil)
  }

  @Test func objectsConflictsAndIDsAreMadeWithoutArguments() throws {
    let context = try context()
    context.performAndWait {
      let room = ShapeRoom()
      #expect(room.managedObjectContext == nil && room.entity.name == "ShapeRoom")
      room.setValue(3, forKey: "number")
      #expect(room.value(forKey: "number") as? Int == 3)
      context.insert(room)
      #expect(context.insertedObjects == [room])
    }
    let stray = ShapeStray()
    #expect(stray.entity.propertiesByName.isEmpty && !stray.description.isEmpty)
    let conflict = NSConstraintConflict()
    #expect(conflict.constraint.isEmpty && conflict.conflictingObjects.isEmpty)
    #expect(conflict.databaseObject == nil && conflict.constraintValues.isEmpty)
    let (one, other) = (NSManagedObjectID(), NSManagedObjectID())
    #expect(one == one && one != other && one.isTemporaryID && one.persistentStore == nil)
    #expect(!one.uriRepresentation().absoluteString.isEmpty && !one.description.isEmpty)
  }

  @Test func foundationsTransformersIntoTruthAreThere() throws {
    let isNil = try #require(ValueTransformer(forName: .isNilTransformerName))
    #expect(isNil.transformedValue(nil) as? Bool == true)
    #expect(isNil.transformedValue("a") as? Bool == false)
    let isNotNil = try #require(ValueTransformer(forName: .isNotNilTransformerName))
    #expect(isNotNil.transformedValue(nil) as? Bool == false)
    #expect(isNotNil.transformedValue("a") as? Bool == true)
    #expect(!Swift.type(of: isNotNil).allowsReverseTransformation())
    let negation = try #require(ValueTransformer(forName: .negateBooleanTransformerName))
    #expect(negation.transformedValue(true) as? Bool == false)
    #expect(negation.reverseTransformedValue(NSNumber(value: false)) as? Bool == true)
    #expect(NSValueTransformerName.negateBooleanTransformerName.rawValue == "NSNegateBoolean")
    #expect(ValueTransformer.valueTransformerNames().contains(.isNilTransformerName))
  }

  @Test func aTransformerIsMadeByItsMetatype() {
    let type: ValueTransformer.Type = Doubling.self
    let made = type.init()
    #expect(made is Doubling && made.transformedValue(4) as? Int == 8)
  }
}
