import CairnModel
import Foundation

/// The values of one object as an ``IncrementalStore`` has them.
///
/// Source: `NSIncrementalStoreNode`.
// Unchecked: mutable state is guarded by `lock`; values are those of attributes, which are not
// changed once they are in a node.
open class IncrementalStoreNode: NSObject, @unchecked Sendable {
  private let lock = NSLock()
  private var values: [String: Any]
  private var currentVersion: UInt64

  /// The object whose values these are.
  public let objectID: ManagedObjectID

  /// The values of an object by property name: attributes, and to-one relationships as object IDs
  /// or `NSNull`.
  ///
  /// Missing attributes are nil; a to-one relationship that is missing is asked for with
  /// ``IncrementalStore/newValue(forRelationship:forObjectWith:with:)``.
  public init(objectID: ManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    self.values = values
    currentVersion = version
    super.init()
  }

  /// Replaces the values.
  open func update(withValues values: [String: Any], version: UInt64) {
    lock.lock()
    defer { lock.unlock() }
    self.values = values
    currentVersion = version
  }

  /// Grows with every change of the object, for finding conflicts.
  open var version: UInt64 {
    lock.lock()
    defer { lock.unlock() }
    return currentVersion
  }

  /// The value of a property; nil when the node has none.
  open func value(for prop: PropertyDescription) -> Any? { value(named: prop.name) }

  func value(named name: String) -> Any? {
    lock.lock()
    defer { lock.unlock() }
    return values[name]
  }
}
