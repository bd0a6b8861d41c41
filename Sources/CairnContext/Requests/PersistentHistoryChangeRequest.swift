import CairnCoordinator
import CairnModel
import Foundation

/// Reads or purges history; run with `context.execute(_:)`.
///
/// Source: `NSPersistentHistoryChangeRequest`.
public final class PersistentHistoryChangeRequest: PersistentStoreRequest {
  enum Start {
    case date(Date)
    case token(PersistentHistoryToken?)
    case transaction(PersistentHistoryTransaction)
  }
  enum Action {
    case fetch
    case delete
  }
  let action: Action
  let start: Start
  public var resultType: PersistentHistoryResultType = .transactionsAndChanges
  /// The largest number of transactions, oldest first; 0 for all.
  package var rowLimit = 0
  /// A condition on the transactions, or on the changes, by the entity the request names; with its
  /// order, limit and offset.
  ///
  /// Its entity is that of ``PersistentHistoryTransaction/entityDescription(with:)`` or
  /// ``PersistentHistoryChange/entityDescription(with:)``. Keys of transactions: `author`,
  /// `bundleID`, `contextName`, `processID`, `storeID`, `timestamp`, `token`, `transactionNumber`,
  /// `changes`. Keys of changes: `changeID`, `changeType` (a number), `changedObjectID`, `changedID`
  /// (the primary key), `changedEntity`, `tombstone`, `updatedProperties` (names), and
  /// `transaction`. A condition on changes leaves out the transactions without such a change.
  public var fetchRequest: FetchRequest<any FetchRequestResult>?

  init(_ action: Action, _ start: Start) {
    self.action = action
    self.start = start
    if action == .delete { resultType = .statusOnly }
  }

  public override func copy(with zone: NSZone? = nil) -> Any {
    let copy = PersistentHistoryChangeRequest(action, start)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    copy.rowLimit = rowLimit
    copy.fetchRequest = fetchRequest
    return copy
  }

  /// The token the request starts after.
  public var token: PersistentHistoryToken? {
    switch start {
    case .date: return nil
    case .token(let token): return token
    case .transaction(let transaction): return transaction.token
    }
  }

  /// Transactions later than the date.
  public static func fetchHistory(after date: Date) -> Self { Self(.fetch, .date(date)) }
  /// Transactions that came after the token was current; the whole history for nil, and of stores
  /// that the token does not know.
  ///
  /// Executing it throws 134301 when some of them have been purged, and for a token of other stores.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> Self {
    Self(.fetch, .token(token))
  }
  /// Transactions of the same store that came after the given one.
  public static func fetchHistory(after transaction: PersistentHistoryTransaction?) -> Self {
    Self(.fetch, start(transaction))
  }
  /// Transactions or changes that a fetch request describes; see ``fetchRequest``.
  public static func fetchHistory(
    withFetch fetchRequest: FetchRequest<any FetchRequestResult>
  ) -> Self {
    let request = Self(.fetch, .token(nil))
    request.fetchRequest = fetchRequest
    return request
  }
  /// Deletes transactions earlier than the date.
  public static func deleteHistory(before date: Date) -> Self { Self(.delete, .date(date)) }
  /// Deletes what is older than the token's transactions, which stay; nil for everything.
  public static func deleteHistory(before token: PersistentHistoryToken?) -> Self {
    Self(.delete, .token(token))
  }
  /// Deletes what is older than the transaction, which stays.
  public static func deleteHistory(before transaction: PersistentHistoryTransaction?) -> Self {
    Self(.delete, start(transaction))
  }

  private static func start(_ transaction: PersistentHistoryTransaction?) -> Start {
    transaction.map { .transaction($0) } ?? .token(nil)
  }
}
