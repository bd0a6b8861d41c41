import CairnModel
import Foundation

/// One object of an ``AtomicStore`` in memory: its values, and the nodes it is related to.
///
/// Subclass it to keep more, or to read values late: then override ``value(forKey:)``. Source:
/// `NSAtomicStoreCacheNode`.
open class AtomicStoreCacheNode: NSObject {
  private let id: ManagedObjectID

  /// An empty node for an object.
  public init(objectID moid: ManagedObjectID) {
    id = moid
    super.init()
  }

  open var objectID: ManagedObjectID { id }

  /// Values by property name: those of attributes, other nodes for to-one relationships, sets of
  /// nodes (ordered ones for ordered relationships) for to-many relationships.
  ///
  /// Nil until a value is set.
  open var propertyCache: NSMutableDictionary?

  open func value(forKey key: String) -> Any? { propertyCache?[key] }

  open func setValue(_ value: Any?, forKey key: String) {
    if propertyCache == nil, value != nil { propertyCache = NSMutableDictionary() }
    propertyCache?[key] = value
  }

  /// The nodes that a relationship leads to.
  final func nodes(forKey key: String) -> [AtomicStoreCacheNode] {
    Self.nodes(in: value(forKey: key))
  }

  static func nodes(in value: Any?) -> [AtomicStoreCacheNode] {
    switch AttributeCoding.unwrapped(value) {
    case let node as AtomicStoreCacheNode: return [node]
    case let set as NSOrderedSet: return set.array.compactMap { $0 as? AtomicStoreCacheNode }
    case let set as NSSet: return set.allObjects.compactMap { $0 as? AtomicStoreCacheNode }
    case let list as [Any]: return list.compactMap { $0 as? AtomicStoreCacheNode }
    case let set as Set<AnyHashable>: return set.compactMap { $0.base as? AtomicStoreCacheNode }
    default: return []
    }
  }

  /// Sets the nodes that a relationship leads to.
  final func setNodes(
    _ nodes: [AtomicStoreCacheNode], for relationship: RelationshipDescription
  ) {
    if !relationship.isToMany {
      setValue(nodes.first, forKey: relationship.name)
    } else if relationship.isOrdered {
      setValue(NSOrderedSet(array: nodes), forKey: relationship.name)
    } else {
      setValue(NSSet(array: nodes), forKey: relationship.name)
    }
  }
}
