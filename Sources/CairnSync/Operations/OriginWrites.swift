import CairnModel
import CairnStore
import Foundation

/// What an author or a store wrote in a time, as far as it can be told.
struct OriginWrites {
  /// What is known of the origin's writes of one property.
  struct Touch {
    /// The store in which it was written.
    var store: StoreID
    /// When the first of the writes was made.
    var first: UInt64
    /// How many transactions of the origin wrote it.
    var count = 1
    /// Whether the last write of the store was the origin's.
    var isLast = true
    /// When others of the same store wrote it before, last.
    var othersBefore: UInt64?
    /// Since when the store's history tells of all writes; nil when it was not asked.
    var tracedSince: UInt64?
  }
  struct Record {
    /// By property, in the local store's names; a relationship of links by its own name.
    var properties: [String: Touch] = [:]
    var isInserted = false
    /// Whether others wrote to it after.
    var isWrittenByOthers = false
  }
  private(set) var records: [RecordID: Record] = [:]
  /// Deleted records, with the values that history kept of them.
  private(set) var deleted: [RecordID: [String: WireValue]] = [:]
  private(set) var withoutHistory: [StoreReference] = []

  /// - Parameter local: The local store's bookkeeping, with all captured.
  init(_ request: RevertRequest, in group: inout GroupStores, local: Ledger) throws {
    var found = self
    switch request.origin {
    case .author(let author):
      try group.read { member in
        try found.trace(member, since: request.since) { $0 == author && request.includes($1) }
      }
    case .store(let id):
      let reachesBack = try group.members.first { $0.id == id }.map { member in
        let oldest = try member.access.history().readHistory(HistoryReadRequest(limit: 1)).first
        return oldest.map { $0.milliseconds <= request.since } ?? false
      }
      if reachesBack == true {
        try group.read { member in
          guard member.id == id else { return }
          try found.trace(member, since: request.since) { request.includes($1) }
        }
      } else {
        try found.scan(id, request, local)
      }
    }
    self = found
  }

  // MARK: By history

  /// Whether a transaction of an author at a time is the origin's.
  private typealias Origin = (_ author: String?, _ date: UInt64) -> Bool

  private struct Change {
    let author: String?
    let date: UInt64
    /// Of a row that it inserted.
    let birth: RowBirth
    let record: HistoryChangeRecord
  }

  private mutating func trace(
    _ member: GroupStores.Member, since: UInt64, _ isOrigin: Origin
  ) throws {
    let history = try member.access.history()
    let ledger = try member.access.ledger()
    let oldest = try history.readHistory(HistoryReadRequest(limit: 1)).first
    let isComplete = oldest?.number == 1 || ledger.head.captured == 0
    let begins = isComplete ? 0 : oldest.map { $0.milliseconds } ?? .max
    if begins > since { withoutHistory.append(member.reference) }
    // First which objects the author touched, then all that was done to them.
    var objects: Set<ManagedObjectID> = []
    try visit(history, from: since) { transaction in
      guard transaction.author != SyncConfiguration.author,
        isOrigin(transaction.author, transaction.milliseconds)
      else { return }
      for change in transaction.changes { objects.insert(change.objectID) }
    }
    if objects.isEmpty { return }
    var changes: [ManagedObjectID: [Change]] = [:]
    try visit(history, from: 0) { transaction in
      guard transaction.author != SyncConfiguration.author else { return }
      let date = transaction.milliseconds
      for change in transaction.changes where objects.contains(change.objectID) {
        changes[change.objectID, default: []].append(
          Change(
            author: transaction.author, date: date, birth: RowBirth(transaction), record: change))
      }
    }
    for (object, list) in changes {
      if list.last?.record.kind == .delete { continue }
      guard let id = try ledger.recordID(for: object) else { continue }
      var record = Record()
      for change in list {
        take(change, isOrigin(change.author, change.date), object, member, &record)
      }
      for name in record.properties.keys { record.properties[name]?.tracedSince = begins }
      records[id] = merge(records[id], record)
    }
    let (unknown, passing) = try takeDeleted(changes, isOrigin, member, ledger)
    try findDeleted(unknown, besides: passing, isOrigin, member)
  }

  private func visit(
    _ history: any HistoryKeeping, from time: UInt64,
    _ body: (HistoryTransactionRecord) throws -> Void
  ) throws {
    let page = 500
    var request = HistoryReadRequest(limit: page)
    if time > 0 { request.afterDate = AuthorshipSearch.date(time - 1) }
    while true {
      let found = try history.readHistory(request)
      for transaction in found { try body(transaction) }
      guard found.count == page, let last = found.last else { return }
      request = HistoryReadRequest(after: last.number, limit: page)
    }
  }

  private func take(
    _ change: Change, _ isOrigin: Bool, _ object: ManagedObjectID, _ member: GroupStores.Member,
    _ record: inout Record
  ) {
    guard let plan = object.entity.name.flatMap({ member.access.schema.entities[$0] }) else {
      return
    }
    let all = plan.columns.map(\.name) + plan.linkSides.map(\.relationship.name)
    let names: [String]
    if change.record.kind == .insert {
      names = all
      if isOrigin { record.isInserted = true }
    } else if let properties = change.record.changedProperties {
      names = all.filter { name in
        properties.contains(name) || properties.contains { name.hasPrefix($0 + ".") }
      }
    } else {
      names = all
    }
    if !isOrigin, record.isInserted { record.isWrittenByOthers = true }
    for own in names {
      let name = member.translation?.property(own, of: object.entity.name ?? "") ?? own
      guard isOrigin else {
        if record.properties[name]?.count ?? 0 > 0 {
          record.properties[name]?.isLast = false
        } else {
          record.properties[name] = Touch(
            store: member.id, first: change.date, count: 0, isLast: false,
            othersBefore: change.date)
        }
        continue
      }
      if var touch = record.properties[name] {
        if touch.count == 0 { touch.first = change.date }
        touch.count += 1
        touch.isLast = true
        record.properties[name] = touch
      } else {
        record.properties[name] = Touch(store: member.id, first: change.date)
      }
    }
  }

  private func merge(_ a: Record?, _ b: Record) -> Record {
    guard let a else { return b }
    var result = a
    result.isInserted = a.isInserted || b.isInserted
    result.isWrittenByOthers = a.isWrittenByOthers || b.isWrittenByOthers
    result.properties.merge(b.properties) { $0.count > 0 && $0.isLast ? $0 : $1 }
    return result
  }

  /// Takes the origin's deletes of rows whose inserts history has: those tell which records they were.
  ///
  /// - Returns: The origin's other deletes, and the records that it alone has inserted and deleted: without it they are
  ///   not there either.
  private mutating func takeDeleted(
    _ changes: [ManagedObjectID: [Change]], _ isOrigin: Origin, _ member: GroupStores.Member,
    _ ledger: Ledger
  ) throws -> (unknown: [Change], passing: Set<RecordID>) {
    var unknown: [Change] = []
    var passing: Set<RecordID> = []
    for (object, list) in changes {
      guard let delete = list.last, delete.record.kind == .delete,
        isOrigin(delete.author, delete.date)
      else { continue }
      let birth = list.first.flatMap { $0.record.kind == .insert ? $0.birth : nil }
      let id = birth.map { member.access.identity(ofRow: object, born: $0).recordID }
      // A record that came back as this row has the ID of its first one.
      guard let id, let entry = try ledger.record(id) else {
        unknown.append(delete)
        continue
      }
      // It may have come back since as another row, which another program deleted.
      guard entry.key == nil, entry.survivor == nil, let deletion = entry.deletion,
        deletion.stamp.store.isEpoch(of: member.id), deletion.stamp.mayBe(ofTime: delete.date)
      else { continue }
      // What other stores wrote to it the deleter had seen.
      if list.allSatisfy({ isOrigin($0.author, $0.date) }), deletion.seen.readings.isEmpty {
        passing.insert(id)
      } else {
        deleted[id] = delete.record.tombstone.compactMapValues(WireValue.init(stored:))
      }
    }
    return (unknown, passing)
  }

  /// Where nothing tells any more which records rows were that are gone, the times of their deletes do.
  private mutating func findDeleted(
    _ deletes: [Change], besides passing: Set<RecordID>, _ isOrigin: Origin,
    _ member: GroupStores.Member
  ) throws {
    guard !deletes.isEmpty, let sidecar = member.access.store.capabilities.sidecar else { return }
    let from = deletes.map(\.date).min() ?? 0
    // Who else deleted at these times makes it unclear whose delete it was.
    var times: [String: [(date: UInt64, author: String?)]] = [:]
    try visit(try member.access.history(), from: from) { transaction in
      guard transaction.author != SyncConfiguration.author else { return }
      let date = transaction.milliseconds
      for name in Set(
        transaction.changes.filter { $0.kind == .delete }.map { $0.objectID.entity.name ?? "" })
      {
        times[name, default: []].append((date, transaction.author))
      }
    }
    var found: [(id: RecordID, entity: String, date: UInt64)] = []
    try sidecar.visitEntries(of: .records) { key, value in
      let entry = try RecordEntry(decoding: value)
      guard entry.key == nil, entry.survivor == nil, let deletion = entry.deletion,
        deletion.stamp.store.isEpoch(of: member.id)
      else { return }
      let time = deletion.stamp.clock.milliseconds
      let before = times[entry.entity]?.filter { $0.date <= time } ?? []
      guard let last = before.last, isOrigin(last.author, last.date),
        deletion.stamp.mayBe(ofTime: last.date),
        !before.contains(where: { $0.date == last.date && !isOrigin($0.author, $0.date) }),
        deletes.contains(where: {
          $0.date == last.date && $0.record.objectID.entity.name == entry.entity
        })
      else { return }
      let id = try SyncKey.identity(RecordID.self, in: key)
      if deleted[id] == nil, !passing.contains(id) { found.append((id, entry.entity, last.date)) }
    }
    for item in found {
      let same = deletes.filter {
        $0.date == item.date && $0.record.objectID.entity.name == item.entity
      }
      // Of several at once history does not tell which is which.
      let kept = same.count == 1 ? same[0].record.tombstone : [:]
      deleted[item.id] = kept.compactMapValues(WireValue.init(stored:))
    }
  }

  // MARK: By stamps

  /// What a store wrote, by what the local store knows of it: not what was there before.
  private mutating func scan(
    _ id: StoreID, _ request: RevertRequest, _ local: Ledger
  ) throws {
    guard let sidecar = local.store.capabilities.sidecar else { return }
    func isOrigin(_ stamp: Stamp) -> Bool {
      stamp.store.isEpoch(of: id) && request.includes(stamp.clock.milliseconds)
    }
    try sidecar.visitEntries(of: .records) { key, value in
      let entry = try local.entry(decoding: value)
      let record = try SyncKey.identity(RecordID.self, in: key)
      guard entry.survivor == nil else { return }
      if entry.key == nil {
        if let deletion = entry.deletion, isOrigin(deletion.stamp) { deleted[record] = [:] }
        return
      }
      guard let plan = local.schema.entities[entry.entity] else { return }
      var found = Record()
      var others = false
      for column in plan.columns {
        guard let write = entry.write(of: column.name) else { continue }
        if isOrigin(write.stamp) {
          found.properties[column.name] = Touch(
            store: id, first: write.stamp.clock.milliseconds)
        } else if write.stamp != PropertyWrite.filledIn.stamp {
          others = true
        }
      }
      if found.properties.isEmpty { return }
      // Who inserted a record that others wrote to is not known any more.
      found.isInserted = request.includes(record.milliseconds) && !others
      records[record] = found
    }
    try sidecar.visitEntries(of: .links) { key, value in
      let link = try SyncKey.linkKey(from: key)
      let state = try LinkEntry(decoding: value).state
      guard isOrigin(state.stamp), let plan = local.schema.links[link.relationship] else { return }
      records[link.owner, default: Record()].properties[plan.relationship.name] = Touch(
        store: id, first: state.stamp.clock.milliseconds)
    }
  }
}
