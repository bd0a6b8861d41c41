// A model with every kind of property, for the rules about single objects.
import CairnAtomicStores
import CairnPredicates
import TestSupport
@_spi(Runtime) import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation

/// Workers make pieces; a piece has one value of each kind, and parts in an order.
enum Workshop {
  static func model() -> ManagedObjectModel {
    let worker = EntityDescription(name: "Worker")
    worker.managedObjectClassName = "Worker"
    let piece = EntityDescription(name: "Piece")
    let special = EntityDescription(name: "SpecialPiece")
    piece.subentities = [special]

    let pieces = toMany("pieces")
    let maker = toOne("maker")
    link(pieces, to: piece, maker, to: worker)
    let partner = toOne("partner")
    (partner.destinationEntity, partner.inverseRelationship) = (worker, partner)
    let students = toMany("students", ordered: true)
    let teachers = toMany("teachers", ordered: true)
    link(students, to: worker, teachers, to: worker)
    let parts = toMany("parts", ordered: true)
    let whole = toOne("whole")
    link(parts, to: piece, whole, to: piece)

    worker.properties = [
      AttributeDescription(name: "name", type: .string),
      AttributeDescription(name: "age", type: .integer16, isOptional: false, defaultValue: 20),
      AttributeDescription(name: "code", type: .integer32, isOptional: false, defaultValue: -1),
      derived("pieceCount", "pieces.@count"), derived("plainName", "canonical:(name)"),
      fetched("heavyPieces", "maker == $FETCH_SOURCE AND weight >= 10"),
      fetched("wanted", "title == $FETCHED_PROPERTY.userInfo.title"),
      pieces, partner, students, teachers,
    ]
    (worker.propertiesByName["wanted"])?.userInfo = ["title": "hammer"]
    piece.properties = [
      AttributeDescription(name: "title", type: .string),
      AttributeDescription(name: "weight", type: .double, defaultValue: 0),
      AttributeDescription(name: "price", type: .decimal),
      AttributeDescription(name: "made", type: .date),
      AttributeDescription(name: "photo", type: .binaryData),
      AttributeDescription(name: "uuid", type: .uuid),
      AttributeDescription(name: "page", type: .uri),
      AttributeDescription(name: "colours", type: .transformable),
      AttributeDescription(name: "isSold", type: .boolean, defaultValue: false),
      scratch, size, maker, parts, whole,
    ]
    special.properties = [AttributeDescription(name: "reason", type: .string)]
    piece.attributesByName["photo"]?.allowsExternalBinaryDataStorage = true
    let model = ManagedObjectModel()
    model.entities = [worker, piece, special]
    return model
  }

  private static var scratch: AttributeDescription {
    let scratch = AttributeDescription(name: "scratch", type: .undefined)
    scratch.isTransient = true
    return scratch
  }

  private static var size: CompositeAttributeDescription {
    let origin = CompositeAttributeDescription()
    origin.name = "origin"
    origin.elements = [
      AttributeDescription(name: "x", type: .double),
      AttributeDescription(name: "y", type: .double),
    ]
    let size = CompositeAttributeDescription()
    size.name = "size"
    size.elements = [
      AttributeDescription(name: "height", type: .double, defaultValue: 1),
      AttributeDescription(name: "unit", type: .string), origin,
    ]
    return size
  }

  private static func derived(_ name: String, _ expression: String) -> AttributeDescription {
    let attribute = DerivedAttributeDescription()
    attribute.name = name
    attribute.attributeType = name == "pieceCount" ? .integer64 : .string
    attribute.derivationExpression = ObjectExpression(format: expression)
    return attribute
  }

  private static func fetched(_ name: String, _ format: String) -> FetchedPropertyDescription {
    let property = FetchedPropertyDescription()
    property.name = name
    property.template = FetchRequestTemplate(
      entityName: "Piece", predicate: ObjectPredicate(format: format))
    property.template?.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
    return property
  }

  static func toOne(_ name: String, _ rule: DeleteRule = .nullify) -> RelationshipDescription {
    let relationship = toMany(name, rule)
    relationship.maxCount = 1
    return relationship
  }

  static func toMany(
    _ name: String, _ rule: DeleteRule = .nullify, ordered: Bool = false
  ) -> RelationshipDescription {
    let relationship = RelationshipDescription()
    relationship.name = name
    relationship.deleteRule = rule
    relationship.isOrdered = ordered
    return relationship
  }

  static func link(
    _ a: RelationshipDescription, to entity: EntityDescription, _ b: RelationshipDescription,
    to other: EntityDescription
  ) {
    (a.destinationEntity, b.destinationEntity) = (entity, other)
    (a.inverseRelationship, b.inverseRelationship) = (b, a)
  }
}

/// A worker whose class has accessors and rules of its own.
final class Worker: ManagedObject {
  struct Rejected: Error, CustomNSError {
    static let errorDomain = "Workshop"
    var errorCode: Int { 7 }
  }

  override class var keyAccessors: [String: KeyAccessor] {
    [
      "code": .init(\Worker.code), "shout": .init(reading: \Worker.shout),
      "nickname": .init(\Worker.nickname),
    ]
  }
  override class var keyValidators: [String: KeyValidator] {
    ["name": .init(Worker.validateName)]
  }

  var codeReads = 0
  var nickname: String?
  var code: Int32 {
    get {
      codeReads += 1
      willAccessValue(forKey: "code")
      defer { didAccessValue(forKey: "code") }
      return primitiveValue(forKey: "code") as? Int32 ?? 0
    }
    set {
      willChangeValue(forKey: "code")
      setPrimitiveValue(newValue, forKey: "code")
      didChangeValue(forKey: "code")
    }
  }
  var shout: String { (text("name") ?? "").uppercased() }

  override func setNilValueForKey(_ key: String) {
    if key == "code" { code = 0 } else { super.setNilValueForKey(key) }
  }

  func validateName(_ value: inout Any?) throws {
    guard let name = value as? String else { return }
    if name == "nobody" { throw Rejected() }
    value = name.trimmingCharacters(in: .whitespaces)
  }

  override func value(forUndefinedKey key: String) -> Any? {
    key == "species" ? "human" : super.value(forUndefinedKey: key)
  }
}

/// A coordinator with a workshop's store, in a file unless said otherwise.
final class WorkshopStack {
  let coordinator: PersistentStoreCoordinator
  private let folder: TemporaryFolder

  init(model: ManagedObjectModel = Workshop.model()) throws {
    Worker.registerClass(forEntityName: "Worker")
    coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [InMemoryStoreKind(), SQLiteStoreKind()])
    folder = try TemporaryFolder()
    try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil,
      at: folder.fileURL("Workshop.sqlite"), options: nil)
  }

  deinit {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  func use<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }
}
