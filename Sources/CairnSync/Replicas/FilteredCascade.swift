import CairnModel
import CairnStore

/// Tells a store that has some entities only what the delete rules of the others do to its records.
///
/// Where a program deletes an owner, planning hides the members that the program did not know
/// (Decisions/0017-ImportsAreDecidedInValues.md). The owner's delete does not reach a store that leaves owners out. So
/// this gives each member that the source hides a delete of its own, at the stamp of the owner's, which has seen all
/// older writes. The destination takes that delete for its own and sends it back; a later write brings the member back
/// everywhere.
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
    var ids = Set(set.records.map(\.id))
    for owner in set.records where owner.deletion != nil && !filter.names.contains(owner.entity) {
      for waiting in try ledger.waiting(for: owner.id) where !ids.contains(waiting.owner) {
        guard let entry = try ledger.record(waiting.owner), entry.key == nil else { continue }
        let state = entry.state(id: waiting.owner, row: nil)
        ids.insert(state.id)
        set.records.append(translation?.state(state) ?? state)
      }
    }
    set.records.sort { $0.id < $1.id }
    try ledger.prefetch(records: set.records.filter { owners[$0.entity] != nil }.map(\.id))
    for (place, state) in set.records.enumerated() {
      guard let names = owners[state.entity], state.survivor == nil,
        state.isAlive(under: policy(state.entity)), try isWithoutRow(state.id, ledger)
      else { continue }
      for name in names {
        guard let owner = state.registers[name]?.value.reference,
          let deletion = try deletion(of: owner, ledger)
        else { continue }
        let taken = delete(of: state, with: deletion)
        set.records[place].deletion = state.deletion?.joined(with: taken) ?? taken
        set.completed.insert(state.id)
        break
      }
    }
    return set
  }

  private func isWithoutRow(_ id: RecordID, _ ledger: Ledger) throws -> Bool {
    try ledger.record(id).map { $0.key == nil } ?? false
  }

  /// The delete of an owner that is not there; nil for one that is there, or has never been.
  private func deletion(of owner: RecordID, _ ledger: Ledger) throws -> Deletion? {
    guard let entry = try ledger.record(ledger.resolve(owner)), entry.key == nil else { return nil }
    return entry.deletion
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
