import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// What a change in history did, with Core Data's raw values.
public enum PersistentHistoryChangeType: Int, Sendable {
  case insert = 0
  case update = 1
  case delete = 2
}

/// The form of a history request's result, with Core Data's raw values.
public enum PersistentHistoryResultType: Int, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
  case transactionsOnly = 3
  case changesOnly = 4
  case transactionsAndChanges = 5
}

/// One changed object in a transaction. Source: `NSPersistentHistoryChange`.
// Unchecked: immutable; property descriptions are frozen, tombstone values are property-list
// values.
public final class PersistentHistoryChange: NSObject, @unchecked Sendable {
  public let changeID: Int64
  public let changedObjectID: ManagedObjectID
  public let changeType: PersistentHistoryChangeType
  /// What was kept of a deleted object, by attribute name.
  public let tombstone: [AnyHashable: Any]?
  /// The changed properties of an update; nil when they were not recorded.
  public let updatedProperties: Set<PropertyDescription>?
  /// The transaction without its list of changes.
  public let transaction: PersistentHistoryTransaction?

  init(_ record: HistoryChangeRecord, transaction: PersistentHistoryTransaction?) {
    changeID = record.number
    changedObjectID = record.objectID
    let entity = record.objectID.entity
    switch record.kind {
    case .insert: changeType = .insert
    case .update: changeType = .update
    case .delete: changeType = .delete
    }
    var kept: [AnyHashable: Any] = [:]
    let attributes = entity.attributesByName
    for (name, value) in record.tombstone {
      kept[name] = AttributeCoding.decode(value, for: attributes[name])
    }
    tombstone = changeType == .delete ? kept : nil
    updatedProperties = record.changedProperties.map { names in
      let properties = entity.propertiesByName
      return Set(names.compactMap { properties[$0] })
    }
    self.transaction = transaction
  }
}

/// One commit in history. Source: `NSPersistentHistoryTransaction`.
// Unchecked: immutable.
public final class PersistentHistoryTransaction: NSObject, @unchecked Sendable {
  public let timestamp: Date
  /// The changes; nil when only transactions were asked for.
  public let changes: [PersistentHistoryChange]?
  public let transactionNumber: Int64
  /// The UUID of the store.
  public let storeID: String
  public let bundleID: String
  /// The name of the process that wrote.
  public let processID: String
  public let contextName: String?
  public let author: String?

  init(_ record: HistoryTransactionRecord, store: PersistentStore, includesChanges: Bool) {
    timestamp = record.date
    transactionNumber = record.number
    storeID = store.identity.identifier
    bundleID = record.bundleID ?? ""
    processID = record.processID ?? ""
    contextName = record.contextName
    author = record.author
    if includesChanges {
      let bare = PersistentHistoryTransaction(record, store: store, includesChanges: false)
      changes = record.changes.map { PersistentHistoryChange($0, transaction: bare) }
    } else {
      changes = nil
    }
  }

  /// The place in history right after this transaction.
  public var token: PersistentHistoryToken {
    PersistentHistoryToken(numbers: [storeID: transactionNumber])
  }

  /// A notification like that of the save, for `mergeChanges(fromContextDidSave:)`.
  public func objectIDNotification() -> Notification {
    func ids(_ type: PersistentHistoryChangeType) -> Set<ManagedObjectID> {
      Set((changes ?? []).filter { $0.changeType == type }.map(\.changedObjectID))
    }
    typealias Key = ManagedObjectContext.NotificationKey
    return Notification(
      name: ManagedObjectContext.didSaveObjectIDsNotification, object: nil,
      userInfo: [
        Key.insertedObjectIDs.rawValue: ids(.insert), Key.updatedObjectIDs.rawValue: ids(.update),
        Key.deletedObjectIDs.rawValue: ids(.delete),
      ])
  }
}

/// Reads or purges history; run with `context.execute(_:)`.
///
/// Source: `NSPersistentHistoryChangeRequest`.
public final class PersistentHistoryChangeRequest: PersistentStoreRequest {
  enum Start {
    case date(Date)
    case token(PersistentHistoryToken?)
    case transaction(store: String, number: Int64)
  }
  enum Action {
    case fetch
    case delete
  }
  let action: Action
  let start: Start
  public var resultType: PersistentHistoryResultType = .transactionsAndChanges
  /// The largest number of transactions, oldest first; 0 for all.
  public var fetchLimit = 0

  init(_ action: Action, _ start: Start) {
    self.action = action
    self.start = start
    if action == .delete { resultType = .statusOnly }
  }

  /// The token the request starts after.
  public var token: PersistentHistoryToken? {
    if case .token(let token) = start { return token }
    return nil
  }

  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch, .date(date))
  }
  /// Nil for the whole history.
  public static func fetchHistory(
    after token: PersistentHistoryToken?
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch, .token(token))
  }
  public static func fetchHistory(
    after transaction: PersistentHistoryTransaction?
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch, start(transaction))
  }
  public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete, .date(date))
  }
  /// Deletes what is older than the token's transactions; nil for everything.
  public static func deleteHistory(
    before token: PersistentHistoryToken?
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete, .token(token))
  }
  public static func deleteHistory(
    before transaction: PersistentHistoryTransaction?
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete, start(transaction))
  }

  private static func start(_ transaction: PersistentHistoryTransaction?) -> Start {
    guard let transaction else { return .token(nil) }
    return .transaction(store: transaction.storeID, number: transaction.transactionNumber)
  }
}

/// The outcome of a history request.
///
/// Source: `NSPersistentHistoryResult`.
public final class PersistentHistoryResult: PersistentStoreResult {
  /// Transactions, changes, object IDs, a count, or a `Bool`, by ``resultType``.
  public let result: Any?
  public let resultType: PersistentHistoryResultType
  init(_ result: Any?, _ resultType: PersistentHistoryResultType) {
    self.result = result
    self.resultType = resultType
  }
}
