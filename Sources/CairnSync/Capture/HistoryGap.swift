import CairnModel
import CairnStore
import Foundation

/// Makes up for history that was gone before it was captured: purged by a program while no daemon
/// ran, or lost with a part of the file.
///
/// Rows that are new are found by ``BootstrapScan``. What is found here counts as written now. Each store that
/// is served from here, or was read from, is compared with: what one of them does not have yet, another may have
/// as it was.
struct HistoryGap {
  let access: StoreAccess

  /// Notes that history is missing, and goes on with what there is.
  func begin(_ history: any HistoryKeeping) throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      ledger.head.captured = max(ledger.head.captured, try history.firstTransactionNumber() - 1)
      ledger.head.bootstrap = .scanning(entity: "", after: .min)
      ledger.head.gap = .rows
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }

  /// Takes records whose rows are gone for deleted, and links and orders that the rows show and the
  /// bookkeeping does not for written: for that no other store is needed.
  func captureRows() throws {
    guard try access.ledger().head.gap == .rows,
      let sidecar = access.store as? any SidecarKeeping
    else { return }
    var gone: [ManagedObjectID] = []
    var page: [ManagedObjectID] = []
    func look() throws {
      let rows = try access.store.snapshots(for: page)
      gone += zip(page, rows).filter { $0.1 == nil }.map(\.0)
      page = []
    }
    let ledger = try access.ledger()
    try sidecar.visitEntries(of: .records) { _, value in
      if let object = ledger.objectID(for: try ledger.entry(decoding: value)) {
        page.append(object)
      }
    } afterPage: {
      try look()
    }
    try look()
    try capture(next: .rows, GapComparisons()) { work, stamp in
      for object in gone { try work.delete(object, stamp) }
    }
    try captureLinks(sidecar)
    try capture(next: .values, GapComparisons()) { _, _ in }
  }

  /// A page of records a commit.
  private func captureLinks(_ sidecar: any SidecarKeeping) throws {
    var next: Data?
    while true {
      let page = try sidecar.sidecarEntries(
        of: SyncMap.records.rawValue, from: next, to: nil, limit: StoreComparison.page)
      guard let last = page.last else { return }
      next = last.key + Data([0])
      let ledger = try access.ledger()
      let objects = try page.compactMap { item -> (id: ManagedObjectID, names: Set<String>)? in
        let entry = try ledger.entry(decoding: item.value)
        guard let plan = access.schema.entities[entry.entity],
          let object = ledger.objectID(for: entry)
        else { return nil }
        let names = Set(plan.linkSides.map(\.relationship.name))
          .union(plan.orderedSides.map(\.relationship.name))
        return names.isEmpty ? nil : (object, names)
      }
      if objects.isEmpty { continue }
      try capture(next: .rows, GapComparisons()) { work, stamp in
        for object in objects { try work.update(object.id, object.names, stamp) }
      }
    }
  }

  /// Takes values that differ from another store's, although nobody wrote either since they were
  /// equal, for written here.
  ///
  /// A value that a program has just written in the other store is written by somebody; only what has
  /// been captured there tells. While programs write faster than that, the gap stays for the next pass.
  ///
  /// - Returns: Whether there was a gap that was not compared with any store before.
  func compare(with other: StoreAccess) throws -> Bool {
    let ledger = try access.ledger()
    guard ledger.head.gap == .values else { return false }
    let before = try ledger.gapComparisons()
    let id = try other.ledger().storeID
    if before.stores.contains(id) { return try close(before) }
    guard let unwritten = try unwritten(against: other) else { return false }
    var comparisons = before
    comparisons.stores.insert(id)
    let isClosed = try isEnough(comparisons)
    try capture(next: isClosed ? .none : .values, isClosed ? GapComparisons() : comparisons) {
      work, stamp in
      for (id, properties) in unwritten.sorted(by: { $0.key < $1.key }) {
        guard let entry = try work.ledger.record(id),
          let object = work.ledger.objectID(for: entry)
        else { continue }
        try work.update(object, properties, stamp)
      }
    }
    return before.stores.isEmpty
  }

  private func isEnough(_ comparisons: GapComparisons) throws -> Bool {
    guard let sidecar = access.store as? any SidecarKeeping else { return true }
    var sources: Set<StoreID> = []
    try sidecar.visitEntries(of: .cursors) { key, _ in
      sources.insert(try SyncKey.identity(StoreID.self, in: key))
    }
    return try comparisons.isEnough(for: Set(access.readers().keys), and: sources)
  }

  /// Closes the gap where there is no store any more that was not compared with.
  private func close(_ comparisons: GapComparisons) throws -> Bool {
    guard try isEnough(comparisons) else { return false }
    let ledger = try access.ledger()
    ledger.head.gap = .none
    ledger.setGapComparisons(GapComparisons())
    _ = try access.commit(ledger)
    return false
  }

  /// Nil when the other store is written all the time.
  private func unwritten(against other: StoreAccess) throws -> [RecordID: Set<String>]? {
    for _ in 0..<StoreAccess.attempts {
      try HistoryCapture(access: other).run()
      let before = try other.ledger().head
      let found = try StoreComparison(local: access, replica: other).differencesWithoutWrites()
      let after = try other.ledger().head
      let later = try other.uncaptured(after: after.captured, limit: 1, includesChanges: false)
      if before == after, later.isAll, later.transactions.isEmpty { return found }
    }
    return nil
  }

  private func capture(
    next: SyncHead.Gap, _ comparisons: GapComparisons,
    _ body: (inout CaptureWork, Stamp) throws -> Void
  ) throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      var work = CaptureWork(access: access, ledger: ledger)
      let stamp = ledger.tick(
        milliseconds: access.environment.now(), limit: access.latestCredibleTime)
      ledger.head.sequence += 1
      try body(&work, stamp)
      try work.finish()
      ledger.head.gap = next
      ledger.setGapComparisons(comparisons)
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }
}
