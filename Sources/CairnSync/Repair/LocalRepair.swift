import CairnCoordinator
import CairnModel
import CairnStore

/// Takes the rows of the local store that a program took away past history for deleted, with what the model's delete
/// rules make of that; this then travels as any other delete, and the store forgets that it ever saved them.
///
/// A row stays missing where the model denies its delete: a repair with a replica makes it again.
struct LocalRepair {
  let access: StoreAccess
  let coordinator: PersistentStoreCoordinator
  private static let page = 200

  /// - Parameter isPlan: Whether only to tell what would be done.
  func run(isPlan: Bool) throws -> RepairReport {
    // What sync has never written to has nothing that could travel.
    let isKnown = try !access.ledger().isNew
    if isKnown { try HistoryCapture(access: access).run() }
    let known = isKnown ? try access.vanishedRows() : []
    let lost = try access.store.capabilities.integrity?.lostRows() ?? []
    let objects = Set(known.map { Row($0.object) })
    let unknown = lost.filter { !objects.contains(Row($0)) }
    let deletion = LostRowDeletion(access: access, coordinator: coordinator, isKnown: isKnown)
    let effects = try deletion.effects(of: known.map(\.object) + unknown)
    let gone =
      known.map { difference(.vanished, $0.object, $0.entity, $0.id) }
      + unknown.map { difference(.vanished, $0, $0.entity.name ?? "", nil) }
    let denied = Set(effects.denied.map { $0.uriRepresentation().absoluteString })
    let along = try effects.along.keys.sorted { ($0.rowKey ?? 0) < ($1.rowKey ?? 0) }.map {
      let id = isKnown ? try access.ledger().recordID(for: $0) : nil
      return difference(.orphaned, $0, $0.entity.name ?? "", id)
    }
    let differences = gone.filter { !denied.contains($0.row ?? "") } + along
    let report = RepairReport(
      replica: StoreReference.localName, isPlan: isPlan,
      actions: differences.map {
        RepairReport.Action(kind: .deleted, preferred: .local, difference: $0)
      })
    if isPlan { return report }
    let deleted = (known.map(\.object) + unknown).filter { !effects.denied.contains($0) }
    for start in stride(from: 0, to: deleted.count, by: Self.page) {
      try deletion.perform(Array(deleted[start..<min(start + Self.page, deleted.count)]))
    }
    // Last: what a repair that dies before has not taken for deleted is found once more.
    try access.store.capabilities.integrity?.acceptLostRows(
      of: effects.denied.isEmpty ? nil : deleted)
    return report
  }

  /// A row by its table and its key, whichever entity of the table is said to have it.
  private struct Row: Hashable {
    let root: String?
    let key: ObjectKey
    init(_ object: ManagedObjectID) { (root, key) = (object.entity.rootEntity.name, object.key) }
  }

  private func difference(
    _ kind: StoreDifference.Kind, _ object: ManagedObjectID, _ entity: String, _ record: RecordID?
  ) -> StoreDifference {
    StoreDifference(
      kind: kind, record: record, entity: entity,
      row: object.uriRepresentation().absoluteString)
  }
}
