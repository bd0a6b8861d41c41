import CairnStore
import Foundation

/// What a request asks for.
///
/// Source: `NSPersistentStoreRequestType`.
public enum PersistentStoreRequestType: UInt, Sendable {
  case fetchRequestType = 1
  case saveRequestType = 2
  case batchInsertRequestType = 5
  case batchUpdateRequestType = 6
  case batchDeleteRequestType = 7
}

/// Something a context asks stores for.
///
/// Source: `NSPersistentStoreRequest`.
open class PersistentStoreRequest: NSObject {
  /// The stores it is restricted to; nil for all.
  open var affectedStores: [PersistentStore]?
  open var requestType: PersistentStoreRequestType { .fetchRequestType }
}

/// What executing a request gave.
///
/// Source: `NSPersistentStoreResult`.
open class PersistentStoreResult: NSObject {}
