import CairnModel
import CairnStore
import Foundation

/// Makes up for history that was gone before it was captured: purged by a program while no daemon
/// ran, or lost with a part of the file.
///
/// Rows that are new are found by ``BootstrapScan``. Links count as written now; a value counts as written right
/// after the one that it replaced, and a record that is gone as deleted right after its last known write: when that
/// was is not known, and the earliest possible time loses no later write of another store. Each store that is served from here, or was read from, is
/// compared with: what one of them does not have yet, another may have as it was.
struct HistoryGap {
  let access: StoreAccess

  /// Notes that history is missing, and goes on with what there is.
  func begin(_ history: any HistoryKeeping) throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      ledger.head.captured = max(ledger.head.captured, try history.lastPurgedTransactionNumber())
      ledger.head.bootstrap = .scanning(entity: "", after: .min)
      ledger.beginGap()
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }

  /// Takes records whose rows are gone for deleted, and links and orders that the rows show and the
  /// bookkeeping does not for written: for that no other store is needed.
  func captureRows() throws {
    guard try access.ledger().head.gap == .rows,
      let sidecar = access.store.capabilities.sidecar
    else { return }
    let gone = try access.vanishedRows().map(\.object)
    try capture(next: .rows, GapComparisons()) { work, _ in
      try Self.deleteAsEarlyAsPossible(gone, in: &work)
    }
    try captureLinks(sidecar)
    try capture(next: .values, GapComparisons()) { _, _ in }
  }

  /// Earlier than what the store has written since, the deletes are of a writer of their own: see
  /// ``StoreID/writer(_:)``.
  private static func deleteAsEarlyAsPossible(
    _ gone: [ManagedObjectID], in work: inout CaptureWork
  ) throws {
    if gone.isEmpty { return }
    work.ledger.head.epoch += 1
    let earliest = Stamp(clock: .beforeSync, store: work.ledger.writer)
    for object in gone { try work.delete(object, earliest) }
    work.ledger.head.epoch += 1
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

  /// Compares two stores of which one or both lost history, and takes a value that differs under the same stamp for
  /// one that a program wrote in the store without its history.
  ///
  /// Where both have lost theirs, which of the two values is the new one is not known: both count as written, and
  /// the one that loses is in the journal.
  ///
  /// A value that a program has just written in a store that kept its history is written by that program; only
  /// what has been captured there tells. While programs write faster than that, the gap stays for the next pass.
  ///
  /// - Returns: Those of the two whose gap was not compared with any store before.
  static func compare(_ a: StoreAccess, _ b: StoreAccess) throws -> [StoreAccess] {
    let pairs = [(a, b), (b, a)]
    func findOpen() throws -> [(StoreAccess, StoreAccess)] {
      try pairs.filter { try HistoryGap(access: $0).isOpen(to: $1) }
    }
    if try findOpen().isEmpty { return [] }
    for _ in 0..<StoreAccess.attempts {
      for store in [a, b] { try HistoryCapture(access: store).run() }
      let open = try findOpen()
      let whole = open.count == 1 ? open.map(\.1) : []
      let before = try whole.map { try $0.ledger().head }
      let found = try open.map {
        try StoreComparison(local: $0, replica: $1).differencesWithoutWrites()
      }
      let isQuiet = try zip(whole, before).allSatisfy { store, head in
        let later = try store.uncaptured(after: head.captured, limit: 1, includesChanges: false)
        return try head == store.freshLedger().head && later.isAll && later.transactions.isEmpty
      }
      if !isQuiet { continue }
      // Each has to find what it takes also after a death between their commits.
      if let (store, other) = open.dropFirst().first, let unwritten = found.last {
        try HistoryGap(access: store).keep(unwritten, against: other)
      }
      return try zip(open, found).filter { pair, unwritten in
        try HistoryGap(access: pair.0).close(to: pair.1, taking: unwritten)
      }.map(\.0.0)
    }
    return []
  }

  /// Closes a gap for which no comparison is missing any more.
  ///
  /// - Returns: Whether there is a gap that was not compared with another store.
  private func isOpen(to other: StoreAccess) throws -> Bool {
    let ledger = try access.ledger()
    guard ledger.head.gap == .values else { return false }
    let comparisons = try ledger.gapComparisons()
    if try !comparisons.stores.contains(other.ledger().storeID) { return true }
    if try isEnough(comparisons) {
      ledger.head.gap = .none
      ledger.setGapComparisons(GapComparisons())
      _ = try access.commit(ledger)
    }
    return false
  }

  /// - Returns: Whether the gap was not compared with any store before.
  private func close(
    to other: StoreAccess, taking unwritten: [RecordID: Set<String>]
  ) throws -> Bool {
    let before = try access.ledger().gapComparisons()
    var comparisons = before
    let otherID = try other.ledger().storeID
    comparisons.stores.insert(otherID)
    let isClosed = try isEnough(comparisons)
    try capture(next: isClosed ? .none : .values, isClosed ? GapComparisons() : comparisons) {
      work, stamp in
      var unwritten = unwritten
      for kept in try GapFindings.kept(in: access.store, against: isClosed ? nil : otherID) {
        unwritten.merge(try kept.unwritten(in: work.ledger)) { $0.union($1) }
        kept.remove(from: work.ledger)
      }
      try take(unwritten, stamp, in: &work)
    }
    try access.environment.reach(.afterGapCommit)
    return before.stores.isEmpty
  }

  /// Keeps what this store takes later than the other takes its own.
  private func keep(_ unwritten: [RecordID: Set<String>], against other: StoreAccess) throws {
    if unwritten.isEmpty { return }
    let otherID = try other.ledger().storeID
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      try GapFindings(unwritten, against: otherID, in: ledger).keep(in: ledger)
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }

  /// Takes values for written right after those that they replaced: when they were is not known, and what another
  /// store is known to have written later was.
  ///
  /// Earlier than what the store has written since, they are of a writer of their own: see ``StoreID/writer(_:)``.
  private func take(
    _ unwritten: [RecordID: Set<String>], _ stamp: Stamp, in work: inout CaptureWork
  ) throws {
    if unwritten.isEmpty { return }
    work.ledger.head.epoch += 1
    let earliest = Stamp(clock: .beforeSync, store: work.ledger.writer)
    for (id, properties) in unwritten.sorted(by: { $0.key < $1.key }) {
      guard let entry = try work.ledger.record(id),
        let object = work.ledger.objectID(for: entry)
      else { continue }
      let columns = work.plan(of: object)?.names
      let values = properties.filter { columns?.place(of: $0) != nil }
      try work.update(object, values, earliest)
      // Members are compared with what the store itself knows of them, too.
      let others = properties.subtracting(values)
      if !others.isEmpty { try work.update(object, others, stamp) }
    }
    work.ledger.head.epoch += 1
  }

  /// Takes values that come from another store under the write that is known of them here, and differ, for written
  /// here: it has them as they were, and got them after it was compared with.
  ///
  /// And what is still to be taken of the records, before later writes replace it.
  func compare(with incoming: [RecordState]) throws {
    let ledger = try access.ledger()
    try ledger.prefetch(records: incoming.map(\.id))
    let extent = try ledger.gapExtent()
    let found = try incoming.compactMap { state in
      try ledger.record(state.id).flatMap { entry in
        extent.mayHaveLost(entry, as: state)
          ? ledger.objectID(for: entry).map { (state: state, entry: entry, object: $0) } : nil
      }
    }
    let rows = found.isEmpty ? [] : try access.store.snapshots(for: found.map(\.object))
    var reading = RowReading(ledger: ledger)
    try reading.prepare(rows.compactMap { $0 })
    var unwritten: [RecordID: Set<String>] = [:]
    for kept in try GapFindings.kept(in: access.store) {
      let records = try kept.unwritten(in: ledger)
      for state in incoming {
        guard let names = records[state.id], let entry = try ledger.record(state.id) else {
          continue
        }
        unwritten[state.id, default: []].formUnion(
          names.filter { name in
            guard let theirs = state.registers[name], let mine = entry.write(of: name) else {
              return false
            }
            return theirs.write.stamp > mine.stamp
          })
      }
    }
    for (item, row) in zip(found, rows) {
      guard let row else { continue }
      let mine = item.entry.state(id: item.state.id, row: try reading.values(of: row))
      let names = try mine.registers.filter { name, register in
        guard let theirs = item.state.registers[name], theirs.write.stamp == register.write.stamp
        else { return false }
        return try !ledger.resolved(theirs.value).isKeptSame(as: ledger.resolved(register.value))
      }.map(\.key)
      unwritten[item.state.id, default: []].formUnion(names)
    }
    unwritten = unwritten.filter { !$0.value.isEmpty }
    if unwritten.isEmpty { return }
    try capture(next: .values, try ledger.gapComparisons()) { work, stamp in
      try take(unwritten, stamp, in: &work)
    }
  }

  private func isEnough(_ comparisons: GapComparisons) throws -> Bool {
    guard let sidecar = access.store.capabilities.sidecar else { return true }
    var sources: Set<StoreID> = []
    try sidecar.visitEntries(of: .cursors) { key, _ in
      sources.insert(try SyncKey.identity(StoreID.self, in: key))
    }
    return try comparisons.isEnough(for: Set(access.readers().keys), and: sources)
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

extension Ledger {
  /// A value as it is compared: a reference to a record that another stands for leads to that one.
  fileprivate func resolved(_ value: WireValue) throws -> WireValue {
    try value.reference.map { .reference(try resolve($0)) } ?? value
  }
}

extension StoreAccess {
  /// The records that are known, and whose rows are not there.
  func vanishedRows() throws -> [(id: RecordID, entity: String, object: ManagedObjectID)] {
    guard let sidecar = store.capabilities.sidecar else { return [] }
    var found: [(id: RecordID, entity: String, object: ManagedObjectID)] = []
    var page = found
    func look() throws {
      let rows = try store.snapshots(for: page.map(\.object))
      found += zip(page, rows).filter { $0.1 == nil }.map(\.0)
      page = []
    }
    let ledger = try ledger()
    try sidecar.visitEntries(of: .records) { key, value in
      let entry = try ledger.entry(decoding: value)
      if let object = ledger.objectID(for: entry) {
        page.append((try SyncKey.identity(RecordID.self, in: key), entry.entity, object))
      }
    } afterPage: {
      try look()
    }
    try look()
    return found
  }
}
