// A store with something of each kind that a fault could tear apart.

import Cairn
import CairnSQLite
import Foundation
import Testing

/// A shop's boxes and the items in them, some with large pictures.
struct Shop {
  let coordinator: PersistentStoreCoordinator
  let context: ManagedObjectContext
  let store: SQLiteStore

  static let model = Result { try makeModel(isNewer: false) }
  static let newerModel = Result { try makeModel(isNewer: true) }

  private static func makeModel(isNewer: Bool) throws -> ManagedObjectModel {
    let picture = AttributeDescription(name: "picture", type: .binaryData)
    picture.allowsExternalBinaryDataStorage = true
    let box = EntityDescription(
      name: "Box", properties: [AttributeDescription(name: "name", type: .string)])
    let item = EntityDescription(
      name: "Item",
      properties: [
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "count", type: .integer64), picture,
      ])
    if isNewer {
      item.properties.append(
        AttributeDescription(
          name: "color", type: .string, isOptional: false, defaultValue: "red"))
    }
    let items = RelationshipDescription()
    items.name = "items"
    items.destinationEntity = item
    items.isOrdered = true
    items.deleteRule = .cascade
    let place = RelationshipDescription()
    place.name = "box"
    place.destinationEntity = box
    place.maxCount = 1
    items.inverseRelationship = place
    place.inverseRelationship = items
    box.properties.append(items)
    item.properties.append(place)
    let model = ManagedObjectModel()
    model.entities = [box, item]
    try model.prepareForUse()
    return model
  }

  init(
    at url: URL, model: ManagedObjectModel? = nil, options: [AnyHashable: Any] = [:]
  ) throws {
    coordinator = PersistentStoreCoordinator(managedObjectModel: try model ?? Self.model.get())
    var all: [AnyHashable: Any] = [
      StoreOptionKey.historyTracking: true, StoreOptionKey.migrateAutomatically: true,
      StoreOptionKey.inferMappingModel: true, StoreOptionKey.timeout: 5,
      StoreOptionKey.sqlitePragmas: ["synchronous": "FULL"], StoreOptionKey.rowChecksums: true,
    ]
    all.merge(options) { $1 }
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: url, options: all)
    self.store = try #require(store as? SQLiteStore)
    context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  func close() throws {
    context.performAndWait { context.reset() }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  // MARK: Contents

  @discardableResult
  func insert(_ name: String, count: Int = 1, picture: Data? = nil) -> ManagedObject {
    let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
    item.setValue(name, forKey: "name")
    item.setValue(count, forKey: "count")
    if let picture { item.setValue(picture, forKey: "picture") }
    return item
  }

  func fill() throws {
    try context.performAndWait {
      for number in 0..<3 {
        let box = EntityDescription.insertNewObject(forEntityName: "Box", into: context)
        box.setValue("box \(number)", forKey: "name")
        for place in 0..<4 {
          insert("item \(number)\(place)", count: place).setValue(box, forKey: "box")
        }
      }
      insert("painting", picture: Self.picture(1))
      try context.save()
    }
  }

  /// Another context gives the painting another picture, and adds items.
  func changeElsewhere() throws {
    let other = ManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = coordinator
    try other.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.predicate = ObjectPredicate(format: "name == 'painting'")
      try other.fetch(request).first?.setValue(Self.picture(5), forKey: "picture")
      for number in 0..<5 {
        EntityDescription.insertNewObject(forEntityName: "Item", into: other)
          .setValue("elsewhere \(number)", forKey: "name")
      }
      try other.save()
    }
  }

  /// So large that it is kept in a file.
  static func picture(_ number: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: number), count: 110_000)
  }

  func items(_ condition: String? = nil) throws -> [ManagedObject] {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = condition.map { ObjectPredicate(format: $0) }
    request.sortDescriptors = [ObjectSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  /// Everything that is stored, one line an object.
  func contents() throws -> [String] {
    try context.performAndWait {
      context.reset()
      defer { context.reset() }
      let boxes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Box"))
      let lines = boxes.map { box in
        let items = box.value(forKey: "items") as? NSOrderedSet
        let names = items?.array.map { ($0 as? ManagedObject)?.value(forKey: "name") ?? "?" } ?? []
        return "\(box.value(forKey: "name") ?? "-"): \(names)"
      }
      let rest = try items().map { item in
        let picture = item.value(forKey: "picture") as? Data
        return "\(item.value(forKey: "name") ?? "-") \(item.value(forKey: "count") ?? "-") "
          + "\(picture.map { "\($0.count) \($0.first ?? 0)" } ?? "none")"
          + (item.entity.attributesByName["color"] == nil
            ? "" : " \(item.value(forKey: "color") ?? "-")")
      }
      let history = try context.execute(
        PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?))
      let count = ((history as? PersistentHistoryResult)?.result as? [Any])?.count ?? 0
      // What a property could not read it cannot throw.
      if let error = context.faultError { throw error }
      return lines.sorted() + rest + (count == 0 ? [] : ["\(count) transactions"])
    }
  }

  /// Names of the files of large values.
  static func pictureFiles(of store: URL) -> Set<String> {
    let folder = store.deletingLastPathComponent()
      .appendingPathComponent(".\(store.deletingPathExtension().lastPathComponent)_SUPPORT")
      .appendingPathComponent("_EXTERNAL_DATA")
    return Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
  }
}
