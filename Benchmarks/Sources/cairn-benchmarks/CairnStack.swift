// The contestant: Cairn's whole stack, objects and all.

@_spi(Generated) import Cairn
import Foundation

/// The sample model, built in code, and the objects it makes.
enum SampleModel {
  static func make(isIndexed: Bool = false, className: String? = nil) -> ManagedObjectModel {
    let item = EntityDescription(name: "Item", properties: attributes)
    if let className { item.managedObjectClassName = className }
    if isIndexed, let group = item.attributesByName["group"] {
      item.indexes = [
        FetchIndexDescription(
          name: "byGroup",
          elements: [FetchIndexElementDescription(property: group, collationType: .binary)])
      ]
    }
    let model = ManagedObjectModel()
    model.entities =
      [item]
      + family(
        "Parent", "children", EntityDescription(name: "Child", properties: attributes), "parent",
        isOrdered: false)
      + family(
        "List", "entries", EntityDescription(name: "Entry", properties: [name]), "list",
        isOrdered: true)
    return model
  }

  private static var name: AttributeDescription {
    AttributeDescription(name: "name", type: .string)
  }

  /// The ten attributes of the sample.
  private static var attributes: [AttributeDescription] {
    [
      AttributeDescription(name: "number", type: .integer64),
      AttributeDescription(name: "group", type: .integer64),
      AttributeDescription(name: "count", type: .integer64),
      AttributeDescription(name: "ratio", type: .double),
      AttributeDescription(name: "weight", type: .double),
      AttributeDescription(name: "created", type: .date),
      AttributeDescription(name: "code", type: .string),
      name,
      AttributeDescription(name: "title", type: .string),
      AttributeDescription(name: "payload", type: .binaryData),
    ]
  }

  /// Two entities, the second deleted with the first.
  private static func family(
    _ owner: String, _ members: String, _ child: EntityDescription, _ back: String,
    isOrdered: Bool
  ) -> [EntityDescription] {
    let parent = EntityDescription(name: owner, properties: [name])
    let children = RelationshipDescription()
    children.name = members
    children.destinationEntity = child
    children.deleteRule = .cascade
    children.isOrdered = isOrdered
    let parentOfChild = RelationshipDescription()
    parentOfChild.name = back
    parentOfChild.destinationEntity = parent
    parentOfChild.maxCount = 1
    children.inverseRelationship = parentOfChild
    parentOfChild.inverseRelationship = children
    parent.properties.append(children)
    child.properties.append(parentOfChild)
    return [parent, child]
  }
}

/// Slot numbers as generated accessors use them: own properties sorted by name.
enum ItemSlot {
  static let code = 0
  static let count = 1
  static let created = 2
  static let group = 3
  static let name = 4
  static let number = 5
  static let payload = 6
  static let ratio = 7
  static let title = 8
  static let weight = 9
}

/// The same of a child, whose parent is between them.
enum ChildSlot {
  static let name = 4
}

extension ManagedObject {
  func fill(_ sample: Sample) {
    setStoredValue(.integer(sample.number), at: ItemSlot.number)
    setStoredValue(.integer(sample.group), at: ItemSlot.group)
    setStoredValue(.integer(sample.count), at: ItemSlot.count)
    setStoredValue(.double(sample.ratio), at: ItemSlot.ratio)
    setStoredValue(.double(sample.weight), at: ItemSlot.weight)
    setStoredValue(
      .date(Date(timeIntervalSinceReferenceDate: sample.created)), at: ItemSlot.created)
    setStoredValue(.string(sample.code), at: ItemSlot.code)
    setStoredValue(.string(sample.name), at: ItemSlot.name)
    setStoredValue(.string(sample.title), at: ItemSlot.title)
    setStoredValue(sample.payload.map { .data($0) } ?? .null, at: ItemSlot.payload)
  }
}

/// One coordinator with one store, and contexts on it.
final class CairnStack {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  let file: URL

  /// - Parameters:
  ///   - rowSums: Whether the store keeps a sum of each row, as the daemon's does.
  ///   - className: The class that the model says items have.
  init(
    _ file: URL, type: String = "SQLite", history: Bool, isIndexed: Bool = false,
    rowSums: Bool = false,
    className: String? = nil
  ) throws {
    self.file = file
    coordinator = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(isIndexed: isIndexed, className: className))
    var options: [String: Any] = ["NSPersistentHistoryTrackingKey": history]
    if type == "SQLite" {
      options[StoreOptionKey.rowChecksums] = rowSums
      options["NSSQLitePragmasOption"] = ["synchronous": "NORMAL"]
    }
    store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: file, options: options)
  }

  func newContext() -> ManagedObjectContext {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Inserts and saves; the seconds that takes, without letting the objects go.
  @discardableResult
  func insert(_ rows: [Sample]) throws -> Double {
    let context = newContext()
    return try context.performAndWait {
      guard let entity = coordinator.managedObjectModel.entitiesByName["Item"] else { return 0 }
      var objects: [ManagedObject] = []
      objects.reserveCapacity(rows.count)
      let seconds = try timed {
        for row in rows {
          let object = ManagedObject(entity: entity, insertInto: context)
          object.fill(row)
          objects.append(object)
        }
        try context.save()
      }
      keep(objects)
      return seconds
    }
  }

  func fetchAll(_ context: ManagedObjectContext, asFaults: Bool) throws -> [ManagedObject] {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.returnsObjectsAsFaults = asFaults
    request.includesPropertyValues = !asFaults
    return try context.fetch(request)
  }

  /// The items of each group, one fetch a group.
  func ranges(
    _ groups: some Sequence<Int>, in context: ManagedObjectContext
  ) throws -> [[ManagedObject]] {
    try groups.map { group in
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.predicate = ObjectPredicate(format: "group == %@", argumentArray: [group])
      request.returnsObjectsAsFaults = false
      return try context.fetch(request)
    }
  }

  func createFamily(parents: Int, children: Int) throws {
    let context = newContext()
    try context.performAndWait {
      let byName = coordinator.managedObjectModel.entitiesByName
      guard let parentEntity = byName["Parent"], let childEntity = byName["Child"] else { return }
      var number = 0
      for _ in 0..<parents {
        let parent = ManagedObject(entity: parentEntity, insertInto: context)
        parent.setValue("p", forKey: "name")
        for _ in 0..<children {
          let child = ManagedObject(entity: childEntity, insertInto: context)
          child.setValuesForKeys(Sample(number).valuesByKey)
          child.setValue(parent, forKey: "parent")
          number += 1
        }
      }
      try context.save()
    }
  }

  /// The ID of the item with a primary key.
  func itemID(_ key: Int) throws -> ManagedObjectID {
    let uri = "x-coredata://\(store.identifier ?? "")/Item/p\(key)"
    guard let url = URL(string: uri),
      let id = coordinator.managedObjectID(forURIRepresentation: url)
    else { throw RawError(description: "no ID for \(uri)") }
    return id
  }

  func close() throws { try coordinator.remove(store) }
}

extension Sample {
  /// The attributes by name.
  var valuesByKey: [String: Any] {
    [
      "number": number, "group": group, "count": count, "ratio": ratio, "weight": weight,
      "created": Date(timeIntervalSinceReferenceDate: created), "code": code, "name": name,
      "title": title, "payload": payload as Any? ?? NSNull(),
    ]
  }
}
