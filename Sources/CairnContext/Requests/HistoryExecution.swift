import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Reads and purges the history of the coordinator's stores.
struct HistoryExecution {
  let context: ManagedObjectContext

  func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    guard let coordinator = context.persistentStoreCoordinator else {
      throw CoreDataError(
        .coreData, "The context has no persistent store coordinator; set one first.")
    }
    var keepers: [(store: PersistentStore, history: any HistoryKeeping)] = []
    for store in request.affectedStores ?? coordinator.persistentStores {
      if let history = store as? any HistoryKeeping, store.configuration.options.tracksHistory {
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
        request.resultType == .count ? count as Any : true as Any, request.resultType)
    case .fetch:
      var transactions: [PersistentHistoryTransaction] = []
      for keeper in keepers { transactions += try read(keeper.store, keeper.history, request) }
      if keepers.count > 1 {
        transactions.sort { $0.timestamp < $1.timestamp }
      }
      return result(of: transactions, request.resultType)
    }
  }

  private func read(
    _ store: PersistentStore, _ history: any HistoryKeeping,
    _ request: PersistentHistoryChangeRequest
  ) throws -> [PersistentHistoryTransaction] {
    var reading = HistoryReadRequest(limit: request.fetchLimit)
    switch request.start {
    case .date(let date): reading.afterDate = date
    case .token(let token): reading.after = token?.number(for: store)
    case .transaction(let storeID, let number):
      guard storeID == store.identity.identifier else { return [] }
      reading.after = number
    }
    reading.includesChanges = request.resultType != .transactionsOnly
    return try history.readHistory(reading).map {
      PersistentHistoryTransaction($0, store: store, includesChanges: reading.includesChanges)
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
    case .transaction(let storeID, let number):
      guard storeID == store.identity.identifier else { return 0 }
      return try history.purgeHistory(before: number, date: nil)
    }
  }

  private func result(
    of transactions: [PersistentHistoryTransaction], _ type: PersistentHistoryResultType
  ) -> PersistentHistoryResult {
    let changes = transactions.flatMap { $0.changes ?? [] }
    switch type {
    case .statusOnly: return PersistentHistoryResult(true, type)
    case .objectIDs:
      var seen = Set<ObjectIDRef>()
      let ids = changes.map(\.changedObjectID).filter { seen.insert(ObjectIDRef($0)).inserted }
      return PersistentHistoryResult(ids, type)
    case .count: return PersistentHistoryResult(changes.count, type)
    case .transactionsOnly, .transactionsAndChanges:
      return PersistentHistoryResult(transactions, type)
    case .changesOnly: return PersistentHistoryResult(changes, type)
    }
  }
}
