import CairnModel
import CairnStore
import Foundation

/// Which records a replica and the local store exchange, by their entities.
///
/// References to other records are kept where they stand, and forwarded, but not followed.
struct EntityFilter: Hashable, Sendable {
  /// The entities by name, all their subentities among them.
  private(set) var names: Set<String>
  /// The relationships, by `Entity.relationship`, that can lead to such records or away from them.
  private var links: Set<String>
  /// The properties, by `Entity.property`, that can only lead to records that are not exchanged.
  private var leadingOut: Set<String>

  /// Nil for a replica that takes all.
  ///
  /// - Throws: ``SyncError`` when an entity is not in the model, or none is named.
  init?(_ replica: ReplicaConfiguration, _ schema: SyncSchema) throws {
    guard let entities = replica.entities else { return nil }
    for name in entities.sorted() where schema.entities[name] == nil {
      throw SyncError(
        .invalidConfiguration,
        "the replica \(replica.name) is to have the entity \(name), but the model has no such entity",
        recovery: .person)
    }
    guard !entities.isEmpty else {
      throw SyncError(
        .invalidConfiguration,
        "the replica \(replica.name) is to have no entity; name some, or leave the list out to have all",
        recovery: .person)
    }
    let names = Set(
      schema.entities.values.filter { plan in
        var next: EntityDescription? = plan.entity
        while let entity = next {
          if entity.name.map(entities.contains) == true { return true }
          next = entity.superentity
        }
        return false
      }.compactMap(\.entity.name))
    func leads(to destination: EntityDescription?) -> Bool {
      destination?.selfAndDescendants.contains { $0.name.map(names.contains) ?? false } ?? false
    }
    self.names = names
    links = Set(
      schema.links.values.filter {
        leads(to: $0.relationship.entity) || leads(to: $0.relationship.destinationEntity)
      }.map(\.name))
    var leadingOut: Set<String> = []
    for (name, plan) in schema.entities {
      for column in plan.columns {
        guard let relationship = column.relationship,
          !leads(to: relationship.destinationEntity)
        else { continue }
        leadingOut.insert("\(name).\(column.name)")
      }
      for relationship in plan.entity.relationshipsByName.values
      where relationship.isToMany && !leads(to: relationship.destinationEntity) {
        leadingOut.insert("\(name).\(relationship.name)")
      }
    }
    self.leadingOut = leadingOut
  }

  /// The filter that a store remembers; nil where the model has its entities no more.
  init?(_ remembered: Data, _ schema: SyncSchema) {
    // Some may be those of a newer version that a replica was at.
    let known = Self.names(remembered).filter { schema.entities[$0] != nil }
    let replica = ReplicaConfiguration(
      name: "", url: URL(fileURLWithPath: "/"), entities: Set(known))
    guard let filter = try? Self(replica, schema) else { return nil }
    self = filter
  }

  /// What of a change set is exchanged.
  func changes(_ set: ChangeSet) -> ChangeSet {
    var set = set
    set.records.removeAll { !names.contains($0.entity) }
    set.links.removeAll { !exchanges($0.key) }
    return set
  }

  /// Whether a link is exchanged.
  func exchanges(_ link: LinkKey) -> Bool { links.contains(link.relationship) }

  /// Whether what waits in quarantine is exchanged.
  func exchanges(_ content: QuarantineEntry.Content) -> Bool {
    switch content {
    case .record(let state): names.contains(state.entity)
    case .link(let link): exchanges(link.key)
    }
  }

  /// The filter with the subentities that another version of the model has of its entities: a store keeps their
  /// records for when it has that version, since others may stand for its own.
  ///
  /// - Parameter own: The version that the filter's names are of.
  func widened(from own: SyncSchema, by other: SyncSchema) -> EntityFilter {
    if own === other { return self }
    let there = translated(from: own, to: other).names
    let back = SchemaTranslation(from: other.names, to: own)
    var filter = self
    for (name, plan) in other.entities where own.entities[back.entity(name)] == nil {
      var next = plan.entity.superentity
      while let entity = next {
        if entity.name.map(there.contains) == true { filter.names.insert(back.entity(name)) }
        next = entity.superentity
      }
    }
    return filter
  }

  /// The same filter in the names of another version of the model.
  func translated(from old: SyncSchema, to new: SyncSchema) -> EntityFilter {
    if old === new { return self }
    let translation = SchemaTranslation(from: old.names, to: new)
    var filter = self
    filter.names = Set(names.map(translation.entity))
    filter.links = Set(links.map(translation.relationship))
    filter.leadingOut = Set(
      leadingOut.map { path in
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        return "\(translation.entity(parts[0])).\(translation.property(parts[1], of: parts[0]))"
      })
    return filter
  }

  /// Whether records or links that are summed up together may be exchanged.
  func concerns(_ bucket: DigestBucket, _ schema: SyncSchema) -> Bool {
    if let relationship = bucket.relationship { return links.contains(relationship) }
    return names.contains { schema.entities[$0]?.entity.rootEntity.name == bucket.root }
  }

  /// Whether a property of an entity can only lead to records that are not exchanged.
  func leadsOut(_ property: String, of entity: String) -> Bool {
    leadingOut.contains("\(entity).\(property)")
  }

  /// Whether two values are references of one write to what is not exchanged.
  ///
  /// They are kept, and not followed: one of the stores may know that another record stands for the one that was meant.
  func keeps(
    _ mine: Register?, _ theirs: Register?, of property: String, _ entity: String
  ) -> Bool {
    guard let mine, let theirs, mine.write.stamp == theirs.write.stamp,
      leadsOut(property, of: entity)
    else { return false }
    return mine.value.reference != nil && theirs.value.reference != nil
  }

  /// Whether something that differs between the two stores should not.
  func concerns(_ difference: StoreDifference) -> Bool {
    guard names.contains(difference.entity) else { return false }
    guard difference.kind == .members, let property = difference.property else { return true }
    return !leadsOut(property, of: difference.entity)
  }

  /// The bytes by which the last filter is remembered.
  var encoded: Data { Data(names.sorted().joined(separator: "\n").utf8) }

  static func names(_ data: Data) -> Set<String> {
    Set(String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init))
  }
}

extension StoreAccess {
  /// Remembers which records come from a source; where there are more than before, they are served from
  /// the beginning, by which all is compared.
  ///
  /// Records that are exchanged no longer stay where they are.
  func take(_ filter: EntityFilter?, from source: StoreID) throws {
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      let key = SyncKey.filter(source)
      let old = try ledger.value(key)
      if old == filter?.encoded { return }
      ledger.put(key, filter?.encoded)
      let isWider = old.map { old in
        filter.map { !$0.names.isSubset(of: EntityFilter.names(old)) } ?? true
      }
      if isWider == true { ledger.setCursor(SyncCursor(), for: source) }
      if try commit(ledger) { return }
    }
    throw Self.contention(store)
  }
}

extension VerifyReport {
  /// The report without what the two stores do not exchange.
  ///
  /// - Parameter named: The filter in the replica's names, which name the rows that only it has.
  func within(_ filter: EntityFilter, named: EntityFilter) -> VerifyReport {
    var report = self
    report.differences = differences.filter {
      ($0.kind == .unknownReplica ? named : filter).concerns($0)
    }
    return report
  }
}
