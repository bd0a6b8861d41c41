// A store of the hostile model with a few objects of each kind, for tests that try to do harm.

import Cairn
import CairnTesting
import Foundation

/// A folder with a store, open until it is closed.
struct HostileStore {
  let folder: URL
  let coordinator: PersistentStoreCoordinator
  let context: ManagedObjectContext

  var url: URL { Self.url(in: folder) }

  static func url(in folder: URL) -> URL { folder.appendingPathComponent("hostile.sqlite") }

  static func model(in folder: URL) throws -> ManagedObjectModel {
    let file = folder.appendingPathComponent("hostile.xml")
    try Data(HostileModel.document.utf8).write(to: file)
    return try ManagedObjectModel.load(contentsOf: file)
  }

  init(
    in folder: URL, model: ManagedObjectModel, options: [String: Any] = [:]
  ) throws {
    self.folder = folder
    coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    context = ManagedObjectContext(.privateQueue)
    _ = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: Self.url(in: folder),
      options: options)
    context.persistentStoreCoordinator = coordinator
  }

  func close() throws {
    context.performAndWait { context.reset() }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Items with all, some and none of their values, in boxes, with tags and parts.
  func fill(items count: Int) throws {
    try context.performAndWait {
      let boxes = (0..<3).map { (number: Int) in
        make("Box", ["name": "b\(number)", "shelf": number])
      }
      let tags = ["t", "a", "TÉ", nil].map { make("Tag", ["name": $0]) }
      let names = ["a", "A", "é", "50% _*?", "", "[a-z]+", nil]
      for number in 0..<count {
        let item = make("Item", ["name": names[number % names.count]])
        if number % 3 != 2 {
          for (key, value) in Self.values(number) { item.setValue(value, forKey: key) }
        }
        if number % 2 == 0 { item.setValue(boxes[number % boxes.count], forKey: "box") }
        item.setValue(
          NSSet(array: Array(tags.prefix(number % (tags.count + 1)))), forKey: "tags")
        let parts = (0..<(number % 4)).map { make("Part", ["size": $0 * number - 3]) }
        item.setValue(NSOrderedSet(array: parts), forKey: "parts")
      }
      try context.save()
    }
  }

  private static func values(_ number: Int) -> [String: Any] {
    let large: [Int64] = [0, -1, 3, .max, .min, 1 << 53]
    let reals: [Double] = [0.5, -0.0, 1e300, -2, 1.25]
    return [
      "i16": number % 7 - 3, "i32": number * 1000 - 5, "i64": large[number % large.count],
      "dec": NSDecimalNumber(string: ["12.50", "-3", "1e60"][number % 3]),
      "dbl": reals[number % reals.count], "flt": Float(reals[number % 2]),
      "flag": number % 2 == 0, "date": Date(timeIntervalSinceReferenceDate: Double(number) * 1e7),
      "data": Data([1, UInt8(number % 256)]), "uuid": UUID(),
      "uri": URL(fileURLWithPath: "/x/\(number)"), "code": ["abc", "x", "a"][number % 3],
    ]
  }

  private func make(_ entity: String, _ values: [String: Any?]) -> ManagedObject {
    let object = EntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }
}
