import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// One commit in history. Source: `NSPersistentHistoryTransaction`.
// Unchecked: immutable.
public final class PersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
  /// The entity that a fetch request names to find transactions; see
  /// ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
  public class func entityDescription(with context: ManagedObjectContext) -> EntityDescription? {
    PersistentHistoryEntities.transaction
  }
  /// The same without a context.
  public class var entityDescription: EntityDescription? { PersistentHistoryEntities.transaction }
  /// A new fetch request for transactions.
  public class var fetchRequest: FetchRequest<any FetchRequestResult>? {
    PersistentHistoryEntities.request(for: PersistentHistoryEntities.transaction)
  }

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

  /// The same transaction with some of its changes, or with none listed.
  init(_ other: PersistentHistoryTransaction, changes: [PersistentHistoryChange]?) {
    timestamp = other.timestamp
    transactionNumber = other.transactionNumber
    storeID = other.storeID
    bundleID = other.bundleID
    processID = other.processID
    contextName = other.contextName
    author = other.author
    self.changes = changes
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
    var info: [AnyHashable: Any] = [NSPersistentHistoryChangeTokenKey: token]
    func put(_ type: PersistentHistoryChangeType, _ key: ManagedObjectContext.NotificationKey) {
      let changed = ids(type)
      if !changed.isEmpty { info[key.rawValue] = changed }
    }
    put(.insert, .insertedObjectIDs)
    put(.update, .updatedObjectIDs)
    put(.delete, .deletedObjectIDs)
    return Notification(
      name: ManagedObjectContext.didSaveObjectIDsNotification, object: nil, userInfo: info)
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// What predicates on transactions may name.
extension PersistentHistoryTransaction: KeyValueReading {
  public func value(forKey key: String) -> Any? {
    switch key {
    case "author": return author
    case "bundleID": return bundleID
    case "changes": return changes
    case "contextName": return contextName
    case "processID": return processID
    case "storeID": return storeID
    case "timestamp": return timestamp
    case "token": return token
    case "transactionNumber": return NSNumber(value: transactionNumber)
    case "self", "SELF": return self
    default: return nil
    }
  }
}
