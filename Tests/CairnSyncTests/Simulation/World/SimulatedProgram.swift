import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

@testable import CairnSync

/// One save of an application: random operations on a store, and what they are for the oracle.
struct SimulatedProgram {
  let store: String
  let coordinator: PersistentStoreCoordinator
  let version: SampleModel.Version
  let time: Int
  var generator: SeededGenerator
  var draft = SimulationOracle.Draft()
  var done: [String: Int] = [:]

  init(_ store: String, _ coordinator: PersistentStoreCoordinator, time: Int, seed: UInt64) {
    self.store = store
    self.coordinator = coordinator
    // The one it was started with: the store may have been migrated since.
    version =
      coordinator.managedObjectModel.entitiesByName["Fresh"] == nil ? .current : .muchNewer
    self.time = time
    generator = SeededGenerator(seed: seed)
  }

  private var valueName: String { version == .muchNewer ? "text" : "value" }

  static func author(_ generator: inout SeededGenerator) -> String? {
    ["app", "app", "app", nil, "cairn.sync", "importer"].randomElement(using: &generator) ?? "app"
  }

  /// Changes a few objects and saves.
  ///
  /// - Parameter exceeds: Whether it only writes a value that other programs refuse.
  mutating func run(
    _ oracle: inout SimulationOracle, deletes: Bool, exceeds: Bool = false
  ) throws {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = Self.author(&generator)
    var copy = self
    var oracleCopy = oracle
    defer {
      self = copy
      oracle = oracleCopy
    }
    try context.performAndWait {
      if exceeds {
        try copy.exceed(context, &oracleCopy)
        if context.hasChanges { try context.save() }
        return
      }
      if copy.generator.chance(15) { return try copy.batch(context, &oracleCopy, deletes) }
      if copy.generator.chance(15) {
        try copy.leaves(context, &oracleCopy, deletes)
        if context.hasChanges { try context.save() }
        return
      }
      for _ in 0..<Int.random(in: 1...4, using: &copy.generator) {
        try copy.operation(context, &oracleCopy, deletes)
      }
      if context.hasChanges { try context.save() }
    }
  }

  mutating func did(_ operation: String, _ words: String) {
    done[operation, default: 0] += 1
    draft.words.append(words)
  }

  // MARK: Objects

  func all(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    return try context.fetch(request).filter { !$0.isDeleted }.sorted {
      Self.key($0) < Self.key($1)
    }
  }

  private static func isTag(_ object: ManagedObject) -> Bool {
    object.entity.propertiesByName["name"] != nil
  }

  static func key(_ object: ManagedObject?) -> String {
    guard let object else { return "-" }
    return object.value(forKey: isTag(object) ? "name" : "key") as? String ?? "?"
  }

  func insert(
    _ entity: String, _ values: [String: Any], _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    guard let description = coordinator.managedObjectModel.entitiesByName[entity] else {
      throw CocoaError(.coderInvalidValue)
    }
    let object = ManagedObject(entity: description, insertInto: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  mutating func write(
    _ object: ManagedObject, _ property: String, _ value: Any?, _ text: String,
    _ oracle: Bool = true
  ) {
    let old = object.value(forKey: property)
    let record = Self.key(object)
    let kind = Self.isTag(object) ? "tag" : object.entity.name == "Item" ? "item" : "leaf"
    let saw = (old as? String) ?? (old as? Double).map { "\($0)" }
    object.setValue(value, forKey: property)
    let place = "\(kind) \(record) \(property == "text" ? "value" : property)"
    // Of what one save wrote twice, only the last is a write.
    let earlier = draft.writes.first { $0.write.value == saw }
    draft.writes.removeAll { $0.write.value == saw }
    draft.writes.append(
      (
        .init(value: text, place: place, record: record, store: store, time: time),
        earlier == nil ? saw : earlier?.saw
      ))
    draft.touched.insert(record)
    did("write", "\(record).\(property) = \(text) (was \(saw ?? "-"))")
  }

  mutating func operation(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle, _ deletes: Bool
  ) throws {
    if generator.chance(8) { return try leaf(context, &oracle, deletes) }
    let items = try all("Item", context)
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<22: try insertItem(context, &oracle)
    case 22..<48:
      guard let item = generator.pick(items) else { return try insertItem(context, &oracle) }
      try change(item, &oracle)
    case 48..<58:
      guard let item = generator.pick(items), let other = generator.pick(items) else { return }
      let parent = generator.chance(20) ? nil : other
      // Setting what is there is no write.
      if item.value(forKey: "parent") as? ManagedObject === parent { return }
      item.setValue(parent, forKey: "parent")
      draft.set["parent \(Self.key(item))"] = Self.key(parent)
      draft.touched.insert(Self.key(item))
      did("parent", "\(Self.key(item)).parent = \(Self.key(parent))")
    case 58..<63:
      guard let item = generator.pick(items) else { return }
      let label = generator.chance(30) ? nil : try tag(context, &oracle)
      item.setValue(label, forKey: "label")
      draft.touched.insert(Self.key(item))
      if let label { draft.touched.insert(Self.key(label)) }
      did("label", "\(Self.key(item)).label = \(Self.key(label))")
    case 63..<69:
      guard let item = generator.pick(items) else { return }
      try pick(item, context, &oracle)
    case 69..<76:
      guard let item = generator.pick(items) else { return }
      try arrange(item, items, context, &oracle)
    case 76..<84:
      guard let item = generator.pick(items) else { return }
      try toggle(item, context, &oracle)
    case 84..<90:
      let tag = try tag(context, &oracle)
      let note = oracle.fresh("n")
      write(tag, "note", note, note)
      done["note", default: 0] += 1
      ink(tag, &oracle)
    case 90..<92:
      guard deletes, let tag = generator.pick(try all("Tag", context)) else { return }
      delete(tag, context)
    default:
      guard deletes, let item = generator.pick(items) else { return }
      delete(item, context)
    }
  }

  private mutating func change(_ item: ManagedObject, _ oracle: inout SimulationOracle) throws {
    if generator.chance(35) {
      let number = oracle.freshNumber()
      write(item, "other", number, "\(number)")
    } else if version == .muchNewer, generator.chance(40) {
      let extra = oracle.fresh("x")
      write(item, "extra", extra, extra)
      done["extra", default: 0] += 1
    } else {
      let value = oracle.fresh("v")
      write(item, valueName, value, value)
    }
  }

  private mutating func exceed(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws {
    guard let item = generator.pick(try all("Item", context)) else { return }
    let value = oracle.fresh("v") + String(repeating: "-", count: SampleModel.mostLength)
    write(item, valueName, value, value)
    done["too long", default: 0] += 1
  }

  private mutating func insertItem(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws {
    let key = oracle.fresh("k")
    let item = try insert("Item", ["key": key], context)
    draft.inserted.insert(key)
    draft.touched.insert(key)
    did("insert", "insert \(key)")
    let value = oracle.fresh("v")
    write(item, valueName, value, value)
    if generator.chance(30) {
      let part = oracle.fresh("p")
      _ = try insert("Part", ["key": part, "item": item], context)
      did("part", "insert \(part) of \(key)")
    }
    if version == .muchNewer, generator.chance(30) {
      let title = oracle.fresh("f")
      let fresh = try insert("Fresh", ["title": title, "item": item], context)
      fresh.setValue(Set([try tag(context, &oracle)]), forKey: "tags")
      did("fresh", "insert \(title) of \(key)")
    }
  }

  private mutating func tag(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws -> ManagedObject {
    let name = "t\(Int.random(in: 0..<5, using: &generator))"
    if let found = try all("Tag", context).first(where: { Self.key($0) == name }) { return found }
    let note = oracle.fresh("n")
    // Without a draw of its own: what else happens stays as it was.
    let entity = (Int(note.dropFirst()) ?? 0) % 3 == 0 ? "Mark" : "Tag"
    let tag = try insert(entity, ["name": name], context)
    draft.touched.insert(name)
    did(entity.lowercased(), "insert \(name)")
    write(tag, "note", note, note)
    ink(tag, &oracle)
    return tag
  }

  /// Writes to what only marks have.
  private mutating func ink(_ tag: ManagedObject, _ oracle: inout SimulationOracle) {
    if tag.entity.name != "Mark" { return }
    let ink = oracle.fresh("i")
    write(tag, "ink", ink, ink)
  }

  /// What the store keeps of a property that only a newer version of the model has: who deletes the record
  /// deletes that, too, though an older program cannot show it.
  private func unseenExtra(of object: ManagedObject) -> String? {
    guard object.entity.propertiesByName["extra"] == nil,
      let sidecar = coordinator.persistentStores.first?.capabilities.sidecar,
      let key = SyncKey.object(object.objectID),
      let id = try? sidecar.sidecarValues(for: [key])[0],
      let entry = try? sidecar.sidecarValues(for: [SyncMap.records.key(id)])[0],
      case .string(let extra)? = try? RecordEntry(decoding: entry).overlay["extra"]
    else { return nil }
    return extra
  }

  mutating func delete(_ object: ManagedObject, _ context: ManagedObjectContext) {
    let key = Self.key(object)
    var seen: Set<String> = []
    for name in ["value", "text", "extra", "note", "ink", "other", "petal"]
    where object.entity.propertiesByName[name] != nil {
      let value = object.value(forKey: name)
      if let text = value as? String { seen.insert(text) }
      if let number = value as? Double { seen.insert("\(number)") }
    }
    if let extra = unseenExtra(of: object) { seen.insert(extra) }
    // Of what the save itself wrote before, nothing remains.
    for (write, saw) in draft.writes where write.record == key && seen.contains(write.value) {
      if let saw { seen.insert(saw) }
    }
    draft.writes.removeAll { $0.write.record == key }
    if draft.inserted.remove(key) == nil {
      draft.deletes.append(.init(record: key, store: store, time: time, seen: seen))
    }
    for (place, value) in draft.set {
      if place.split(separator: " ").dropFirst().contains(Substring(key)) {
        draft.set[place] = nil
      } else if value == key {
        draft.set[place] = "-"
      }
    }
    context.delete(object)
    context.processPendingChanges()
    did("delete", "delete \(key)")
  }

  private mutating func pick(
    _ item: ManagedObject, _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws {
    let tag = try tag(context, &oracle)
    draft.touched.formUnion([Self.key(item), Self.key(tag)])
    if generator.chance(25) {
      let pickers = (tag.value(forKey: "pickedBy") as? NSOrderedSet ?? [])
        .compactMap { $0 as? ManagedObject }
      tag.setValue(
        NSOrderedSet(array: pickers.shuffled(using: &generator)), forKey: "pickedBy")
      return did("pick", "shuffle who picked \(Self.key(tag))")
    }
    var picks = (item.value(forKey: "picks") as? NSOrderedSet ?? [])
      .compactMap { $0 as? ManagedObject }
    if let place = picks.firstIndex(of: tag) {
      picks.remove(at: place)
    } else {
      picks.insert(tag, at: Int.random(in: 0...picks.count, using: &generator))
    }
    item.setValue(NSOrderedSet(array: picks), forKey: "picks")
    did("pick", "\(Self.key(item)).picks = \(picks.map { Self.key($0) })")
  }

  private mutating func arrange(
    _ item: ManagedObject, _ items: [ManagedObject], _ context: ManagedObjectContext,
    _ oracle: inout SimulationOracle
  ) throws {
    var parts = (item.value(forKey: "parts") as? NSOrderedSet ?? [])
      .compactMap { $0 as? ManagedObject }
    let place = Int.random(in: 0...parts.count, using: &generator)
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: parts.shuffle(using: &generator)
    case 1:
      let others = try all("Part", context).filter { !parts.contains($0) }
      if let other = generator.pick(others) { parts.insert(other, at: place) }
    default:
      parts.insert(try insert("Part", ["key": oracle.fresh("p")], context), at: place)
    }
    item.setValue(NSOrderedSet(array: parts), forKey: "parts")
    draft.touched.insert(Self.key(item))
    did("arrange", "\(Self.key(item)).parts = \(parts.map { Self.key($0) })")
  }

  private mutating func toggle(
    _ item: ManagedObject, _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws {
    let tag = try tag(context, &oracle)
    var tags = item.value(forKey: "tags") as? Set<ManagedObject> ?? []
    let isNew = tags.remove(tag) == nil
    if isNew { tags.insert(tag) }
    item.setValue(tags, forKey: "tags")
    draft.touched.formUnion([Self.key(item), Self.key(tag)])
    draft.set["link \(Self.key(item)) \(Self.key(tag))"] = isNew ? "yes" : "no"
    did("link", "\(isNew ? "link" : "unlink") \(Self.key(item)) \(Self.key(tag))")
  }

  // MARK: Batches

  private mutating func batch(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle, _ deletes: Bool
  ) throws {
    let items = try all("Item", context)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4:
      var rows: [[String: Any]] = []
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        let (key, value) = (oracle.fresh("k"), oracle.fresh("v"))
        rows.append(["key": key, valueName: value])
        draft.inserted.insert(key)
        draft.touched.insert(key)
        draft.writes.append(
          (
            .init(value: value, place: "item \(key) value", record: key, store: store, time: time),
            nil
          ))
      }
      did("batch insert", "batch insert \(rows.map { "\($0["key"] ?? "")" })")
      _ = try context.execute(BatchInsertRequest(entityName: "Item", objects: rows))
    case 4..<8:
      guard let item = generator.pick(items) else { return }
      let value = oracle.fresh("v")
      write(item, valueName, value, value)
      context.reset()
      let request = BatchUpdateRequest(entityName: "Item")
      request.predicate = ObjectPredicate(format: "key == %@", draft.writes[0].write.record)
      request.propertiesToUpdate = [valueName: value]
      did("batch update", "by a batch")
      _ = try context.execute(request)
    default:
      guard deletes, let item = generator.pick(items) else { return }
      delete(item, context)
      let key = draft.deletes.first?.record ?? ""
      context.reset()
      let fetch = FetchRequest<any FetchRequestResult>(entityName: "Item")
      fetch.predicate = ObjectPredicate(format: "key == %@", key)
      did("batch delete", "by a batch")
      _ = try context.execute(BatchDeleteRequest(fetchRequest: fetch))
    }
  }
}
