import CairnModel
import CairnStore
import Foundation

/// Looks in the histories of the stores that are open for the transactions that made writes.
struct AuthorshipSearch {
  let group: GroupStores
  /// Rows that records had before they were deleted, by store; nil where nothing tells.
  private var formerRows: [String: [RecordID: ManagedObjectID?]] = [:]
  private static let page = 500

  init(_ group: GroupStores) { self.group = group }

  /// What a transaction must have done.
  enum Deed {
    case wrote(RecordID, property: String)
    case deleted(RecordID)

    var record: RecordID {
      switch self {
      case .wrote(let id, _), .deleted(let id): id
      }
    }
  }

  mutating func authorship(of stamp: Stamp, _ deed: Deed) throws -> Authorship {
    if stamp.clock.milliseconds <= ClockReading.beforeSync.milliseconds { return .nobody }
    guard let member = group.members.first(where: { stamp.store.isEpoch(of: $0.id) }) else {
      return .elsewhere
    }
    let row = try row(of: deed.record, member)
    let signs = try signs(of: deed, row, member)
    guard let surest = signs.first else { return .gone }
    var found: HistoryTransactionRecord?
    for sign in signs where found == nil { found = try atItsTime(stamp, sign, member) }
    if found == nil {
      found =
        try isLast(stamp, deed, member)
        ? last(surest, stamp, member) : nearest(stamp, surest, member)
    }
    if let found {
      return .transaction(
        number: found.number, author: found.author, context: found.contextName,
        process: found.processID, date: found.milliseconds)
    }
    let oldest = try member.access.history().readHistory(HistoryReadRequest(limit: 1)).first
    let isTold = oldest.map { $0.milliseconds <= stamp.clock.milliseconds } ?? false
    return try isTold && isWhole(deed, stamp, member) ? .nobody : .gone
  }

  /// Whether history would tell of the deed if a transaction had done it.
  private func isWhole(_ deed: Deed, _ stamp: Stamp, _ member: GroupStores.Member) throws -> Bool {
    switch deed {
    case .wrote(let id, _): try member.access.ledger().record(id)?.key != nil
    case .deleted: stamp.isOfItsTime
    }
  }

  /// How far a transaction's time may be from its stamp's while all clocks are right.
  private func margin(_ member: GroupStores.Member) -> UInt64 {
    member.access.configuration.allowedClockSkew + 60_000
  }

  /// The last transaction of the stamp's own time, the usual case.
  private func atItsTime(
    _ stamp: Stamp, _ touches: Sign, _ member: GroupStores.Member
  ) throws -> HistoryTransactionRecord? {
    var found: HistoryTransactionRecord?
    try visit(of: stamp.clock.milliseconds, member) { transaction in
      if transaction.changes.contains(where: touches) { found = transaction }
    }
    return found
  }

  /// Visits the transactions of one millisecond that others than sync have made, in their order.
  private func visit(
    of time: UInt64, _ member: GroupStores.Member, _ body: (HistoryTransactionRecord) -> Void
  ) throws {
    let history = try member.access.history()
    let margin = margin(member)
    var request = HistoryReadRequest(limit: Self.page)
    request.afterDate = Self.date(time > margin ? time - margin : 0)
    while true {
      let page = try history.readHistory(request)
      for transaction in page where transaction.author != SyncConfiguration.author {
        let made = transaction.milliseconds
        if made > time + margin { return }
        if made == time { body(transaction) }
      }
      guard page.count == Self.page, let last = page.last else { return }
      request = HistoryReadRequest(after: last.number, limit: Self.page)
    }
  }

  /// Whether the store has no later write there than this one, so that its last transaction made it,
  /// whatever clocks have said since.
  private func isLast(
    _ stamp: Stamp, _ deed: Deed, _ member: GroupStores.Member
  ) throws -> Bool {
    guard case .wrote(let id, let property) = deed,
      let entry = try member.access.ledger().record(id)
    else { return false }
    let name = try member.ownName(property, of: entry.entity)
    let isLink = member.access.schema.entities[entry.entity]?.linkSides.contains {
      $0.relationship.name == name
    }
    return isLink != true && entry.write(of: name)?.stamp == stamp
  }

  /// The last transaction that did it; nil when its stamp must be of something later that history does not tell
  /// of, such as a repair.
  private func last(
    _ touches: Sign, _ stamp: Stamp, _ member: GroupStores.Member
  ) throws -> HistoryTransactionRecord? {
    let time = stamp.clock.milliseconds
    var found: HistoryTransactionRecord?
    try visitBackwards(member) { transaction in
      if transaction.changes.contains(where: touches) { found = transaction }
      return found == nil
    }
    if let found, !stamp.mayBe(ofTime: found.milliseconds) { return nil }
    let margin = margin(member)
    guard let found, found.milliseconds + margin < time else { return found }
    // The machine's clock was behind the store's: that one had followed an earlier transaction.
    var request = HistoryReadRequest(limit: 1)
    request.afterDate = Self.date(time - margin)
    request.includesChanges = false
    let earlier = try member.access.history().readHistory(request).first
    return earlier.map { $0.number < found.number } == true ? found : nil
  }

  /// The transaction that is nearest by its time, of several that did the like.
  ///
  /// One from the future by today's clock was stamped anew, and so is later than its stamp.
  private func nearest(
    _ stamp: Stamp, _ touches: Sign, _ member: GroupStores.Member
  ) throws -> HistoryTransactionRecord? {
    let time = stamp.clock.milliseconds
    let margin = margin(member)
    var before: HistoryTransactionRecord?
    var after: HistoryTransactionRecord?
    var future: HistoryTransactionRecord?
    try visitBackwards(member) { transaction in
      guard transaction.changes.contains(where: touches) else { return true }
      let made = transaction.milliseconds
      if made > time + margin {
        future = future ?? transaction
      } else if made > time {
        after = transaction
      } else if made + margin >= time, stamp.mayBe(ofTime: made) {
        before = before ?? transaction
      }
      return true
    }
    if let future, future.number > before?.number ?? 0 { return future }
    return before ?? after
  }

  /// Visits what others than sync have written and is captured, the newest first, until told to stop.
  private func visitBackwards(
    _ member: GroupStores.Member, _ body: (HistoryTransactionRecord) throws -> Bool
  ) throws {
    let history = try member.access.history()
    let purged = try history.lastPurgedTransactionNumber()
    var end = try member.access.ledger().head.captured
    while end > purged {
      let start = max(purged, end - Int64(Self.page))
      let page = try history.readHistory(
        HistoryReadRequest(after: start, limit: Int(end - start)))
      for transaction in page.reversed()
      where transaction.number <= end && transaction.author != SyncConfiguration.author {
        if try !body(transaction) { return }
      }
      end = start
    }
  }

  /// Whether a change may be the deed.
  private typealias Sign = (HistoryChangeRecord) -> Bool

  /// What tells the deed, the surest sign first; none when a write has no row by which it can be known.
  private func signs(
    of deed: Deed, _ row: ManagedObjectID?, _ member: GroupStores.Member
  ) throws -> [Sign] {
    switch deed {
    case .deleted(let id):
      let entity = try member.access.ledger().record(id)?.entity
      // A record that came back and was deleted again was another row by then.
      let ofAnyRow: Sign = { $0.kind == .delete && $0.objectID.entity.name == entity }
      guard let row else { return [ofAnyRow] }
      return [{ $0.kind == .delete && $0.objectID == row }, ofAnyRow]
    case .wrote(_, let property):
      guard let row else { return [] }
      let names = Self.names(property, of: row.entity)
      return [
        { change in
          change.objectID == row && change.kind != .delete
            && (change.changedProperties.map { !$0.isDisjoint(with: names) } ?? true)
        }
      ]
    }
  }

  /// The row that a record has in a store, or had there before it was deleted.
  private mutating func row(
    of id: RecordID, _ member: GroupStores.Member
  ) throws -> ManagedObjectID? {
    let ledger = try member.access.ledger()
    guard let entry = try ledger.record(id) else { return nil }
    if let object = ledger.objectID(for: entry) { return object }
    if let known = formerRows[member.name]?[id] { return known }
    let row = try formerRow(of: id, member)
    formerRows[member.name, default: [:]][id] = row
    return row
  }

  /// The row that a record was born as, which its ID tells while the history of that time is there.
  ///
  /// Nil for records that came from another store, and for those that have come back since as another row.
  private func formerRow(
    of id: RecordID, _ member: GroupStores.Member
  ) throws -> ManagedObjectID? {
    var born: ManagedObjectID?
    try visit(of: id.milliseconds, member) { transaction in
      guard born == nil else { return }
      let birth = RowBirth(transaction)
      born =
        transaction.changes.first { change in
          change.kind == .insert
            && member.access.identity(ofRow: change.objectID, born: birth).recordID == id
        }?.objectID
    }
    return born
  }

  /// What history may call the property: a part of a composite attribute is called after it, a place
  /// in an ordered relationship after either side.
  private static func names(_ property: String, of entity: EntityDescription) -> Set<String> {
    var name = property
    let suffix = SyncSchema.positionSuffix
    if name.hasSuffix(suffix) { name = String(name.dropLast(suffix.count)) }
    var names: Set<String> = [name]
    if let dot = name.firstIndex(of: ".") { names.insert(String(name[..<dot])) }
    if let inverse = entity.relationshipsByName[name]?.inverseRelationship {
      names.insert(inverse.name)
    }
    return names
  }

  static func date(_ milliseconds: UInt64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}

extension Stamp {
  /// Whether it has the very time of what made it, or an earlier one where that was in the future.
  ///
  /// A counter tells that the store's clock was ahead of the machine's.
  fileprivate var isOfItsTime: Bool { clock.counter == 0 }

  /// Whether a transaction of a time, in milliseconds since 1970, can have got it.
  func mayBe(ofTime time: UInt64) -> Bool { !isOfItsTime || time >= clock.milliseconds }
}
