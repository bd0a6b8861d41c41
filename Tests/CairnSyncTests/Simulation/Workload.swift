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
    case 72..<76:
      guard let item = generator.pick(items) else { return }
      let label = generator.chance(30) ? nil : try tag(site, context)
      item.setValue(label, forKey: "label")
    case 76..<80:
      guard let item = generator.pick(items) else { return }
      try pick(item, site, context)
    case 80..<84:
      guard let item = generator.pick(items) else { return }
      try arrangeParts(of: item, items, site, context)
    case 84..<92:
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

  private mutating func tag(
    _ site: Fleet.Site, _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let name = "t\(Int.random(in: 0..<6, using: &generator))"
    return try site.find("Tag", name, in: context)
      ?? site.insert("Tag", ["name": name, "note": fresh("n")], in: context)
  }

  /// Changes the picks of an item, or the order in which a tag was picked.
  private mutating func pick(
    _ item: ManagedObject, _ site: Fleet.Site, _ context: ManagedObjectContext
  ) throws {
    let tag = try tag(site, context)
    if generator.chance(25) {
      let pickers = tag.value(forKey: "pickedBy") as? NSOrderedSet ?? []
      let members = pickers.compactMap { $0 as? ManagedObject }
      return tag.setValue(
        NSOrderedSet(array: members.shuffled(using: &generator)), forKey: "pickedBy")
    }
    var picks = (item.value(forKey: "picks") as? NSOrderedSet ?? [])
      .compactMap { $0 as? ManagedObject }
    if let place = picks.firstIndex(of: tag) {
      picks.remove(at: place)
    } else {
      picks.insert(tag, at: Int.random(in: 0...picks.count, using: &generator))
    }
    if generator.chance(20) { picks.shuffle(using: &generator) }
    item.setValue(NSOrderedSet(array: picks), forKey: "picks")
  }

  /// Moves parts within an item, adds one in some place, or takes one from another item.
  private mutating func arrangeParts(
    of item: ManagedObject, _ items: [ManagedObject], _ site: Fleet.Site,
    _ context: ManagedObjectContext
  ) throws {
    var parts = (item.value(forKey: "parts") as? NSOrderedSet ?? [])
      .compactMap { $0 as? ManagedObject }
    let place = Int.random(in: 0...parts.count, using: &generator)
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: parts.shuffle(using: &generator)
    case 1:
      let others = try site.all("Part", in: context).filter { !$0.isDeleted && !parts.contains($0) }
      if let other = generator.pick(others) { parts.insert(other, at: place) }
    default:
      parts.insert(try site.insert("Part", ["key": fresh("part")], in: context), at: place)
    }
    item.setValue(NSOrderedSet(array: parts), forKey: "parts")
  }

  private mutating func toggleTag(
    of item: ManagedObject, _ site: Fleet.Site, _ context: ManagedObjectContext
  ) throws {
    let tag = try tag(site, context)
    var tags = item.value(forKey: "tags") as? Set<ManagedObject> ?? []
    if tags.remove(tag) == nil { tags.insert(tag) }
    item.setValue(tags, forKey: "tags")
  }
}
