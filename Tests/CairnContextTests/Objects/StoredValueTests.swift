// Values by slot: what generated accessors call.
@_spi(Generated) import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 5 of the specification, for values that are read and written by slot.
@Suite struct StoredValueTests {
  private static let types: [(String, AttributeType)] = [
    ("boolean", .boolean), ("data", .binaryData), ("date", .date), ("decimal", .decimal),
    ("double", .double), ("float", .float), ("int16", .integer16), ("int32", .integer32),
    ("int64", .integer64), ("text", .string), ("url", .uri), ("uuid", .uuid),
  ]

  /// One entity with an attribute of each type, another with more than a word has bits.
  private static func model() -> ManagedObjectModel {
    let all = EntityDescription(name: "All")
    let next = RelationshipDescription()
    (next.name, next.maxCount, next.destinationEntity) = ("next", 1, all)
    all.properties = types.map { AttributeDescription(name: $0.0, type: $0.1) } + [next]
    let wide = EntityDescription(name: "Wide")
    wide.properties = (100..<240).map { AttributeDescription(name: "a\($0)", type: .integer64) }
    let model = ManagedObjectModel()
    model.entities = [all, wide]
    return model
  }

  private static func new(_ name: String, in context: ManagedObjectContext) throws
    -> ManagedObject
  {
    let entity = try #require(
      context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name])
    return ManagedObject(entity: entity, insertInto: context)
  }

  private func slot(_ name: String, of object: ManagedObject) throws -> Int {
    try #require(object.entity.layout.slotByName[name])
  }

  private let uuid = UUID()
  private let date = Date(timeIntervalSinceReferenceDate: 7.5)

  private func fill(_ object: ManagedObject) throws {
    let page = try #require(URL(string: "https://example.org/a"))
    let decimal = try #require(Decimal(string: "12.345"))
    let values: [(String, AttributeValue)] = [
      ("boolean", .boolean(true)), ("data", .data(Data(0..<40))), ("date", .date(date)),
      ("decimal", .decimal(decimal)), ("double", .double(2.5)), ("float", .float(1.5)),
      ("int16", .integer(-3)), ("int32", .integer(70_000)), ("int64", .integer(.max)),
      ("text", .string("a text that is too long to be kept in place")), ("url", .url(page)),
      ("uuid", .uuid(uuid)),
    ]
    for (name, value) in values { object.setStoredValue(value, at: try slot(name, of: object)) }
  }

  private func check(_ object: ManagedObject, next: ManagedObjectID) throws {
    let at = { try slot($0, of: object) }
    #expect(object.storedBoolean(at: try at("boolean")) == true)
    #expect(object.storedData(at: try at("data")) == Data(0..<40))
    #expect(object.storedDate(at: try at("date")) == date)
    #expect(object.storedDecimal(at: try at("decimal")) == NSDecimalNumber(string: "12.345"))
    #expect(object.storedDouble(at: try at("double")) == 2.5)
    #expect(object.storedFloat(at: try at("float")) == 1.5)
    #expect(object.storedInteger(at: try at("int16")) == -3)
    #expect(object.storedInteger(at: try at("int32")) == 70_000)
    #expect(object.storedInteger(at: try at("int64")) == .max)
    #expect(
      object.storedString(at: try at("text")) == "a text that is too long to be kept in place")
    #expect(object.storedURL(at: try at("url")) == URL(string: "https://example.org/a"))
    #expect(object.storedUUID(at: try at("uuid")) == uuid)
    #expect(object.storedObjectID(at: try at("next")) == next)
    #expect(object.destination(at: try at("next"))?.objectID == next)
  }

  @Test func eachKindOfValueIsReadByItsOwnFunctionFromNewObjectsFaultsAndReadOnes() throws {
    let stack = try WorkshopStack(model: Self.model())
    let (id, nextID) = try stack.use { context in
      let (object, next) = (try Self.new("All", in: context), try Self.new("All", in: context))
      try fill(object)
      object.setDestination(next, at: try slot("next", of: object))
      try check(object, next: next.objectID)
      try context.save()
      try check(object, next: next.objectID)
      return (object.objectID, next.objectID)
    }
    for (name, _) in Self.types {
      // Each is the one that finds a fault.
      try stack.use { context in
        let object = context.object(with: id)
        let slot = try slot(name, of: object)
        #expect(object.isFault)
        switch name {
        case "boolean": #expect(object.storedBoolean(at: slot) == true)
        case "data": #expect(object.storedData(at: slot) == Data(0..<40))
        case "date": #expect(object.storedDate(at: slot) == date)
        case "decimal": #expect(object.storedDecimal(at: slot) == NSDecimalNumber(string: "12.345"))
        case "double": #expect(object.storedDouble(at: slot) == 2.5)
        case "float": #expect(object.storedFloat(at: slot) == 1.5)
        case "text": #expect(object.storedString(at: slot)?.hasPrefix("a text") == true)
        case "url": #expect(object.storedURL(at: slot)?.host == "example.org")
        case "uuid": #expect(object.storedUUID(at: slot) == uuid)
        default: #expect(object.storedInteger(at: slot) == object.storedInteger(at: slot))
        }
        #expect(!object.isFault)
        try check(object, next: nextID)
      }
    }
  }

  @Test func aValueOfAnotherKindAndNoneReadAsNil() throws {
    try WorkshopStack(model: Self.model()).use { context in
      let object = try Self.new("All", in: context)
      for (name, _) in Self.types {
        let slot = try slot(name, of: object)
        #expect(object.storedInteger(at: slot) == nil && object.storedString(at: slot) == nil)
      }
      try fill(object)
      #expect(object.storedInteger(at: try slot("text", of: object)) == nil)
      #expect(object.storedString(at: try slot("int64", of: object)) == nil)
      #expect(object.storedData(at: try slot("text", of: object)) == nil)
      #expect(object.destination(at: try slot("next", of: object)) == nil)
    }
  }

  @Test func aSlotThatTheEntityDoesNotHaveTraps() async {
    await #expect(processExitsWith: .failure) {
      try WorkshopStack(model: Self.model()).use {
        _ = try Self.new("All", in: $0).storedInteger(at: 13)
      }
    }
    await #expect(processExitsWith: .failure) {
      try WorkshopStack(model: Self.model()).use {
        try Self.new("All", in: $0).setStoredValue(.null, at: -1)
      }
    }
  }

  @Test func slotsBeyondTheFirst64CountAsChangedAndAreForgottenLikeTheOthers() throws {
    let stack = try WorkshopStack(model: Self.model())
    try stack.use { context in
      let object = try Self.new("Wide", in: context)
      for slot in [0, 63, 64, 139] { object.setStoredValue(.integer(Int64(slot)), at: slot) }
      try context.save()
      #expect(!object.hasChanges && object.changedValues().isEmpty)
      for slot in [1, 64, 128] { object.setStoredValue(.integer(-1), at: slot) }
      #expect(object.changedValues().keys.sorted() == ["a101", "a164", "a228"])
      context.rollback()
      #expect(object.changedValues().isEmpty && object.storedInteger(at: 64) == 64)
      object.setStoredValue(.integer(-2), at: 139)
      try context.save()
      context.refresh(object, mergeChanges: false)
      #expect(object.storedInteger(at: 139) == -2 && object.storedInteger(at: 63) == 63)
    }
  }

  @Test func changesBeyondTheFirst64SlotsSurviveARefreshThatMerges() throws {
    let stack = try WorkshopStack(model: Self.model())
    try stack.use { context in
      let object = try Self.new("Wide", in: context)
      try context.save()
      object.setStoredValue(.integer(5), at: 100)
      try stack.use { other in
        other.object(with: object.objectID).setStoredValue(.integer(6), at: 101)
        try other.save()
      }
      context.refresh(object, mergeChanges: true)
      #expect(object.storedInteger(at: 100) == 5 && object.storedInteger(at: 101) == 6)
      #expect(object.changedValues().keys.sorted() == ["a200"])
    }
  }
}
