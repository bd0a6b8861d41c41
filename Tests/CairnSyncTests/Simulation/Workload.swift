import CairnContext
import CairnModel
import Foundation

@testable import CairnSync

/// Random writes of applications, and what was written, for the oracle.
struct Workload {
  /// One property of one item, in any store.
  struct Place: Hashable {
    let key: String
    let property: String
  }
  var generator: SeededGenerator
  /// The last value each store's applications wrote, by place and store.
  private(set) var last: [Place: [String: String]] = [:]
  /// Values that a later writer saw and replaced.
  private(set) var replaced: [Place: Set<String>] = [:]
  private(set) var inserted: Set<String> = []
  private(set) var deleted: Set<String> = []
  private var counter = 0

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func fresh(_ prefix: String) -> String {
    counter += 1
    return "\(prefix)\(counter)"
  }

  /// One save of a few operations in one store.
  mutating func step(_ site: Fleet.Site, deletes: Bool) throws {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = site.coordinator
    context.transactionAuthor = "app"
    var copy = self
    try context.performAndWait {
      for _ in 0..<Int.random(in: 1...4, using: &copy.generator) {
        try copy.operation(site, context, deletes: deletes)
      }
      if context.hasChanges { try context.save() }
    }
    self = copy
  }

  private mutating func operation(
    _ site: Fleet.Site, _ context: ManagedObjectContext, deletes: Bool
  ) throws {
    let items = try site.all("Item", in: context).filter { !$0.isDeleted }
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<25: try insert(site, context)
    case 25..<60:
      guard let item = generator.pick(items) else { return }
      try write(item, site)
    case 60..<72:
      guard let item = generator.pick(items), let parent = generator.pick(items) else { return }
      item.setValue(generator.chance(20) ? nil : parent, forKey: "parent")
    case 72..<92:
      guard let item = generator.pick(items) else { return }
      try toggleTag(of: item, site, context)
    default:
      guard deletes, let item = generator.pick(items),
        let key = item.value(forKey: "key") as? String
      else { return }
      context.delete(item)
      context.processPendingChanges()
      deleted.insert(key)
    }
  }

  private mutating func insert(_ site: Fleet.Site, _ context: ManagedObjectContext) throws {
    let key = fresh("k")
    let item = try site.insert("Item", ["key": key], in: context)
    inserted.insert(key)
    try write(item, site)
    if generator.chance(30) {
      _ = try site.insert("Part", ["key": fresh("part"), "item": item], in: context)
    }
  }

  private mutating func write(_ item: ManagedObject, _ site: Fleet.Site) throws {
    guard let key = item.value(forKey: "key") as? String else { return }
    let place = Place(key: key, property: "value")
    if let old = item.value(forKey: "value") as? String {
      replaced[place, default: []].insert(old)
    }
    let value = fresh("v")
    item.setValue(value, forKey: "value")
    last[place, default: [:]][site.name] = value
  }

  private mutating func toggleTag(
    of item: ManagedObject, _ site: Fleet.Site, _ context: ManagedObjectContext
  ) throws {
    let name = "t\(Int.random(in: 0..<6, using: &generator))"
    let tag =
      try site.find("Tag", name, in: context)
      ?? site.insert("Tag", ["name": name, "note": fresh("n")], in: context)
    var tags = item.value(forKey: "tags") as? Set<ManagedObject> ?? []
    if tags.remove(tag) == nil { tags.insert(tag) }
    item.setValue(tags, forKey: "tags")
  }
}
