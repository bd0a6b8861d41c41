import CairnModel
import CairnStore

/// Makes the objects of what a fetch finds, portion by portion.
///
/// Stores hand over portions while they read, so nothing of the program is called from
/// ``take(_:)`` but initialisers of its classes; what the program hears of follows in ``finish()``.
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
      var isNew: [Bool] = []
      isNew.reserveCapacity(rows.count)
      for index in rows.indices { isNew.append(take(rows[index])) }
      return isNew
    }
  }

  private mutating func take(_ row: RowSnapshot) -> Bool {
    // Only a damaged file has one key under two entities; what was read first stands.
    guard let (object, isNew) = found.found(row) else { return false }
    defer { objects.append(object) }
    if object.isFault {
      if plan.returnsFaults { return isNew }
      if object.flags.contains(.awakesItself) {
        waiting.append((object, row))
      } else {
        found.fill(object, with: row)
      }
    } else if !isNew, plan.refreshesObjects {
      waiting.append((object, row))
    }
    return isNew
  }

  /// Ends the fetch: called when no store is reading any more.
  func finish() {
    for (object, row) in waiting {
      if object.isFault {
        if !plan.returnsFaults { found.fill(object, with: row) }
      } else if plan.refreshesObjects, !object.hasChanges {
        refresh(object, from: row)
      }
    }
    if hasIDs, !plan.returnsFaults { try? FaultFiring.fill(objects) }
  }

  /// `shouldRefreshRefetchedObjects`: the object takes the row, and reads its to-many
  /// relationships again when they are used.
  private func refresh(_ object: ManagedObject, from row: RowSnapshot) {
    let isNewer = object.snapshot?.version != row.version
    for value in object.toManyValues { value?.unload(keepingChanges: true) }
    ObjectRefreshing(context: context).rebase(object, onto: row)
    if isNewer { context.pending.note(object, .eventRefreshed) }
  }
}
