import CairnStore
import Foundation

/// Has a store forget what a migration has dropped, in the commit that takes up the new names.
///
/// What others still have of it comes back: as undefined properties where the model lacks it now, and into the rows
/// where the names have come back meanwhile. Otherwise the writes on record would say that the store has had those
/// values, and ``SyncEngine`` would call stores in step that differ. The others meet a store that went back in time.
struct SchemaLosses {
  private let access: StoreAccess
  private let ledger: Ledger
  private var entities: Set<String> = []
  private var properties: [String: Set<String>] = [:]
  private var links: Set<String> = []

  /// - Parameters:
  ///   - names: What was dropped; what did not travel is of no concern here.
  ///   - old: The names that the bookkeeping had.
  ///   - translation: To those that it has now.
  init(
    _ names: Set<String>, _ old: SchemaNames, _ translation: SchemaTranslation,
    _ access: StoreAccess, _ ledger: Ledger
  ) {
    self.access = access
    self.ledger = ledger
    for name in names {
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard let entity = old.entities[parts[0]] else { continue }
      let new = translation.entity(parts[0])
      guard parts.count == 2 else {
        entities.insert(new)
        continue
      }
      // The parts of a composite attribute are called after it.
      for property in entity.properties.keys
      where property == parts[1] || property.hasPrefix(parts[1] + ".") {
        properties[new, default: []].insert(translation.property(property, of: parts[0]))
      }
      if old.links.contains(name) { links.insert(translation.relationship(name)) }
    }
  }

  /// By entity, the lost properties that the model has again; where they had no write of their own, ``SchemaUpgrade``
  /// adds them anew.
  var restored: [String: Set<String>] {
    var restored: [String: Set<String>] = [:]
    for (entity, names) in properties {
      guard let columns = access.schema.entities[entity]?.names else { continue }
      restored[entity] = names.filter { columns.place(of: $0) != nil }
    }
    return restored
  }

  private var isEmpty: Bool { entities.isEmpty && properties.isEmpty }

  func forget() throws {
    guard !isEmpty, let sidecar = access.store.capabilities.sidecar else { return }
    try sidecar.visitEntries(of: .records) { key, _ in
      let id = try SyncKey.identity(RecordID.self, in: key)
      guard let entry = try ledger.record(id), entry.key != nil else { return }
      if entities.contains(entry.entity) {
        ledger.forget(id, sequence: entry.sequence)
      } else if let lost = properties[entry.entity] {
        let left = entry.forgetting(lost)
        if left != entry { ledger.setRecordQuietly(id, left) }
      }
    }
    if !entities.isEmpty { try forgetRows(sidecar) }
    if !links.isEmpty { try forgetLinks(sidecar) }
    // Others leave out what they have from here of what they send to the identity that it had.
    try ledger.beginIncarnation(access.environment.random)
    try ledger.readOthersAgain(havingLost: entities.union(links).union(linksOfEntities))
  }

  /// The relationships of which links have gone with the records at an end.
  private var linksOfEntities: [String] {
    let gone = entities.compactMap { access.schema.entities[$0]?.entity }
    return access.schema.links.filter { _, plan in
      let ends = [plan.relationship.entity, plan.relationship.destinationEntity].compactMap { $0 }
      return gone.contains { entity in ends.contains(where: entity.isKindOf) }
    }.map(\.key)
  }

  /// That a link was removed is not lost with the rows.
  private func forgetLinks(_ sidecar: any SidecarKeeping) throws {
    try sidecar.visitEntries(of: .links) { key, _ in
      let link = try SyncKey.linkKey(from: key)
      guard links.contains(link.relationship), let entry = try ledger.link(link),
        entry.state.isMember
      else { return }
      ledger.forget(link, sequence: entry.sequence)
    }
  }

  /// Rows that get the keys of those from now on are rows of their own.
  private func forgetRows(_ sidecar: any SidecarKeeping) throws {
    try sidecar.visitEntries(of: .ids) { key, value in
      let id = try SyncKey.identity(RecordID.self, in: value)
      if try ledger.record(id) == nil { ledger.put(SyncMap.ids.key(key), nil) }
    }
  }
}

extension RecordEntry {
  /// With writes of lost values as a migration fills them in; what is kept beside the row is not lost.
  fileprivate func forgetting(_ names: Set<String>) -> RecordEntry {
    var entry = self
    for name in names where overlay[name] == nil && writes[name] != nil {
      entry.writes[name] = .filledIn
    }
    return entry
  }
}
