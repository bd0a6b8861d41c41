import CairnModel
import CairnStore
import Foundation

/// Looks in the histories of the stores that are open for the transactions that made writes.
struct AuthorshipSearch {
  let group: GroupStores
  private static let page = 500

  /// What a transaction must have done.
  enum Deed {
    case wrote(RecordID, property: String)
    case deleted(entity: String)
  }

  func authorship(of stamp: Stamp, _ deed: Deed) throws -> Authorship {
    if stamp.clock.milliseconds <= ClockReading.beforeSync.milliseconds { return .nobody }
    guard let member = group.members.first(where: { stamp.store.isEpoch(of: $0.id) }) else {
      return .elsewhere
    }
    guard let touches = try predicate(deed, member) else { return .gone }
    let time = stamp.clock.milliseconds
    let found =
      try atItsTime(time, touches, member)
      ?? (try isLast(stamp, deed, member)
        ? last(touches, since: time, member) : nearest(time, touches, member))
    if let found {
      return .transaction(
        number: found.number, author: found.author, context: found.contextName,
        process: found.processID, date: found.milliseconds)
    }
    let oldest = try member.access.history().readHistory(HistoryReadRequest(limit: 1)).first
    if let oldest, oldest.milliseconds <= time, try isScanned(deed, member) {
      return .nobody
    }
    return .gone
  }

  /// How far a transaction's time may be from its stamp's while all clocks are right.
  private func margin(_ member: GroupStores.Member) -> UInt64 {
    member.access.configuration.allowedClockSkew + 60_000
  }

  /// The last transaction of the stamp's own time, the usual case.
  private func atItsTime(
    _ time: UInt64, _ touches: (HistoryChangeRecord) -> Bool, _ member: GroupStores.Member
  ) throws -> HistoryTransactionRecord? {
    let history = try member.access.history()
    let margin = margin(member)
    var request = HistoryReadRequest(limit: Self.page)
    request.afterDate = Self.date(time > margin ? time - margin : 0)
    var found: HistoryTransactionRecord?
    while true {
      let page = try history.readHistory(request)
      for transaction in page where transaction.author != SyncConfiguration.author {
        let made = transaction.milliseconds
        if made > time + margin { return found }
        if made == time, transaction.changes.contains(where: touches) { found = transaction }
      }
      guard page.count == Self.page, let last = page.last else { return found }
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
    _ touches: (HistoryChangeRecord) -> Bool, since time: UInt64, _ member: GroupStores.Member
  ) throws -> HistoryTransactionRecord? {
    var found: HistoryTransactionRecord?
    try visitBackwards(member) { transaction in
      if transaction.changes.contains(where: touches) { found = transaction }
      return found == nil
    }
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
    _ time: UInt64, _ touches: (HistoryChangeRecord) -> Bool, _ member: GroupStores.Member
  ) throws -> HistoryTransactionRecord? {
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
      } else if made + margin >= time {
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

  /// Nil when the store no longer tells which object it was.
  private func predicate(
    _ deed: Deed, _ member: GroupStores.Member
  ) throws -> ((HistoryChangeRecord) -> Bool)? {
    switch deed {
    case .deleted(let entity):
      let name = try member.ownName(entity)
      return { $0.kind == .delete && $0.objectID.entity.name == name }
    case .wrote(let id, let property):
      let ledger = try member.access.ledger()
      guard let entry = try ledger.record(id), let object = ledger.objectID(for: entry) else {
        return nil
      }
      let names = Self.names(property, of: object.entity)
      return { change in
        change.objectID == object && change.kind != .delete
          && (change.changedProperties.map { !$0.isDisjoint(with: names) } ?? true)
      }
    }
  }

  /// A write that history has no transaction of although it reaches back: that of a row found by a
  /// scan.
  private func isScanned(_ deed: Deed, _ member: GroupStores.Member) throws -> Bool {
    guard case .wrote(let id, _) = deed else { return false }
    return try member.access.ledger().record(id) != nil
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

extension GroupStores.Member {
  /// What the store calls an entity of the local store's.
  func ownName(_ entity: String) throws -> String {
    guard let translation else { return entity }
    return access.schema.entities.keys.sorted().first { translation.entity($0) == entity } ?? entity
  }
}
