import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Reads and purges the history of the coordinator's stores.
struct HistoryExecution {
  let coordinator: PersistentStoreCoordinator

  func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    var keepers: [(store: PersistentStore, history: any HistoryKeeping)] = []
    for store in request.affectedStores ?? coordinator.persistentStores {
      if let history = store.capabilities.history, store.configuration.options.tracksHistory {
        keepers.append((store, history))
      }
    }
    guard !keepers.isEmpty else {
      throw CoreDataError(
        .persistentStoreUnsupportedRequestType,
        "No store here keeps history; open it with the option \(StoreOptionKey.historyTracking).")
    }
    if let token = request.token {
      let known = Set(keepers.map(\.store.identity.identifier))
      if known.isDisjoint(with: token.numbers.keys) {
        throw CoreDataError(
          .persistentHistoryTokenExpired, "The history token belongs to none of the stores here.")
      }
    }
    switch request.action {
    case .delete:
      var count = 0
      for keeper in keepers { count += try purge(keeper.store, keeper.history, request) }
      return PersistentHistoryResult(
        request.resultType == .count ? NSNumber(value: count) : NSNumber(value: true),
        request.resultType)
    case .fetch:
      let selection = try request.fetchRequest.map { try HistorySelection($0) }
      var transactions: [PersistentHistoryTransaction] = []
      for keeper in keepers {
        transactions += try read(keeper.store, keeper.history, request, selection)
      }
      if keepers.count > 1 {
        transactions.sort {
          ($0.timestamp, $0.storeID, $0.transactionNumber)
            < ($1.timestamp, $1.storeID, $1.transactionNumber)
        }
        if request.rowLimit > 0 { transactions = Array(transactions.prefix(request.rowLimit)) }
      }
      return try result(of: transactions, request.resultType, selection)
    }
  }

  /// So many transactions are read at a time when a condition decides which are kept.
  private static let pageSize = 256

  private func read(
    _ store: PersistentStore, _ history: any HistoryKeeping,
    _ request: PersistentHistoryChangeRequest, _ selection: HistorySelection?
  ) throws -> [PersistentHistoryTransaction] {
    var reading = HistoryReadRequest(limit: request.rowLimit)
    switch request.start {
    case .date(let date): reading.afterDate = date
    case .token(let token): reading.after = token?.number(for: store)
    case .transaction(let transaction):
      guard transaction.storeID == store.identity.identifier else { return [] }
      reading.after = transaction.transactionNumber
    }
    reading.includesChanges = request.resultType != .transactionsOnly || selection != nil
    guard let selection else {
      return try history.readHistory(reading).map {
        PersistentHistoryTransaction($0, store: store, includesChanges: reading.includesChanges)
      }
    }
    var matches: [PersistentHistoryTransaction] = []
    var count = 0
    reading.limit = Self.pageSize
    while true {
      let page = try history.readHistory(reading)
      for record in page {
        let whole = PersistentHistoryTransaction(record, store: store, includesChanges: true)
        guard let match = try selection.match(whole) else { continue }
        matches.append(match)
        count += selection.subject == .changes ? match.changes?.count ?? 0 : 1
        if selection.isEnough(count) { return matches }
        if request.rowLimit > 0, matches.count == request.rowLimit { return matches }
      }
      guard page.count == Self.pageSize, let last = page.last else { return matches }
      reading.after = last.number
    }
  }

  private func purge(
    _ store: PersistentStore, _ history: any HistoryKeeping,
    _ request: PersistentHistoryChangeRequest
  ) throws -> Int {
    switch request.start {
    case .date(let date): return try history.purgeHistory(before: nil, date: date)
    case .token(nil):
      let last = try history.lastTransactionNumber()
      return try history.purgeHistory(before: last + 1, date: nil)
    case .token(let token?):
      guard let number = token.number(for: store) else { return 0 }
      return try history.purgeHistory(before: number, date: nil)
    case .transaction(let transaction):
      guard transaction.storeID == store.identity.identifier else { return 0 }
      return try history.purgeHistory(before: transaction.transactionNumber, date: nil)
    }
  }

  private func result(
    of transactions: [PersistentHistoryTransaction], _ type: PersistentHistoryResultType,
    _ selection: HistorySelection?
  ) throws -> PersistentHistoryResult {
    var transactions = transactions
    var changes = transactions.flatMap { $0.changes ?? [] }
    switch selection?.subject {
    case nil: break
    case .transactions:
      transactions = try selection?.window(transactions) ?? []
      changes = transactions.flatMap { $0.changes ?? [] }
    case .changes:
      changes = try selection?.window(changes) ?? []
      let kept = Set(changes.map(ObjectIdentifier.init))
      transactions = transactions.compactMap { transaction in
        let own = (transaction.changes ?? []).filter { kept.contains(ObjectIdentifier($0)) }
        return own.isEmpty ? nil : PersistentHistoryTransaction(transaction, changes: own)
      }
    }
    switch type {
    case .statusOnly: return PersistentHistoryResult(NSNumber(value: true), type)
    case .objectIDs:
      var seen = Set<ObjectIDRef>()
      let ids = changes.map(\.changedObjectID).filter { seen.insert(ObjectIDRef($0)).inserted }
      return PersistentHistoryResult(ids, type)
    case .count: return PersistentHistoryResult(NSNumber(value: changes.count), type)
    case .transactionsOnly:
      return PersistentHistoryResult(
        transactions.map { PersistentHistoryTransaction($0, changes: nil) }, type)
    case .transactionsAndChanges: return PersistentHistoryResult(transactions, type)
    case .changesOnly: return PersistentHistoryResult(changes, type)
    }
  }
}
