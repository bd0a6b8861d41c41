import CairnStore
import Foundation

/// Removes from one store what no reader needs any more, step by step: each step is one short commit, and
/// what was done by then stays done.
///
/// ``RetentionRule`` says how far; what is looked at here is only whether an entry is one that may go.
struct Purge {
  private enum Phase: Int {
    case beginning, history, changes, marks, journal, parked, own, ending, done

    var next: Phase { Phase(rawValue: rawValue + 1) ?? .done }
  }

  let access: StoreAccess
  let sidecar: any SidecarKeeping
  /// In milliseconds; nil for the retention.
  private let age: UInt64?
  private(set) var report: PurgeReport
  private var phase = Phase.beginning
  private(set) var rule: RetentionRule?
  /// The first key of the map at hand that was not looked at.
  private var next: Data?
  /// The first number with a record that stays although it is old.
  private var firstPostponed: UInt64?
  /// Of history, in a plan: the last transaction that was counted.
  private var counted: Int64?
  private var collisions = 0
  private var settlings = 0

  /// How many entries one commit looks at.
  private let entriesPerCommit: Int
  /// How much room one commit gives back.
  static let bytesPerCommit: Int64 = 1 << 20
  /// How often a purge tries to cut the file to its size.
  static let mostSettlings = 20

  /// - Parameters:
  ///   - age: Removes what is older, in milliseconds; nil for the configured retention.
  ///   - isPlan: Whether only to count.
  init(
    access: StoreAccess, name: String, age: UInt64? = nil, isPlan: Bool = false,
    entriesPerCommit: Int = 500
  ) throws {
    guard let sidecar = access.store.capabilities.sidecar else {
      throw SyncError(
        .unsupportedStore, "a store of type \(access.store.type) keeps no sidecar",
        recovery: .person)
    }
    self.access = access
    self.sidecar = sidecar
    self.age = age
    self.entriesPerCommit = entriesPerCommit
    report = PurgeReport(store: name, isPlan: isPlan)
  }

  /// Does the next step.
  ///
  /// - Returns: Whether there is more to do.
  mutating func step() throws -> Bool {
    let isComplete: Bool
    switch phase {
    case .beginning: isComplete = try begin()
    case .history: isComplete = try purgeHistory()
    case .changes: isComplete = try purgeChanges()
    case .marks: isComplete = try purgeMarks()
    case .journal: isComplete = try purgeJournal()
    case .parked: isComplete = try purgeParked()
    case .own: isComplete = try purgeOwn()
    case .ending: isComplete = try end()
    case .done: return false
    }
    if isComplete {
      next = nil
      phase = phase.next
    }
    return phase != .done
  }

  /// Does all that is left.
  mutating func run() throws -> PurgeReport {
    while try step() {}
    return report
  }

  /// Commits one step.
  ///
  /// - Returns: False when another writer committed in between: the step is to be done again.
  private mutating func commit(_ ledger: Ledger) throws -> Bool {
    if report.isPlan { return true }
    try access.environment.reach(.beforePurgeCommit)
    if try access.commit(ledger) {
      collisions = 0
      try access.environment.reach(.afterPurgeCommit)
      return true
    }
    collisions += 1
    if collisions == StoreAccess.attempts { throw StoreAccess.contention(access.store) }
    return false
  }

  // MARK: Deciding

  private mutating func begin() throws -> Bool {
    let ledger = try access.ledger()
    var state = try ledger.retention()
    let now = access.environment.now()
    let retention = access.configuration.retentionMilliseconds
    state.calendar.note(ledger.head.sequence, now: now, retention: retention)
    var readers = try access.readers()
    for (id, note) in readers where note.heard == 0 { readers[id]?.heard = now }
    let rule = RetentionRule(
      .init(
        now: now, retention: retention, age: age, sequence: ledger.head.sequence,
        calendar: state.calendar, readers: readers, floor: state.floor))
    state.floor = rule.position
    ledger.setRetention(state)
    report.newlyExpired = []
    report.readers = readers.sorted { $0.key < $1.key }.map { id, note in
      Self.line(id, note, rule, ledger.head)
    }
    let stored = try access.readers()
    for (id, note) in readers {
      var note = note
      note.isExpired = rule.expired.contains(id)
      if note.isExpired, stored[id]?.isExpired == false {
        report.newlyExpired += report.readers.filter { $0.id == id }
      }
      if note != stored[id] { ledger.put(SyncKey.reader(id), note.encoded) }
    }
    guard try commit(ledger) else { return false }
    self.rule = rule
    return true
  }

  private static func line(
    _ id: StoreID, _ note: ReaderNote, _ rule: RetentionRule, _ head: SyncHead
  ) -> PurgeReport.Reader {
    PurgeReport.Reader(
      id: id, name: note.name, heard: note.heard == ReaderNote.released ? 0 : note.heard,
      behind: head.sequence - min(head.sequence, note.position),
      isExpired: rule.expired.contains(id), holdsBack: rule.holding.contains(id))
  }

  // MARK: History

  /// History that is captured and older than the limit.
  private mutating func purgeHistory() throws -> Bool {
    guard let rule, let history = access.store.capabilities.history else { return true }
    let captured = try access.ledger().head.captured
    var request = HistoryReadRequest(after: counted, limit: entriesPerCommit)
    request.includesChanges = false
    let oldest = try history.readHistory(request)
    let limit = Date(timeIntervalSince1970: Double(rule.time) / 1000)
    let gone = oldest.prefix { $0.number <= captured && $0.date < limit }
    guard let last = gone.last else { return true }
    report.transactions += gone.count
    if report.isPlan {
      counted = last.number
    } else {
      try access.environment.reach(.beforePurgeCommit)
      _ = try history.purgeHistory(before: last.number &+ 1, date: nil)
      try access.environment.reach(.afterPurgeCommit)
    }
    return gone.count < entriesPerCommit
  }

  // MARK: The change order

  /// Deleted records, removed links and markers, as far as the rule goes.
  private mutating func purgeChanges() throws -> Bool {
    guard let rule else { return true }
    let ledger = try access.ledger()
    var state = try ledger.retention()
    if state.scanned >= rule.position { return true }
    let entries = try sidecar.sidecarEntries(
      of: SyncMap.changes.rawValue, from: next ?? SyncKey.number(state.scanned + 1),
      to: SyncKey.number(rule.position + 1), limit: entriesPerCommit)
    var work = try TombstonePurge(access: access, ledger: ledger, limit: rule.position)
    var postponed = firstPostponed
    for sequence in try work.remove(entries.map(\.key)) {
      postponed = min(postponed ?? sequence, sequence)
    }
    let isLast = entries.count < entriesPerCommit
    // The last number of a page may go on in the next one.
    var reached = rule.position
    if !isLast, let last = entries.last?.key {
      var reader = ByteReader(last)
      reached = try reader.sequence() - 1
    }
    if let postponed { reached = min(reached, postponed - 1) }
    let old = state.scanned
    state.scanned = max(state.scanned, reached)
    // What removes nothing is not worth a commit of its own.
    if work.count > 0 || isLast && state.scanned > old { ledger.setRetention(state) }
    guard try commit(ledger) else { return false }
    firstPostponed = postponed
    report.records += work.records
    report.links += work.links
    report.marks += work.markers
    report.postponed += work.postponed
    next = entries.last.map { $0.key + Data([0]) }
    return isLast
  }

  // MARK: Other lists

  /// Removes entries of a map that is visited in the order of its keys.
  ///
  /// - Parameter isOver: Whether an entry may go.
  private mutating func purge(
    _ map: SyncMap, to upper: Data?, _ counter: WritableKeyPath<PurgeReport, Int>,
    where isOver: (Data, Data, Ledger) throws -> Bool
  ) throws -> Bool {
    let ledger = try access.ledger()
    let entries = try sidecar.sidecarEntries(
      of: map.rawValue, from: next, to: upper, limit: entriesPerCommit)
    var count = 0
    for (key, value) in entries where try isOver(key, value, ledger) {
      ledger.put(map.key(key), nil)
      count += 1
    }
    guard try count == 0 || commit(ledger) else { return false }
    report[keyPath: counter] += count
    next = entries.last.map { $0.key + Data([0]) }
    return entries.count < entriesPerCommit
  }

  /// Marks of commits that every reader is past.
  private mutating func purgeMarks() throws -> Bool {
    guard let rule else { return true }
    return try purge(.marks, to: SyncKey.number(rule.position), \.marks) { key, _, _ in
      var reader = ByteReader(key)
      return try !rule.keepsMark(at: reader.sequence())
    }
  }

  private mutating func purgeJournal() throws -> Bool {
    guard let rule else { return true }
    // Entries lie in the order of the winners' clocks, which are seldom later than their merges.
    let limit = ClockReading(milliseconds: rule.time)
    return try purge(.journal, to: SyncKey.number(limit.bits), \.conflicts) { key, value, ledger in
      let entry = try JournalEntry(decoding: value)
      guard entry.time < rule.time else { return false }
      ledger.put(SyncKey.journalIndex(entry.conflict.record, key), nil)
      return true
    }
  }

  /// Notes that a reference waits, of records that do not wait for it any more.
  private mutating func purgeParked() throws -> Bool {
    try purge(.parked, to: nil, \.leftovers) { key, _, ledger in
      let (target, reference) = try SyncKey.parked(from: key)
      guard let entry = try ledger.record(reference.owner) else { return true }
      // One that goes along with its owner waits for it, without an object.
      if entry.key == nil { return entry.overlay.isEmpty }
      return entry.overlay[reference.property]?.reference != target
    }
  }

  /// Notes of sync's own transactions that were captured, or are gone.
  private mutating func purgeOwn() throws -> Bool {
    let captured = try access.ledger().head.captured
    return try purge(.own, to: SyncKey.own(captured &+ 1).key, \.leftovers) { _, _, _ in true }
  }

  // MARK: Ending

  /// Gives room back, a piece a step, and notes that the purge is complete.
  private mutating func end() throws -> Bool {
    if report.isPlan { return true }
    if let space = access.store.capabilities.resources {
      let freed = try space.releaseSpace(atMost: Self.bytesPerCommit)
      report.freedBytes += freed
      if freed > 0 { return false }
      report.waitsForReaders = try !space.settleFile()
      settlings += 1
      // Most readers end soon; for those that do not, the next purge does it.
      if report.waitsForReaders, settlings < Self.mostSettlings { return false }
    }
    let ledger = try access.ledger()
    var state = try ledger.retention()
    state.completed = access.environment.now()
    ledger.setRetention(state)
    return try commit(ledger)
  }
}
