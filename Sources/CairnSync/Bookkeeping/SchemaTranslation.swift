/// What becomes of the names in a store's bookkeeping when its model has changed.
struct SchemaTranslation {
  /// New names by old ones; what is the same or gone is missing.
  private var entities: [String: String] = [:]
  /// By old entity, new names by old ones.
  private var properties: [String: [String: String]] = [:]
  private var links: [String: (name: String, isSwapped: Bool)] = [:]
  /// By new entity, the properties that continue nothing.
  private(set) var added: [String: Set<String>] = [:]
  /// By old root, the roots that its entities have now: an entity may get a superentity, or lose it.
  private var roots: [String: Set<String>] = [:]
  /// By new entity, the root of its tree.
  private var rootsByEntity: [String: String] = [:]
  /// The old entities, and the old properties as `Entity.property`, that nothing continues.
  private(set) var removed: Set<String> = []

  /// From the names of one store to those of another; nil where both are at one version of the model.
  static func between(_ source: StoreAccess, and destination: StoreAccess) -> SchemaTranslation? {
    source.schema === destination.schema
      ? nil : SchemaTranslation(from: source.schema.names, to: destination.schema)
  }

  /// Whether anything has another name, or rows lie in another tree of entities.
  var renames: Bool {
    !entities.isEmpty || !properties.isEmpty || !links.isEmpty
      || roots.contains { $0.value != [$0.key] }
  }

  init(from old: SchemaNames, to schema: SyncSchema) {
    let new = schema.names
    rootsByEntity = new.entities.mapValues(\.root)
    let sources = Self.match(
      new.entities.mapValues(\.identifier), with: old.entities.mapValues(\.identifier))
    removed = Set(old.entities.keys).subtracting(sources.values)
    for (name, entity) in new.entities {
      guard let source = sources[name], let former = old.entities[source] else { continue }
      if source != name { entities[source] = name }
      roots[former.root, default: []].insert(entity.root)
      let matched = Self.match(entity.properties, with: former.properties)
      for property in entity.properties.keys.sorted() {
        guard let was = matched[property] else {
          added[name, default: []].insert(property)
          continue
        }
        if was != property { properties[source, default: [:]][was] = property }
      }
      let gone = Set(former.properties.keys).subtracting(matched.values)
      removed.formUnion(gone.map { "\(source).\($0)" })
    }
    for link in old.links {
      let parts = link.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { continue }
      let entity = entity(parts[0])
      let relationship = property(parts[1], of: parts[0])
      guard
        let side = schema.entities[entity]?.linkSides.first(where: {
          $0.relationship.name == relationship
        })
      else { continue }
      if side.plan.name != link || !side.isCanonical {
        links[link] = (side.plan.name, !side.isCanonical && !side.plan.isSymmetric)
      }
    }
  }

  /// By new name, the old one that it continues: first what the new renaming identifier says, then the
  /// same name, then what the old one says, for a way back.
  private static func match(
    _ new: [String: String], with old: [String: String]
  ) -> [String: String] {
    var result: [String: String] = [:]
    var taken: Set<String> = []
    func take(_ name: String, _ source: String?) {
      guard let source, result[name] == nil, taken.insert(source).inserted else { return }
      result[name] = source
    }
    let names = new.keys.sorted()
    for name in names {
      guard let identifier = new[name], identifier != name else { continue }
      let byIdentifier = old.keys.sorted().first { old[$0] == identifier }
      take(name, old[identifier] == nil ? byIdentifier : identifier)
    }
    for name in names where old[name] != nil { take(name, name) }
    for name in names { take(name, old.keys.sorted().first { old[$0] == name && $0 != name }) }
    return result
  }

  func entity(_ name: String) -> String { entities[name] ?? name }

  /// The root of the tree in which a row of an old entity lies now.
  ///
  /// - Parameters:
  ///   - root: The old root.
  ///   - entity: The old entity; nil where it is not known.
  /// - Returns: Nil where the root alone does not tell.
  func root(_ root: String, of entity: String?) -> String? {
    if let entity, let found = rootsByEntity[self.entity(entity)] { return found }
    guard let found = roots[root] else { return root }
    return found.count == 1 ? found.first : nil
  }

  /// A property of an old entity; a place in an ordered relationship is called after it.
  func property(_ name: String, of entity: String) -> String {
    guard let renamed = properties[entity] else { return name }
    if let other = renamed[name] { return other }
    let suffix = SyncSchema.positionSuffix
    guard name.hasSuffix(suffix), let other = renamed[String(name.dropLast(suffix.count))] else {
      return name
    }
    return other + suffix
  }

  func entry(_ old: RecordEntry) -> RecordEntry {
    var entry = old
    entry.entity = entity(old.entity)
    entry.writes = keys(of: old.writes, old.entity)
    entry.overlay = keys(of: old.overlay, old.entity)
    return entry
  }

  func additions(_ old: SchemaAdditions) -> SchemaAdditions {
    var additions = SchemaAdditions()
    for (entity, added) in old.byEntity {
      additions.byEntity[self.entity(entity), default: []] += added.map {
        .init(property: property($0.property, of: entity), sequence: $0.sequence)
      }
    }
    return additions
  }

  func state(_ old: RecordState) -> RecordState {
    var state = old
    state.entity = entity(old.entity)
    if properties[old.entity] != nil {
      state.registers = old.registers.renamed { property($0, of: old.entity) }
    }
    return state
  }

  func content(_ old: QuarantineEntry.Content) -> QuarantineEntry.Content {
    switch old {
    case .record(let state): return .record(self.state(state))
    case .link(let change):
      let (key, state) = link(change.key, change.state)
      return .link(LinkChange(key: key, state: state))
    }
  }

  func changes(_ old: ChangeSet) -> ChangeSet {
    var set = old
    set.records = old.records.map(state)
    set.links = old.links.map { change in
      let (key, state) = link(change.key, change.state)
      return LinkChange(key: key, state: state)
    }
    return set
  }

  private func keys<Value>(of values: [String: Value], _ entity: String) -> [String: Value] {
    guard properties[entity] != nil else { return values }
    return Dictionary(
      values.map { (property($0.key, of: entity), $0.value) },
      uniquingKeysWith: { first, _ in first })
  }

  func link(_ key: LinkKey, _ state: LinkState) -> (key: LinkKey, state: LinkState) {
    guard let to = links[key.relationship] else { return (key, state) }
    var state = state
    if to.isSwapped { swap(&state.memberPosition, &state.ownerPosition) }
    return (link(key), state)
  }

  func relationship(_ name: String) -> String { links[name]?.name ?? name }

  func link(_ key: LinkKey) -> LinkKey {
    guard let to = links[key.relationship] else { return key }
    return LinkKey(
      relationship: to.name, owner: to.isSwapped ? key.member : key.owner,
      member: to.isSwapped ? key.owner : key.member)
  }
}
