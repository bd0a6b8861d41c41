import CairnModel
import CairnStore

/// What a comparison of two stores looks at in one of them to tell who belongs to a record, in the names of the local
/// store.
///
/// A record of an entity that only one of the two models has is in the rows of one store alone: it is left out of the
/// lists of others there, and its own links are compared by their stamps, which both stores keep.
struct ComparedMembers {
  private let access: StoreAccess
  /// To the names of the local store; nil where they are these.
  private let translation: SchemaTranslation?
  private let filter: EntityFilter?
  /// The relationships that travel as links or have an order, of those that both models have.
  private let relationships: [RelationshipDescription]
  /// The entities that the other model lacks.
  private let lacked: Set<String>

  init(
    of access: StoreAccess, _ translation: SchemaTranslation?, besides other: StoreAccess,
    _ othersTranslation: SchemaTranslation?, _ filter: EntityFilter?
  ) {
    self.access = access
    self.translation = translation
    self.filter = filter
    if access.schema === other.schema {
      relationships = access.schema.comparedRelationships
      lacked = []
      return
    }
    let others = Set(Self.relationships(of: other.schema, othersTranslation).keys)
    relationships = Self.relationships(of: access.schema, translation)
      .filter { others.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
    let entities = Set(
      other.schema.entities.keys.map { othersTranslation?.entity($0) ?? $0 })
    lacked = Set(
      access.schema.entities.keys.filter { !entities.contains(translation?.entity($0) ?? $0) })
  }

  /// By `Entity.relationship`.
  private static func relationships(
    of schema: SyncSchema, _ translation: SchemaTranslation?
  ) -> [String: RelationshipDescription] {
    let pairs = schema.comparedRelationships.map { relationship in
      let entity = relationship.entity?.name ?? ""
      let name = translation?.property(relationship.name, of: entity) ?? relationship.name
      return ((translation?.entity(entity) ?? entity) + "." + name, relationship)
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  /// By record and relationship, who is a member.
  func members(
    of records: [(id: RecordID, object: ManagedObjectID)], _ ledger: Ledger
  ) throws -> [RecordID: [String: [RecordID]]] {
    var result: [RecordID: [String: [RecordID]]] = [:]
    for item in records where isLacked(item.object) {
      result[item.id] = try links(of: item.id, ledger)
    }
    for relationship in relationships {
      guard let owner = relationship.entity else { continue }
      let name = name(of: relationship)
      let owners = records.filter { item in
        item.object.entity.isKindOf(entity: owner) && !isLacked(item.object)
          && !leadsOut(name, of: item.object.entity)
      }
      if owners.isEmpty { continue }
      let lists = try access.store.members(of: relationship, owners: owners.map(\.object))
        .map { $0.filter { !isLacked($0) } }
      try ledger.prefetch(lists.joined().compactMap(SyncKey.object))
      for (item, list) in zip(owners, lists) where !list.isEmpty {
        let ids = try list.compactMap { try ledger.recordID(for: $0) }
        result[item.id, default: [:]][name] =
          relationship.isOrdered ? ids : ids.sorted()
      }
    }
    return result
  }

  /// By relationship, what stands for the links of a record that one of the stores has no object of: a digest of each
  /// with its stamps.
  func links(of id: RecordID, _ ledger: Ledger) throws -> [String: [RecordID]] {
    var result: [String: [RecordID]] = [:]
    for relationship in relationships where SyncSchema.travelsAsLinks(relationship) {
      let isCanonical = SyncSchema.isCanonical(relationship)
      let canonical = isCanonical ? relationship : relationship.inverseRelationship
      guard let plan = canonical.flatMap({ access.schema.links[SyncSchema.name(of: $0)] })
      else { continue }
      let roles: [LinkEnd.Role] = plan.isSymmetric ? [.either] : [.owner, .member]
      let keys = try roles.flatMap { try ledger.links(of: LinkEnd(plan.name, $0, id)) }
      let digests = try keys.compactMap { key -> RecordID? in
        guard let state = try ledger.link(key)?.state, try isThere(key.owner, ledger),
          try isThere(key.member, ledger)
        else { return nil }
        let (named, translated) = translation?.link(key, state) ?? (key, state)
        return translated.digest(named).map { RecordID(high: $0.sum.high, low: $0.sum.low) }
      }
      if !digests.isEmpty { result[name(of: relationship)] = digests.sorted() }
    }
    return result
  }

  /// Whether the store has a record, as an object or beside its rows, and the link exchanges it.
  private func isThere(_ id: RecordID, _ ledger: Ledger) throws -> Bool {
    guard let entry = try ledger.record(id),
      filter?.names.contains(translation?.entity(entry.entity) ?? entry.entity) ?? true
    else { return false }
    if entry.key != nil { return true }
    return access.schema.entities[entry.entity] == nil
      && entry.state(id: id, row: nil).isAlive(under: access.policy(of: entry.entity))
  }

  private func isLacked(_ object: ManagedObjectID) -> Bool {
    !lacked.isEmpty && object.entity.name.map(lacked.contains) ?? false
  }

  private func name(of relationship: RelationshipDescription) -> String {
    translation?.property(relationship.name, of: relationship.entity?.name ?? "")
      ?? relationship.name
  }

  /// - Parameter name: In the names of the local store.
  private func leadsOut(_ name: String, of entity: EntityDescription) -> Bool {
    guard let filter, let own = entity.name else { return false }
    return filter.leadsOut(name, of: translation?.entity(own) ?? own)
  }
}
