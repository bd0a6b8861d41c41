import CairnModel
import CairnStore

/// Makes the objects of what a fetch finds, portion by portion.
///
/// Stores hand over portions while they read, so ``take(_:)`` calls nothing of the program but
/// initialisers of its classes; ``finish()`` tells the program the rest.
struct FetchedObjects {
  private let context: ManagedObjectContext
  private let plan: FetchPlan
  private var found: RowObjects
  private(set) var objects: [ManagedObject] = []
  /// What waits for the end, with the rows that were found: objects that wake up by a method of
  /// the program, and those that are to be refreshed.
  private var waiting: [(object: ManagedObject, row: RowSnapshot)] = []
  /// Whether a store gave IDs, as some do although rows are wanted.
  private var hasIDs = false

  init(context: ManagedObjectContext, plan: FetchPlan) {
    self.context = context
    self.plan = plan
    found = RowObjects(context: context)
  }

  /// Makes objects of rows or object IDs, and tells of each row whether it is to be retained.
  mutating func take(_ portion: StoreFetchResult) -> [Bool] {
    switch portion {
    case .objectIDs(let ids):
      hasIDs = true
      found.append(ids, to: &objects)
      return []
    case .count, .dictionaries: return []
    case .snapshots(let rows):
      // Most fetches find no more than one portion.
      if objects.isEmpty { objects.reserveCapacity(rows.count) }
      var isNew: [Bool] = []
      isNew.reserveCapacity(rows.count)
      for start in stride(from: 0, to: rows.count, by: Self.runLength) {
        take(start..<min(start + Self.runLength, rows.count), of: rows, &isNew)
      }
      return isNew
    }
  }

  /// So many rows are looked at together: while they are still in the processor's cache.
  private static let runLength = 128

  private mutating func take(_ run: Range<Int>, of rows: [RowSnapshot], _ isNew: inout [Bool]) {
    var late: [(object: ManagedObject, row: RowSnapshot)] = []
    let areTogether = found.append(run, of: rows, to: &objects, &isNew) {
      [plan, context] object, row, isNew in
      if Self.isLate(object, row, isNew: isNew, plan, context) { late.append((object, row)) }
    }
    if areTogether {
      waiting += late
      return
    }
    // Those objects were taken back.
    late = []
    for row in rows[run] {
      // Only a damaged file has one key under two entities; what was read first stands.
      guard let (object, isNewObject) = found.found(row) else {
        isNew.append(false)
        continue
      }
      if Self.isLate(object, row, isNew: isNewObject, plan, context) {
        waiting.append((object, row))
      }
      isNew.append(isNewObject)
      objects.append(object)
    }
  }

  /// Gives an object its row, if it is to have it; true when that has to wait for the end.
  @inline(__always)
  private static func isLate(
    _ object: ManagedObject, _ row: RowSnapshot, isNew: Bool, _ plan: FetchPlan,
    _ context: ManagedObjectContext
  ) -> Bool {
    guard object.isFault else { return !isNew && plan.refreshesObjects }
    if plan.returnsFaults { return false }
    if object.flags.contains(.hasFetchHook) { return true }
    FaultFiring.become(object, row, in: context)
    return false
  }

  /// Ends the fetch: called when no store is reading any more.
  func finish() {
    var kept = KeptPartners(context: context)
    for (object, row) in waiting {
      if object.isFault {
        if !plan.returnsFaults { FaultFiring.become(object, row, in: context) }
      } else if plan.refreshesObjects, !object.isDeleted {
        refresh(object, from: row, &kept)
      }
    }
    kept.follow()
    if hasIDs, !plan.returnsFaults { try? FaultFiring.fill(objects) }
  }

  /// `shouldRefreshRefetchedObjects`: the object takes the row beneath its unsaved changes, and reads its to-many
  /// relationships again when they are used.
  private func refresh(
    _ object: ManagedObject, from row: RowSnapshot, _ kept: inout KeptPartners
  ) {
    let isNewer = object.snapshot?.version != row.version
    for value in object.toManyValues { value?.unload(keepingChanges: true) }
    kept.note(object, over: row)
    ObjectRefreshing(context: context).rebase(object, onto: row)
    if isNewer { context.pending.note(object, .eventRefreshed) }
  }
}
