/// What becomes of the names in a store's bookkeeping when its model has changed.
struct SchemaTranslation {
  private let entities: NameTranslation
  /// By old entity, where a property has another name.
  private var properties: [String: NameTranslation] = [:]
  private let links: NameTranslation
  /// The old links whose ends have changed places.
  private let swapped: Set<String>
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
    entities.renames || !properties.isEmpty || links.renames || !swapped.isEmpty
      || roots.contains { $0.value != [$0.key] }
  }

  init(from old: SchemaNames, to schema: SyncSchema) {
    let new = schema.names
    rootsByEntity = new.entities.mapValues(\.root)
    let names = ContinuedNames(from: old, to: new, through: schema.versions.names)
    let continued = names.entities
    let entities = NameTranslation(Set(old.entities.keys), continued)
    self.entities = entities
    removed = Set(old.entities.keys).subtracting(continued.keys)
    for (source, name) in continued {
      guard let former = old.entities[source], let entity = new.entities[name] else { continue }
      roots[former.root, default: []].insert(entity.root)
      let matched = names.properties[source] ?? [:]
      let translation = NameTranslation(Set(former.properties.keys), matched)
      if translation.renames { properties[source] = translation }
      let gained = Set(entity.properties.keys).subtracting(matched.values)
      if !gained.isEmpty { added[name] = gained }
      let gone = Set(former.properties.keys).subtracting(matched.keys)
      removed.formUnion(gone.map { "\(source).\($0)" })
    }
    var relationships: [String: String] = [:]
    var swapped: Set<String> = []
    for link in old.links {
      let parts = link.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2, let entity = continued[parts[0]] else { continue }
      let relationship = properties[parts[0]]?(parts[1]) ?? parts[1]
      guard
        let side = schema.entities[entity]?.linkSides.first(where: {
          $0.relationship.name == relationship
        })
      else { continue }
      relationships[link] = side.plan.name
      if !side.isCanonical && !side.plan.isSymmetric { swapped.insert(link) }
    }
    links = NameTranslation(old.links, relationships)
    self.swapped = swapped
  }

  func entity(_ name: String) -> String { entities(name) }

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
    guard let names = properties[entity] else { return name }
    let suffix = SyncSchema.positionSuffix
    guard name.hasSuffix(suffix) else { return names(name) }
    return names(String(name.dropLast(suffix.count))) + suffix
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
    var state = state
    if swapped.contains(key.relationship) { swap(&state.memberPosition, &state.ownerPosition) }
    return (link(key), state)
  }

  func relationship(_ name: String) -> String { links(name) }

  func link(_ key: LinkKey) -> LinkKey {
    let isSwapped = swapped.contains(key.relationship)
    return LinkKey(
      relationship: links(key.relationship), owner: isSwapped ? key.member : key.owner,
      member: isSwapped ? key.owner : key.member)
  }
}
