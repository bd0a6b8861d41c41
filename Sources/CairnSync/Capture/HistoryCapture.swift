import CairnModel
import CairnStore
import Foundation

/// Turns a store's history into stamps, in the order of the transactions.
///
/// Transactions that sync itself wrote are passed over: their stamps were committed with them.
struct HistoryCapture {
  let access: StoreAccess
  static let transactionsPerCommit = 256
  /// So many of sync's own transactions are passed over by one commit: a commit for each would cost what is to be
  /// written as much again.
  static let ownTransactions = 16
  /// How many changes one commit takes up, unless a transaction has more.
  var changesPerCommit = 4096

  /// Captures until nothing is left, rows from before sync included.
  ///
  /// - Parameter progress: Called after each commit with the number of records taken up.
  /// - Returns: How many transactions were captured.
  @discardableResult
  func run(progress: (Int) throws -> Void = { _ in }) throws -> Int {
    try access.environment.reach(.beforeCapture)
    try HistoryGap(access: access).captureRows()
    var total = 0
    while true {
      let (count, isAll) = try captureChunk()
      total += count
      if count > 0 { try progress(count) }
      if isAll { break }
    }
    try BootstrapScan(access: access).run(progress: progress)
    try HistoryGap(access: access).captureRows()
    return total
  }

  /// - Returns: The number of transactions read, and whether these were all there are.
  private func captureChunk() throws -> (count: Int, isAll: Bool) {
    let history = try access.history()
    for _ in 0..<StoreAccess.attempts {
      var ledger = try access.freshLedger()
      let captured = ledger.head.captured
      let newest = try history.lastTransactionNumber()
      if try isCaptured(ledger, upTo: newest) { return (0, true) }
      guard let passed = try start(after: captured, history, ledger) else {
        try HistoryGap(access: access).begin(history)
        // What has gone went before what history still tells of was written.
        try HistoryGap(access: access).captureRows()
        return (0, false)
      }
      guard
        let (transactions, start) = try read(history, after: passed, upTo: newest, ledger)
      else { continue }
      let own = try access.ownTransactions(after: captured)
      var (foreign, count) = try changes(of: transactions, except: own, after: start)
      if ledger.head.bootstrap == .history,
        let large = foreign.firstIndex(where: { LargeInsertion.isOne($0, changesPerCommit) }),
        let place = transactions.firstIndex(where: { $0.number == foreign[large].number })
      {
        // It comes in parts, after what was written before it.
        if large == 0 {
          let insertion = LargeInsertion(
            access: access, transaction: foreign[0], rowsPerCommit: changesPerCommit)
          guard try insertion.capture(after: captured) else { continue }
          ledger = try access.freshLedger()
        }
        (foreign, count) = (Array(foreign[..<large]), large == 0 ? place + 1 : place)
      }
      let isAll = count == transactions.count && count < Self.transactionsPerCommit
      var work = CaptureWork(access: access, ledger: ledger)
      try work.prefetch(foreign)
      for transaction in foreign { try work.take(transaction) }
      try work.finish()
      if count > 0 { ledger.head.captured = transactions[count - 1].number }
      if isAll {
        // All there is up to `newest` was read, also where the last of it has been purged.
        ledger.head.captured = max(ledger.head.captured, newest)
        if ledger.head.bootstrap == .history {
          ledger.head.bootstrap = .scanning(entity: "", after: .min)
        }
      }
      for number in own where number <= ledger.head.captured {
        ledger.put(SyncKey.own(number), nil)
      }
      guard try ledger.isCurrent() else { continue }
      try access.environment.reach(.beforeCaptureCommit)
      if try access.commit(ledger, isRebased: true) {
        try access.environment.reach(.afterCaptureCommit)
        return (count, isAll)
      }
    }
    throw StoreAccess.contention(access.store)
  }

  /// The usual cases: nothing happened, or sync itself has written a little.
  private func isCaptured(_ ledger: Ledger, upTo newest: Int64) throws -> Bool {
    let captured = ledger.head.captured
    if captured == 0 || ledger.head.bootstrap == .history { return false }
    if newest <= captured { return true }
    let own = try access.ownTransactions(after: captured)
    return own.count < Self.ownTransactions && own.hasAll(after: captured, upTo: newest)
  }

  /// As many of the transactions as one commit takes up, with their changes, and how many these are with
  /// sync's own, which are left out.
  private func changes(
    of transactions: [HistoryTransactionRecord], except own: Set<Int64>, after start: Int64?
  ) throws -> (foreign: [HistoryTransactionRecord], count: Int) {
    var foreign: [HistoryTransactionRecord] = []
    var count = 0
    var changes = 0
    // Each run as long as all before it: few reads where transactions are small.
    while count < transactions.count, changes < changesPerCommit {
      let run = transactions[count...].prefix(max(1, count))
      let before = count == 0 ? start : transactions[count - 1].number
      let found = try access.changes(of: Array(run), except: own, after: before)
      foreign += found
      changes += found.reduce(0) { $0 + $1.changes.count }
      count += run.count
    }
    return (foreign, count)
  }

  /// The next transactions, without their changes, and what precedes the first of them; nil where history was
  /// purged just now.
  private func read(
    _ history: any HistoryKeeping, after: Int64, upTo last: Int64, _ ledger: Ledger
  ) throws -> (transactions: [HistoryTransactionRecord], after: Int64?)? {
    // What was purged before sync began is no gap: all rows are looked at then.
    let start = after == 0 && ledger.head.bootstrap == .history ? nil : after
    do {
      return (
        try history.transactions(after: start, upTo: last, limit: Self.transactionsPerCommit), start
      )
    } catch let error as CoreDataError where error.code == .persistentHistoryTokenExpired {
      if try self.start(after: after, history, ledger) != after { return nil }
      // The file has lost its end, with what was captured of it.
      ledger.head.bootstrap = .scanning(entity: "", after: .min)
      ledger.beginGap()
      return ([], nil)
    }
  }

  /// What the history that is left begins after: what was captured, or those of sync's own after it that a program has
  /// purged; nil where history was purged before it was captured.
  private func start(
    after captured: Int64, _ history: any HistoryKeeping, _ ledger: Ledger
  ) throws -> Int64? {
    if captured == 0, ledger.head.bootstrap == .history { return 0 }
    let gone = try history.lastPurgedTransactionNumber()
    if gone <= captured { return captured }
    let isOwn = try access.ownTransactions(after: captured).hasAll(after: captured, upTo: gone)
    return isOwn ? gone : nil
  }
}

/// The stamps of one run of transactions, collected in a ledger.
struct CaptureWork {
  let access: StoreAccess
  let ledger: Ledger
  private var links = LinkComparison()
  private var orders = OrderComparison()
  private var losses = UnseenLosses()
  /// The latest stamp given, later than the clock where a value from the future was overwritten.
  private var latest = ClockReading(bits: 0)
  /// The transaction that is being taken up; nil for rows that history does not tell of.
  private(set) var transaction: HistoryTransactionRecord?

  init(access: StoreAccess, ledger: Ledger) {
    self.access = access
    self.ledger = ledger
  }

  func prefetch(_ transactions: [HistoryTransactionRecord]) throws {
    let changes = transactions.flatMap(\.changes)
    // Its ID, its entry, its place in the change order.
    ledger.reserve(3 * changes.count)
    let keys = changes.compactMap { SyncKey.object($0.objectID) }
    try ledger.prefetch(keys)
    try ledger.prefetch(records: keys.compactMap { try ledger.recordID(at: $0) })
  }

  mutating func take(_ transaction: HistoryTransactionRecord) throws {
    let changes = transaction.changes.filter { change in
      change.objectID.entity.name.map { access.schema.entities[$0] != nil } ?? false
    }
    guard !changes.isEmpty else { return }
    self.transaction = transaction
    defer { self.transaction = nil }
    let milliseconds = transaction.milliseconds
    ledger.oldestWrite = min(ledger.oldestWrite ?? .max, milliseconds)
    let stamp = ledger.tick(milliseconds: milliseconds, limit: access.latestCredibleTime)
    ledger.head.sequence += 1
    if try takeNew(changes, stamp) { return }
    let deleted = Set(changes.filter { $0.kind == .delete }.map(\.objectID.entity))
    for change in changes {
      switch change.kind {
      case .insert: try insert(change.objectID, stamp)
      case .update:
        try update(change.objectID, change.changedProperties, stamp, along: deleted)
      case .delete: try delete(change.objectID, stamp, keeping: change.tombstone)
      }
    }
  }

  mutating func finish() throws {
    try links.run(ledger, orders: &orders)
    try orders.run(ledger)
    try losses.run(access, ledger)
    // Readers get all of a commit, and draw nothing from the order of stamps within it.
    ledger.noteGiven(max(latest, orders.latest))
  }

  /// Takes up a row; also one that history never told of, then with ``ClockReading/beforeSync``.
  mutating func insert(_ object: ManagedObjectID, _ stamp: Stamp) throws {
    guard let plan = plan(of: object) else { return }
    if try ledger.recordID(for: object) != nil {
      return try update(object, nil, stamp)
    }
    // What an update tells of a row from before history is not when it was inserted.
    let isKnown = stamp.clock != .beforeSync
    let birth = try isKnown ? transaction.map(RowBirth.init) : keptBirth(of: object)
    let id = access.identity(ofRow: object, born: birth).recordID
    var entry = RecordEntry(entity: plan.entity.name ?? "", key: object.key)
    entry.base = PropertyWrite(stamp: stamp)
    ledger.setRecordID(id, for: object)
    ledger.setRecord(id, entry)
    for side in plan.linkSides {
      links.add(
        id, object, side, stamp: stamp, sequence: ledger.head.sequence, isNew: true)
    }
    addOrders(id, object, plan, nil, stamp)
  }

  /// The birth of a row whose insert has left history, which is not needed any more once the row is taken up.
  private func keptBirth(of object: ManagedObjectID) throws -> RowBirth? {
    guard let key = SyncKey.birth(object), let data = try ledger.value(key) else { return nil }
    ledger.put(key, nil)
    return RowBirth(decoding: data)
  }

  /// - Parameters:
  ///   - deleted: The entities of what was deleted in the same transaction.
  ///   - byRule: The references that a delete rule has taken away; nil to find them.
  mutating func update(
    _ object: ManagedObjectID, _ properties: Set<String>?, _ stamp: Stamp,
    along deleted: Set<EntityDescription> = [], byRule: Set<String>? = nil
  ) throws {
    guard let plan = plan(of: object) else { return }
    if try ledger.recordID(for: object) == nil {
      // A row from before history; what this transaction did not write is older than sync. Or one
      // that was deleted since by a commit of sync, which took its record with it.
      guard try access.store.snapshots(for: [object]).first ?? nil != nil else { return }
      try insert(object, Stamp(clock: .beforeSync, store: ledger.storeID))
    }
    guard let id = try ledger.recordID(for: object), var entry = try ledger.record(id) else {
      return
    }
    var isChanged = false
    let nullified = try byRule ?? nullified(object, plan, properties, deleted)
    for column in plan.columns where properties?.names(column.name) ?? true {
      isChanged = true
      let earlier = entry.write(of: column.name)
      let hidden = entry.overlay.removeValue(forKey: column.name)
      let isByRule = nullified.contains(column.name)
      let write =
        hidden == nil
        ? earlier?.overwritten(at: stamp, byRule: isByRule)
        : earlier?.overwrittenUnseen(at: stamp, byRule: isByRule)
      entry.writes[column.name] = write ?? PropertyWrite(stamp: stamp)
      latest = max(latest, entry.writes[column.name]?.stamp.clock ?? latest)
      if let target = hidden?.reference {
        ledger.unpark(target, owner: id, property: column.name)
      }
      if let hidden, let earlier, let write {
        losses.add(object, id, entry.entity, column.name, hidden, of: earlier, to: write)
      }
    }
    for side in plan.linkSides where properties?.contains(side.relationship.name) ?? true {
      links.add(id, object, side, stamp: stamp, sequence: ledger.head.sequence)
    }
    if isChanged { ledger.setRecord(id, entry) }
    addOrders(id, object, plan, properties, stamp)
  }

  /// The references among the written properties that a delete rule has taken away.
  ///
  /// History does not tell who wrote. Where what such a reference can lead to is deleted in the same
  /// transaction, by a rule that nullifies, and nothing is there now, the rule is taken for the
  /// writer; should a program have written nil itself in a save that deletes, its write counts, too,
  /// only that it does not bring back what another store has deleted.
  private func nullified(
    _ object: ManagedObjectID, _ plan: SyncSchema.EntityPlan, _ properties: Set<String>?,
    _ deleted: Set<EntityDescription>
  ) throws -> Set<String> {
    guard !deleted.isEmpty else { return [] }
    let candidates = plan.columns.filter { column in
      guard let destination = column.relationship?.destinationEntity,
        column.relationship?.inverseRelationship?.deleteRule == .nullifyDeleteRule
      else { return false }
      return properties?.contains(column.name) ?? true
        && deleted.contains { $0.isKindOf(entity: destination) }
    }
    guard !candidates.isEmpty,
      let row = try access.store.snapshots(for: [object]).first ?? nil
    else { return [] }
    return Set(candidates.filter { row[$0.slot].isNull }.map(\.name))
  }

  /// The lists that the write of a record's properties (nil: all) may have changed.
  ///
  /// Those made of links come from the comparison of the links.
  private mutating func addOrders(
    _ id: RecordID, _ object: ManagedObjectID, _ plan: SyncSchema.EntityPlan,
    _ properties: Set<String>?, _ stamp: Stamp
  ) {
    let sequence = ledger.head.sequence
    for side in plan.orderedSides where properties?.contains(side.relationship.name) ?? true {
      if case .register = side.places { orders.add(id, side, stamp: stamp, sequence: sequence) }
    }
    let isMember = plan.columns.contains {
      $0.orderedInverse != nil && (properties?.contains($0.name) ?? true)
    }
    if isMember { orders.addMember(id, object, stamp: stamp, sequence: sequence) }
  }

  /// - Parameter values: What history keeps of the row, by attribute.
  mutating func delete(
    _ object: ManagedObjectID, _ stamp: Stamp, keeping values: [String: AttributeValue] = [:]
  ) throws {
    guard let id = try ledger.recordID(for: object), var entry = try ledger.record(id) else {
      return
    }
    ledger.setRecordID(nil, for: object)
    links.forget(id)
    orders.forget(id)
    // It did not exist before this commit.
    if ledger.isAbsent(SyncKey.record(id)) {
      ledger.forget(id, sequence: entry.sequence)
      return
    }
    try bury(id, &entry, stamp, keeping: values)
    latest = max(latest, entry.deletion?.stamp.clock ?? latest)
    ledger.setRecord(id, entry)
  }

  func plan(of object: ManagedObjectID) -> SyncSchema.EntityPlan? {
    object.entity.name.flatMap { access.schema.entities[$0] }
  }
}

extension Set<String> {
  /// Whether the set names a column: by itself, or as the composite attribute it is a part of.
  fileprivate func names(_ column: String) -> Bool {
    if contains(column) { return true }
    var end = column.endIndex
    while let dot = column[..<end].lastIndex(of: ".") {
      if contains(String(column[..<dot])) { return true }
      end = dot
    }
    return false
  }
}

extension HistoryTransactionRecord {
  /// When it was committed, in milliseconds since 1970: the date comes out of a file, where it can be anything.
  var milliseconds: UInt64 { UInt64(min(max(0, date.timeIntervalSince1970 * 1000), 0x1p47)) }
}
