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
    let history = try member.access.history()
    guard let touches = try predicate(deed, member) else { return .gone }
    let time = stamp.clock.milliseconds
    // A transaction's time is not after its stamp's, and before it by the skew at most.
    let margin = member.access.configuration.allowedClockSkew + 60_000
    let oldest = try history.readHistory(HistoryReadRequest(limit: 1)).first
    var request = HistoryReadRequest(limit: Self.page)
    request.afterDate = Self.date(time > margin ? time - margin : 0)
    var found: HistoryTransactionRecord?
    var later: HistoryTransactionRecord?
    search: while true {
      let page = try history.readHistory(request)
      for transaction in page where transaction.author != SyncConfiguration.author {
        let made = Self.milliseconds(transaction.date)
        if made > time + margin { break search }
        guard transaction.changes.contains(where: touches) else { continue }
        if made <= time { found = transaction } else { later = later ?? transaction }
      }
      guard page.count == Self.page, let last = page.last else { break }
      request = HistoryReadRequest(after: last.number, limit: Self.page)
    }
    if let transaction = found ?? later {
      return .transaction(
        number: transaction.number, author: transaction.author, context: transaction.contextName,
        process: transaction.processID, date: Self.milliseconds(transaction.date))
    }
    if let oldest, Self.milliseconds(oldest.date) <= time, try isScanned(deed, member) {
      return .nobody
    }
    return .gone
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

  static func milliseconds(_ date: Date) -> UInt64 {
    UInt64(min(max(0, date.timeIntervalSince1970 * 1000), 0x1p47))
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
