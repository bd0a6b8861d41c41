// Finding records by attribute values, with few queries.

@_spi(Generated) import Cairn
import CairnControl
import Foundation

/// The objects that an import has found or made, by the values that identify them.
///
/// Belongs to one batch and its context's queue.
struct RecordFinder {
  /// The identity of an object by some of its attributes.
  private struct Identity: Hashable {
    let entity: ObjectIdentifier
    let key: [String]
    let values: [AttributeValue]

    static func == (a: Self, b: Self) -> Bool {
      // What the store finds by its bytes is found by them here, too.
      a.entity == b.entity && a.key == b.key
        && a.values.map(\.comparedByBytes) == b.values.map(\.comparedByBytes)
    }
  }

  private let context: ManagedObjectContext
  private let store: PersistentStore
  private let createsMissing: Bool
  private var objects: [Identity: ManagedObject] = [:]
  /// What has been looked up in the store, found or not.
  private var known: Set<Identity> = []
  private var createdObjects: Set<ObjectIdentifier> = []
  private var writings: [ObjectIdentifier: RecordWriting] = [:]
  /// How many objects were made because a reference named them.
  var created: Int { createdObjects.count }

  init(context: ManagedObjectContext, store: PersistentStore, createsMissing: Bool) {
    self.context = context
    self.store = store
    self.createsMissing = createsMissing
  }

  /// The attributes that identify a record named by `members`: those of the first uniqueness
  /// constraint that is given whole, else all attributes given.
  static func identifyingKey(
    of entity: EntityDescription, in members: [String: JSONValue]
  ) -> [String] {
    var current: EntityDescription? = entity
    while let candidate = current {
      for constraint in candidate.constraintNames
      where constraint.allSatisfy({ members[$0] != nil && members[$0] != .null }) {
        return constraint
      }
      current = candidate.superentity
    }
    return members.keys.filter { entity.storedAttribute(at: $0) != nil }.sorted()
  }

  private func identity(
    _ entity: EntityDescription, key: [String], row: [String: JSONValue]
  ) throws -> Identity {
    let values = try key.map { name -> AttributeValue in
      guard let attribute = entity.storedAttribute(at: name) else {
        throw ControlError.unknownProperty(name, of: entity)
      }
      do {
        return try RecordCoding.value(row[name] ?? .null, for: attribute)
      } catch let error as RecordCodingError {
        throw ControlError.invalidValue(
          entity: entity.name ?? "", property: name, reason: error.reason)
      }
    }
    return Identity(entity: ObjectIdentifier(entity), key: key, values: values)
  }

  /// Looks all rows up at once.
  ///
  /// Rows whose values are wrong are left to be reported in turn.
  mutating func prefetch(
    _ entity: EntityDescription, key: [String], rows: [[String: JSONValue]]
  ) throws {
    guard !key.isEmpty else { return }
    let wanted = Set(rows.compactMap { try? identity(entity, key: key, row: $0) })
      .subtracting(known)
    guard !wanted.isEmpty else { return }
    let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
    request.affectedStores = [store]
    request.returnsObjectsAsFaults = false
    request.includesPendingChanges = false
    if key.count == 1 {
      let values = wanted.map { AttributeCoding.decode($0.values[0]) }
      request.predicate = ComparisonPredicate(
        leftExpression: ObjectExpression(forKeyPath: key[0]),
        rightExpression: ObjectExpression(forConstantValue: values.compactMap { $0 }),
        modifier: .direct, type: .in)
    } else {
      request.predicate = CompoundPredicate(
        orPredicateWithSubpredicates: wanted.map { identity in
          CompoundPredicate(
            andPredicateWithSubpredicates: zip(key, identity.values).map { name, value in
              ComparisonPredicate(
                leftExpression: ObjectExpression(forKeyPath: name),
                rightExpression: ObjectExpression(
                  forConstantValue: AttributeCoding.decode(value)),
                modifier: .direct, type: .equalTo)
            })
        })
    }
    for object in try context.fetch(request) {
      let values = key.map { name in
        object.entity.layout.slotByName[name].map { object.storedValue(at: $0) } ?? .null
      }
      let identity = Identity(entity: ObjectIdentifier(entity), key: key, values: values)
      if objects[identity] == nil { objects[identity] = object }
    }
    known.formUnion(wanted)
  }

  /// The object with these values, nil when there is none.
  mutating func find(
    _ entity: EntityDescription, key: [String], row: [String: JSONValue]
  ) throws -> ManagedObject? {
    let identity = try identity(entity, key: key, row: row)
    if let object = objects[identity] { return object }
    if known.contains(identity) { return nil }
    try prefetch(entity, key: key, rows: [row])
    return objects[identity]
  }

  /// A new object in the import's store.
  func insert(_ entity: EntityDescription) -> ManagedObject {
    let object = entity.insertObject(into: context)
    context.assign(object, to: store)
    return object
  }

  /// Lets later rows find a new object.
  mutating func register(
    _ object: ManagedObject, key: [String], row: [String: JSONValue]
  ) throws {
    let identity = try identity(object.entity, key: key, row: row)
    objects[identity] = object
    known.insert(identity)
  }

  /// Takes an object that a reference made out of the count of those; false when it was none.
  mutating func claimCreated(_ object: ManagedObject) -> Bool {
    createdObjects.remove(ObjectIdentifier(object)) != nil
  }

  private mutating func writing(for entity: EntityDescription) -> RecordWriting {
    if let known = writings[ObjectIdentifier(entity)] { return known }
    let writing = RecordWriting(entity: entity)
    writings[ObjectIdentifier(entity)] = writing
    return writing
  }

  /// The destination that a reference names, made when it is not there.
  mutating func findOrCreate(
    _ entity: EntityDescription, members: [String: JSONValue]
  ) throws -> ManagedObject {
    let writing = writing(for: entity)
    try writing.checkNames(members)
    let key = Self.identifyingKey(of: entity, in: members)
    guard !key.isEmpty else {
      throw ControlError.invalidValue(
        entity: entity.name ?? "", property: "",
        reason: "a reference needs at least one attribute value")
    }
    if let object = try find(entity, key: key, row: members) { return object }
    let text = key.map { "\($0)=\(members[$0]?.stringValue ?? "…")" }.joined(separator: ", ")
    guard createsMissing else {
      throw ControlError.recordNotFound(entity: entity.name ?? "", id: text)
    }
    if entity.isAbstract {
      throw ControlError.invalidValue(
        entity: entity.name ?? "", property: "",
        reason: "there is no record with \(text), and a reference makes none of an abstract "
          + "entity; import the records of its subentities first")
    }
    let object = insert(entity)
    try writing.apply(members, to: object) { json, relationship in
      throw ControlError.invalidValue(
        entity: entity.name ?? "", property: relationship.name,
        reason: "a reference names its destination by attributes only")
    }
    try register(object, key: key, row: members)
    createdObjects.insert(ObjectIdentifier(object))
    return object
  }
}

extension EntityDescription {
  /// An attribute by its name, or a leaf of a composite one by its path.
  func storedAttribute(at path: String) -> AttributeDescription? {
    layout.slotByName[path].flatMap { layout.slots[$0].attribute }
  }
}
