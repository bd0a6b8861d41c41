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
open class PersistentStoreRequest: NSObject, NSCopying {
  /// The stores it is restricted to; nil for all.
  open var affectedStores: [PersistentStore]?
  open var requestType: PersistentStoreRequestType { .fetchRequestType }

  /// A request with the same values; the request itself where its class has nothing that can be
  /// changed.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// What executing a request gave.
///
/// Source: `NSPersistentStoreResult`.
open class PersistentStoreResult: NSObject {}
