import CairnModel
import CairnStore

/// Tells a store that has some entities only what the delete rules of the others do to its records.
///
/// Where a program deletes an owner, planning hides the members that the program did not know
/// (Decisions/0017-ImportsAreDecidedInValues.md). The owner's delete does not reach a store that leaves owners out. So
/// this gives each member that the source hides a delete of its own, at the stamp of the owner's, which has seen all
/// older writes; where the owner is hidden itself, at the stamp of the delete that hides it. The destination takes that
/// delete for its own and sends it back; a later write brings the member back everywhere.
struct FilteredCascade {
  /// In the names of the local store.
  let filter: EntityFilter
  /// The local store's.
  let schema: SyncSchema
  let source: StoreAccess
  /// Who wins between deletes and writes of an entity.
  let policy: (String) -> DeleteConflictPolicy

  /// By entity that is exchanged, the references to owners that are not.
  private var owners: [String: [String]] {
    var found: [String: [String]] = [:]
    for name in filter.names {
      guard let plan = schema.entities[name] else { continue }
      let names = plan.takenAlongBy.map { plan.columns[$0].name }
        .filter { filter.leadsOut($0, of: name) }
      if !names.isEmpty { found[name] = names }
    }
    return found
  }

  /// A change set in the names of the local store with the members that went along with its owners, and the deletes of
  /// those that the source hides.
  func complete(_ set: ChangeSet) throws -> ChangeSet {
    let owners = owners
    if owners.isEmpty || set.records.isEmpty { return set }
    let ledger = try source.ledger()
    let translation =
      source.schema === schema ? nil : SchemaTranslation(from: source.schema.names, to: schema)
    var set = set
    let ids = Set(set.records.map(\.id))
    for (id, entry) in try hidden(below: set.records, ledger) where !ids.contains(id) {
      let state = entry.state(id: id, row: nil)
      let named = translation?.state(state) ?? state
      if owners[named.entity] != nil { set.records.append(named) }
    }
    set.records.sort { $0.id < $1.id }
    try ledger.prefetch(records: set.records.filter { owners[$0.entity] != nil }.map(\.id))
    for (place, state) in set.records.enumerated() {
      guard let names = owners[state.entity], state.survivor == nil,
        state.isAlive(under: policy(state.entity)), try isWithoutRow(state.id, ledger)
      else { continue }
      let targets = names.compactMap { state.registers[$0]?.value.reference }
      guard let deletion = try deletion(above: targets, ledger) else { continue }
      let taken = delete(of: state, with: deletion)
      set.records[place].deletion = state.deletion?.joined(with: taken) ?? taken
      set.completed.insert(state.id)
    }
    return set
  }

  private func isWithoutRow(_ id: RecordID, _ ledger: Ledger) throws -> Bool {
    try ledger.record(id).map { $0.key == nil } ?? false
  }

  /// The records that the source hides because of deleted ones, however far they hang below these: what is between
  /// may be hidden itself, and may be what is not exchanged.
  private func hidden(
    below records: [RecordState], _ ledger: Ledger
  ) throws -> [RecordID: RecordEntry] {
    var found: [RecordID: RecordEntry] = [:]
    if try ledger.nothingIsParked() { return found }
    var next = records.filter { $0.deletion != nil }.map(\.id)
    while let owner = next.popLast() {
      for id in try ledger.waiting(for: owner).map(\.owner) where found[id] == nil {
        guard let entry = try ledger.record(id), entry.key == nil else { continue }
        found[id] = entry
        next.append(id)
      }
    }
    return found
  }

  /// The latest delete of the owners that are not there, and of those by whose delete they are hidden; nil where all
  /// are there, or have never been.
  private func deletion(above owners: [RecordID], _ ledger: Ledger) throws -> Deletion? {
    var latest: Deletion?
    var seen: Set<RecordID> = []
    var next = owners
    while let owner = next.popLast() {
      let id = try ledger.resolve(owner)
      guard seen.insert(id).inserted, let entry = try ledger.record(id), entry.key == nil else {
        continue
      }
      if let deletion = entry.deletion, !isAlive(entry, id) {
        if latest.map({ $0.stamp < deletion.stamp }) ?? true { latest = deletion }
        continue
      }
      guard let plan = source.schema.entities[entry.entity] else { continue }
      next += plan.takenAlongBy.compactMap { entry.overlay[plan.columns[$0].name]?.reference }
    }
    return latest
  }

  private func isAlive(_ entry: RecordEntry, _ id: RecordID) -> Bool {
    entry.state(id: id, row: nil).isAlive(under: source.policy(of: entry.entity))
  }

  private func delete(of member: RecordState, with owner: Deletion) -> Deletion {
    var seen = owner.seen
    member.registers.visit { _, _, write in
      if write.stamp < owner.stamp, write.stamp.store != owner.stamp.store {
        seen.insert(write.stamp)
      }
    }
    return Deletion(stamp: owner.stamp, seen: seen, policy: policy(member.entity))
  }
}
