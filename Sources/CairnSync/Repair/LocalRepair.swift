import CairnCoordinator
import CairnModel
import CairnStore

/// Takes what a program did to the local store past history for done now: rows that it took away for deleted, with what
/// the model's delete rules make of that, and rows that it added for inserted.
///
/// All of it then travels as any other change, and the store counts as saved what it has. A row stays missing where the
/// model denies its delete: a repair with a replica makes it again.
struct LocalRepair {
  let access: StoreAccess
  let coordinator: PersistentStoreCoordinator
  /// Whether rows that are not as they were saved are taken for written now, and so are links.
  ///
  /// Nothing tells whether a program or a disk changed them.
  var acceptsChanges = false
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
    let unsaved = try stored(access.store.capabilities.integrity?.unsavedRows() ?? [])
    let changed =
      try acceptsChanges
      ? stored(access.store.capabilities.integrity?.changedRows() ?? []) : []
    let kept = try kept(unsaved, .unsaved, isKnown) + kept(changed, .changed, isKnown)
    let report = RepairReport(
      replica: StoreReference.localName, isPlan: isPlan,
      actions: (differences + kept).map {
        RepairRule.action(for: $0, preferring: .local) { _ in false }
      })
    if isPlan { return report }
    try accept(unsaved, isKnown: isKnown) { work, object, stamp in
      // A repair with a replica may have taken it up.
      if try work.ledger.recordID(for: object) == nil { try work.insert(object, stamp) }
    }
    try accept(changed, isKnown: isKnown) { try $0.update($1, nil, $2) }
    if acceptsChanges { try access.store.capabilities.integrity?.acceptChangedLinks() }
    let deleted = (known.map(\.object) + unknown).filter { !effects.denied.contains($0) }
    for start in stride(from: 0, to: deleted.count, by: Self.page) {
      try deletion.perform(Array(deleted[start..<min(start + Self.page, deleted.count)]))
    }
    // Last: what a repair that dies before has not taken for deleted is found once more.
    try access.store.capabilities.integrity?.acceptLostRows(
      of: effects.denied.isEmpty ? nil : deleted)
    return report
  }

  // MARK: Rows that are there

  /// The same rows with the entities that they are of: the store may have named their tables alone.
  private func stored(_ rows: [ManagedObjectID]) throws -> [ManagedObjectID] {
    let wanted = Set(rows.map(Row.init))
    let roots = Dictionary(rows.map { ($0.entity.rootEntity.name, $0.entity.rootEntity) }) {
      first, _ in first
    }
    return try roots.sorted { ($0.key ?? "") < ($1.key ?? "") }.flatMap { _, root in
      guard
        case .objectIDs(let found) = try access.store.fetch(
          StoreFetchRequest(entity: root, result: .objectIDs))
      else { return [ManagedObjectID]() }
      return found.filter { wanted.contains(Row($0)) }
    }
  }

  private func kept(
    _ rows: [ManagedObjectID], _ kind: StoreDifference.Kind, _ isKnown: Bool
  ) throws -> [StoreDifference] {
    let ledger = isKnown ? try access.ledger() : nil
    return try rows.map {
      difference(kind, $0, $0.entity.name ?? "", try ledger?.recordID(for: $0))
    }
  }

  /// Takes rows for written now, in the store's sums last: a repair that dies before finds them once more.
  private func accept(
    _ rows: [ManagedObjectID], isKnown: Bool,
    _ capture: (inout CaptureWork, ManagedObjectID, Stamp) throws -> Void
  ) throws {
    for start in stride(from: 0, to: rows.count, by: Self.page) {
      let page = Array(rows[start..<min(start + Self.page, rows.count)])
      if isKnown {
        try access.captureNow { work, stamp in
          for object in page { try capture(&work, object, stamp) }
        }
      }
      try access.store.capabilities.integrity?.acceptChangedRows(of: page)
    }
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
