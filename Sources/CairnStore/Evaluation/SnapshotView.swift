import CairnModel
import CairnPredicates
import Foundation

/// Where the rows and members come from that a predicate reaches through relationships.
public protocol SnapshotSource: AnyObject {
  /// The committed row of an object, nil when there is none.
  func snapshot(for id: ManagedObjectID) -> RowSnapshot?
  /// The members of a to-many relationship, in its order when it has one.
  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID]
}

/// A committed row that predicates and sort descriptors can read by key, following relationships.
///
/// This is how stores evaluate in memory what they cannot ask their database.
public final class SnapshotView: KeyValueReading, ObjectIdentifying, Hashable {
  public let snapshot: RowSnapshot
  private let source: any SnapshotSource

  public init(_ snapshot: RowSnapshot, source: any SnapshotSource) {
    self.snapshot = snapshot
    self.source = source
  }

  public var objectID: ManagedObjectID { snapshot.objectID }

  public func value(forKey key: String) -> Any? {
    let layout: EntityLayout = snapshot.objectID.entity.layout
    if let slot = layout.slotByName[key] { return value(atSlot: slot, of: layout) }
    if let index = layout.toManyByName[key] {
      let relationship = layout.toManys[index]
      let members = source.members(of: relationship, owner: objectID).compactMap {
        member(for: $0)
      }
      // As objects have it: without an order it is a set, which equals another one.
      return relationship.isOrdered ? members : Set<AnyHashable>(members)
    }
    switch key {
    case "self": return self
    case "objectID": return objectID
    case "entity": return objectID.entity
    default:
      let property = snapshot.objectID.entity.propertiesByName[key]
      guard let composite = property as? CompositeAttributeDescription else { return nil }
      return value(of: composite, at: key, layout)
    }
  }

  /// A composite attribute as objects have it: the dictionary of its elements, nil when none has a
  /// value.
  private func value(
    of composite: CompositeAttributeDescription, at path: String, _ layout: EntityLayout
  ) -> [String: Any]? {
    var result: [String: Any] = [:]
    for element in composite.elements {
      let path = path + "." + element.name
      if let inner = element as? CompositeAttributeDescription {
        result[element.name] = value(of: inner, at: path, layout)
      } else if let slot = layout.slotByName[path] {
        result[element.name] = value(atSlot: slot, of: layout)
      }
    }
    return result.isEmpty ? nil : result
  }

  private func value(atSlot slot: Int, of layout: EntityLayout) -> Any? {
    let value = snapshot[slot]
    if case .object(let id) = value, layout.slots[slot].relationship != nil {
      // An object whose row is gone still compares by its ID.
      return member(for: id) ?? id
    }
    return AttributeCoding.decode(value, for: layout.slots[slot].attribute)
  }

  private func member(for id: ManagedObjectID) -> SnapshotView? {
    source.snapshot(for: id).map { SnapshotView($0, source: source) }
  }

  public static func == (a: SnapshotView, b: SnapshotView) -> Bool { a.objectID == b.objectID }
  public func hash(into hasher: inout Hasher) { hasher.combine(objectID) }
}
