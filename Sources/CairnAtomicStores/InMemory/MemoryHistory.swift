import CairnModel
import CairnStore
import Foundation

/// The history of a store in memory.
struct MemoryHistory {
  private var transactions: [HistoryTransactionRecord] = []
  private(set) var lastTransaction: Int64 = 0
  private var lastChange: Int64 = 0
  /// The newest transaction that was purged.
  private var purgedThrough: Int64 = 0

  /// Records a commit; nil when it changed no object.
  mutating func record(_ request: SaveChangesRequest) -> Int64? {
    var changes: [HistoryChangeRecord] = []
    func add(
      _ kind: HistoryChangeKind, _ id: ManagedObjectID, _ properties: Set<String>?,
      _ tombstone: [String: AttributeValue] = [:]
    ) {
      lastChange += 1
      changes.append(
        HistoryChangeRecord(
          number: lastChange, kind: kind, objectID: id, changedProperties: properties,
          tombstone: tombstone))
    }
    for insertion in request.insertions { add(.insert, insertion.snapshot.objectID, nil) }
    var linked: [ManagedObjectID: Set<String>] = [:]
    for link in request.links { linked[link.owner, default: []].insert(link.relationship.name) }
    let inserted = Set(request.insertions.map(\.snapshot.objectID))
    for update in request.updates {
      let id = update.snapshot.objectID
      guard let layout = id.entity.layout else { continue }
      var names = Set(update.changedSlots.map { layout.slots[$0].name })
      names.formUnion(update.changedToManys.map { layout.toManys[$0].name })
      names.formUnion(linked.removeValue(forKey: id) ?? [])
      add(.update, id, names)
    }
    let deleted = Set(request.deletions.map(\.objectID))
    for link in request.links {
      let owner = link.owner
      guard !inserted.contains(owner), !deleted.contains(owner),
        let names = linked.removeValue(forKey: owner)
      else { continue }
      add(.update, owner, names)
    }
    for deletion in request.deletions {
      add(.delete, deletion.objectID, nil, deletion.snapshot.map(Self.tombstone) ?? [:])
    }
    if changes.isEmpty { return nil }
    lastTransaction += 1
    transactions.append(
      HistoryTransactionRecord(
        number: lastTransaction, date: request.date, author: request.author,
        contextName: request.contextName, bundleID: nil,
        processID: ProcessInfo.processInfo.processName, changes: changes))
    return lastTransaction
  }

  private static func tombstone(of row: RowSnapshot) -> [String: AttributeValue] {
    guard let layout = row.objectID.entity.layout else { return [:] }
    var values: [String: AttributeValue] = [:]
    for slot in layout.slotsKeptOnDeletion where slot < row.count && !row[slot].isNull {
      values[layout.slots[slot].name] = row[slot]
    }
    return values
  }

  func read(_ request: HistoryReadRequest) throws -> [HistoryTransactionRecord] {
    if let after = request.after, after < purgedThrough || after > lastTransaction {
      throw CoreDataError(
        .persistentHistoryTokenExpired,
        "History after transaction \(after) is not there: the store has transactions "
          + "\(purgedThrough + 1) to \(lastTransaction). Start again from its present content.")
    }
    var found = transactions.filter { transaction in
      if let after = request.after, transaction.number <= after { return false }
      if let date = request.afterDate, transaction.date <= date { return false }
      return true
    }
    if request.limit > 0 { found = Array(found.prefix(request.limit)) }
    if request.includesChanges { return found }
    return found.map {
      HistoryTransactionRecord(
        number: $0.number, date: $0.date, author: $0.author, contextName: $0.contextName,
        bundleID: $0.bundleID, processID: $0.processID, changes: [])
    }
  }

  /// - Returns: What was purged.
  mutating func purge(before number: Int64?, date: Date?) -> [HistoryTransactionRecord] {
    var end = transactions.firstIndex { $0.number >= number ?? 0 } ?? transactions.endIndex
    if let date {
      // Only from the beginning on, so that what is left has no gaps.
      end = max(end, transactions.firstIndex { $0.date >= date } ?? transactions.endIndex)
    }
    guard end > 0 else { return [] }
    purgedThrough = transactions[end - 1].number
    let purged = Array(transactions[..<end])
    transactions.removeFirst(end)
    return purged
  }
}
