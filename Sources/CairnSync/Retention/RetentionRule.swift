/// What of a store's lists may go: decided from what is known, without looking at the lists.
struct RetentionRule: Hashable, Sendable {
  /// What is known when it is decided.
  struct Facts: Sendable {
    /// In milliseconds since 1970.
    var now: UInt64
    /// In milliseconds.
    var retention: UInt64
    /// The age that an operator asked for instead of the retention; readers have the retention's time
    /// all the same.
    var age: UInt64?
    /// The last number of the change order.
    var sequence: UInt64
    var calendar: SequenceCalendar
    var readers: [StoreID: ReaderNote]
    /// How far was decided before.
    var floor: UInt64
  }

  /// The last number of the change order of which nothing has to be kept: it is old enough, and every
  /// live reader is past it.
  let position: UInt64
  /// History, and what lost a conflict, may go if it is of an earlier time, in milliseconds since 1970.
  let time: UInt64
  /// The readers that have been silent for longer than the retention.
  let expired: Set<StoreID>
  /// The readers that something is kept for although it is old enough.
  let holding: Set<StoreID>
  /// Numbers whose marks stay, so that an expired reader that comes back can be told from one of another
  /// life of the store.
  let keptMarks: [ClosedRange<UInt64>]

  init(_ facts: Facts) {
    let age = facts.age ?? facts.retention
    time = facts.now - min(age, facts.now)
    let limit = time
    expired = Set(
      facts.readers.filter { Self.isExpired($0.value, facts.now, facts.retention) }.keys)
    let isExpired = expired.contains
    // At age 0 also what no sample tells of.
    let old = age == 0 ? facts.sequence : facts.calendar.sequence(at: limit)
    let live = facts.readers.filter { !isExpired($0.key) }
    position = max(facts.floor, live.values.reduce(old) { min($0, $1.position) })
    holding = Set(live.filter { $0.value.position < old }.keys)
    keptMarks = facts.readers.filter { isExpired($0.key) }.values
      .map { $0.position...max($0.position, $0.offered) }
  }

  /// Whether a reader is beyond the retention: nothing is kept for it any more.
  static func isExpired(_ note: ReaderNote, _ now: UInt64, _ retention: UInt64) -> Bool {
    // Of a version that noted no times, or from a time when the clock was wrong.
    if note.heard == 0 || note.heard > now { return false }
    return now - note.heard > retention
  }

  /// Whether a mark that is too old for live readers stays all the same.
  func keepsMark(at sequence: UInt64) -> Bool { keptMarks.contains { $0.contains(sequence) } }

  /// Whether a record's entry says nothing that has to be kept: there is no object, and nothing that is
  /// known would make one.
  ///
  /// - Parameter policy: Of the record's entity; nil for an entity that the model does not have, of which
  ///   a daemon with a newer one decides.
  static func isOver(_ entry: RecordEntry, id: RecordID, _ policy: DeleteConflictPolicy?) -> Bool {
    guard let policy, entry.key == nil else { return false }
    if entry.survivor != nil { return true }
    return entry.deletion != nil && !entry.state(id: id, row: nil).isAlive(under: policy)
  }

  /// Whether a record without an object went along with one that was deleted at `stamp`, which is why it has
  /// none.
  static func isHidden(_ entry: RecordEntry, goneAt stamp: Stamp) -> Bool {
    entry.key == nil && entry.survivor == nil && entry.deletion.map { $0.stamp < stamp } ?? true
  }

  /// Whether a record that waits for a deleted one by a property goes along with it, and needs no tombstone
  /// to tell why it is not there.
  ///
  /// - Parameter plan: Of its entity; nil for one that the model does not have.
  static func goesAlong(
    _ entry: RecordEntry, _ plan: SyncSchema.EntityPlan?, by property: String, goneAt stamp: Stamp
  ) -> Bool {
    guard let plan else { return false }
    return isHidden(entry, goneAt: stamp)
      && plan.takenAlongBy.contains { plan.columns[$0].name == property }
  }
}
