import CairnModel
import CairnStore

/// Takes the rows of the local store that a program took away past history for deleted, which then travels as any
/// other delete, and has the store forget that it ever saved them.
struct LocalRepair {
  let access: StoreAccess
  private static let page = 200

  /// - Parameter isPlan: Whether only to tell what would be done.
  func run(isPlan: Bool) throws -> RepairReport {
    // What sync has never written to has nothing that could travel.
    let isKnown = try !access.ledger().isNew
    if isKnown { try HistoryCapture(access: access).run() }
    let known = isKnown ? try access.vanishedRows() : []
    let lost = try (access.store as? any LostRowAccepting)?.lostRows() ?? []
    let objects = Set(known.map { Row($0.object) })
    let differences =
      known.map { difference($0.object, $0.entity, $0.id) }
      + lost.filter { !objects.contains(Row($0)) }.map { difference($0, $0.entity.name ?? "", nil) }
    let report = RepairReport(
      replica: StoreReference.localName, isPlan: isPlan,
      actions: differences.map {
        RepairReport.Action(kind: .deleted, preferred: .local, difference: $0)
      })
    if isPlan { return report }
    for start in stride(from: 0, to: known.count, by: Self.page) {
      try access.captureNow { work, stamp in
        let objects = known[start..<min(start + Self.page, known.count)].map(\.object)
        let rows = try access.store.snapshots(for: objects)
        // One may have come back.
        for (object, row) in zip(objects, rows) where row == nil { try work.delete(object, stamp) }
      }
    }
    // Last: what a repair that dies before has not taken for deleted is found once more.
    try (access.store as? any LostRowAccepting)?.acceptLostRows(of: nil)
    return report
  }

  /// A row by its table and its key, whichever entity of the table is said to have it.
  private struct Row: Hashable {
    let root: String?
    let key: ObjectKey
    init(_ object: ManagedObjectID) { (root, key) = (object.entity.rootEntity.name, object.key) }
  }

  private func difference(
    _ object: ManagedObjectID, _ entity: String, _ record: RecordID?
  ) -> StoreDifference {
    StoreDifference(
      kind: .vanished, record: record, entity: entity,
      row: object.uriRepresentation().absoluteString)
  }
}
