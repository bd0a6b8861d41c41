import CairnModel
import CairnStore
import Foundation

/// Tells what the direction of a link leaves out from what is wrong.
///
/// The store that takes nothing has what was written in it, and all that the other has, once the link has
/// done its work: what differs because of that is left out.
struct DirectedComparison {
  private let local: StoreAccess
  private let replica: StoreAccess
  /// Whether the local store is the one that gives nothing.
  private let isLocalKept: Bool
  private let standing: StandingComparison
  /// From the replica's names to those of the local store; nil for one version.
  private let translation: SchemaTranslation?
  /// The filter in the names of the store that gives nothing.
  private let filter: EntityFilter?

  private var source: StoreAccess { isLocalKept ? local : replica }
  private var destination: StoreAccess { isLocalKept ? replica : local }

  /// Nil for a link that goes both ways.
  ///
  /// - Parameter filter: In the names of the local store.
  init?(
    local: StoreAccess, replica: StoreAccess, _ direction: SyncDirection, filter: EntityFilter?
  ) {
    if direction == .both { return nil }
    self.local = local
    self.replica = replica
    isLocalKept = direction == .pull
    translation = .between(replica, and: local)
    let source = isLocalKept ? local : replica
    self.filter = filter?.translated(from: local.schema, to: source.schema)
    standing = StandingComparison(
      source: source, destination: isLocalKept ? replica : local, filter: self.filter)
  }

  /// The report with the number of records that are left out instead of the differences that this makes.
  func told(_ report: VerifyReport) throws -> VerifyReport {
    var report = report
    var leftOut: Set<String> = []
    var rest = report.differences[...]
    report.differences = []
    while !rest.isEmpty {
      let page = rest.prefix(StoreComparison.page)
      rest = rest.dropFirst(StoreComparison.page)
      let (mine, theirs) = (try source.ledger(), try destination.ledger())
      try mine.prefetch(records: page.compactMap(\.record))
      try theirs.prefetch(records: page.compactMap(\.record))
      for difference in page where try !isOneReference(difference, mine) {
        if try isLeftOut(difference, mine, theirs) {
          leftOut.insert(difference.record?.description ?? difference.row ?? "")
        } else {
          report.differences.append(difference)
        }
      }
    }
    report.leftOut = leftOut.count
    return report
  }

  /// Whether two values are one reference, of one write: only the store that gives nothing knows that another record
  /// stands for the one that was meant.
  private func isOneReference(_ difference: StoreDifference, _ mine: Ledger) throws -> Bool {
    guard difference.isOfOneWrite, let local = difference.values?.local?.reference,
      let far = difference.values?.replica?.reference
    else { return false }
    return try mine.resolve(local) == mine.resolve(far)
  }

  private func isLeftOut(
    _ difference: StoreDifference, _ mine: Ledger, _ theirs: Ledger
  ) throws -> Bool {
    let id = difference.record
    switch difference.kind {
    case .unknownLocal: return isLocalKept
    case .unknownReplica: return !isLocalKept
    case .damagedLocal, .damagedReplica, .vanished, .orphaned, .unsaved, .changed, .entity:
      return false
    case .onlyLocal, .onlyReplica:
      guard let id else { return false }
      return (difference.kind == .onlyLocal) == isLocalKept
        ? try theirs.record(id)?.key == nil && isRead(id, mine, theirs)
        : try mine.record(id)?.key == nil && isRead(id, mine, theirs)
    case .value, .stamp:
      guard let id, let name = difference.property, let entry = try mine.record(id),
        let other = try theirs.record(id)
      else { return false }
      let own = inLocalNames(entry, of: source)
      let far = inLocalNames(other, of: destination)
      guard let write = own.write(of: name) else { return false }
      return far.write(of: name).map { $0.stamp < write.stamp } ?? true
    case .members:
      guard let id, let name = difference.property else { return false }
      return try areMembersLeftOut(of: id, name)
    }
  }

  /// Whether the store that gives nothing has taken all that the other has of a record: what is purged there
  /// was deleted, too.
  private func isRead(_ id: RecordID, _ mine: Ledger, _ theirs: Ledger) throws -> Bool {
    if try mine.value(SyncKey.quarantine(id)) != nil { return false }
    guard let entry = try theirs.record(id) else { return true }
    return try entry.sequence <= mine.cursor(for: theirs.storeID).position
  }

  private func inLocalNames(_ entry: RecordEntry, of access: StoreAccess) -> RecordEntry {
    guard let translation, access.schema !== local.schema else { return entry }
    return translation.entry(entry)
  }

  // MARK: Members

  /// - Parameter name: In the names of the local store.
  private func areMembersLeftOut(of owner: RecordID, _ name: String) throws -> Bool {
    let (mine, theirs) = (
      try members(of: owner, name, in: source), try members(of: owner, name, in: destination)
    )
    let apart = Set(mine).symmetricDifference(theirs)
    let candidates = apart.isEmpty ? Set(mine) : apart
    // What the source has removed and forgotten, only the destination knows.
    let known = try Set(links(of: owner, name, in: source)).union(
      links(of: owner, name, in: destination).map { standing.back?.link($0) ?? $0 })
    let keys = known.filter {
      candidates.contains($0.owner == owner ? $0.member : $0.owner)
    }
    let ahead = try standing.ahead(candidates, keys)
    let explained = ahead.records.union(
      ahead.links.map { $0.owner == owner ? $0.member : $0.owner })
    // One that is newer in its place moves others.
    return apart.isEmpty ? !explained.isEmpty : apart.isSubset(of: explained)
  }

  private func members(
    of owner: RecordID, _ name: String, in access: StoreAccess
  ) throws -> [RecordID] {
    let ledger = try access.ledger()
    guard let entry = try ledger.record(owner), let object = ledger.objectID(for: entry),
      let relationship = self.relationship(name, of: object.entity, in: access)
    else { return [] }
    let found = try access.store.members(of: relationship, owners: [object])
    return try (found.first ?? []).compactMap { try ledger.recordID(for: $0) }
  }

  private func relationship(
    _ name: String, of entity: EntityDescription, in access: StoreAccess
  ) -> RelationshipDescription? {
    guard let translation, access.schema !== local.schema else {
      return entity.relationshipsByName[name]
    }
    return entity.relationshipsByName.values.first {
      translation.property($0.name, of: entity.name ?? "") == name
    }
  }

  /// The links of a record in one relationship, as a store knows and names them.
  private func links(
    of owner: RecordID, _ name: String, in access: StoreAccess
  ) throws -> [LinkKey] {
    let ledger = try access.ledger()
    guard let entry = try ledger.record(owner), let plan = access.schema.entities[entry.entity],
      let relationship = relationship(name, of: plan.entity, in: access),
      let side = plan.linkSides.first(where: { $0.relationship.name == relationship.name })
    else { return [] }
    return try ledger.links(of: owner, side)
  }
}
