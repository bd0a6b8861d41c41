import CairnModel
import CairnStore

/// The changed links of one object that no to-one slot carries.
///
/// Both sides of a many-to-many relationship know about a changed link; it is reported from the
/// side that comes first by entity and name, or the ordered one. A link between two objects
/// through a relationship that is its own inverse is reported by the object whose ID comes first.
struct LinkChanges {
  private(set) var changes: [SaveChangesRequest.LinkChange] = []

  init(object: ManagedObject, isDeleted: Bool) {
    for (index, value) in object.toManyValues.enumerated() {
      guard let value, value.hasChanges else { continue }
      let relationship = object.layout.toManys[index]
      guard !relationship.isTransient else { continue }
      if let change = Self.change(
        of: value, relationship: relationship, object: object, index: index,
        isDeleted: isDeleted)
      {
        changes.append(change)
      }
    }
  }

  private static func change(
    of value: ToManyValue, relationship: RelationshipDescription, object: ManagedObject,
    index: Int, isDeleted: Bool
  ) -> SaveChangesRequest.LinkChange? {
    let owner = object.objectID
    var order: [ManagedObjectID]?
    if relationship.isOrdered, !isDeleted {
      order = object.loadedToMany(index).order.map(\.objectID)
    }
    var added: [ManagedObjectID] = []
    var removed: [ManagedObjectID] = []
    if carriesLinks(relationship) {
      // A save writes no links that a deleted object was given before it was deleted.
      added = isDeleted ? [] : value.added.map(\.object.objectID)
      removed = value.removed.map(\.object.objectID)
      if relationship.inverseRelationship === relationship {
        added.removeAll { precedes($0, owner) }
        removed.removeAll { precedes($0, owner) }
      }
    }
    if added.isEmpty, removed.isEmpty, order == nil { return nil }
    return SaveChangesRequest.LinkChange(
      relationship: relationship, owner: owner, added: added, removed: removed, order: order)
  }

  /// Whether the links of a relationship are reported from this side.
  static func carriesLinks(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverseRelationship else { return true }
    guard inverse.isToMany else { return false }
    if inverse === relationship { return true }
    if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
    func key(_ relationship: RelationshipDescription) -> (String, String) {
      (relationship.entity?.name ?? "", relationship.name)
    }
    return key(relationship) <= key(inverse)
  }

  private static func precedes(_ a: ManagedObjectID, _ b: ManagedObjectID) -> Bool {
    switch (a.key, b.key) {
    case (.row(let x), .row(let y)): return x < y
    case (.temporary(let x), .temporary(let y)): return x < y
    case (.reference(let x), .reference(let y)): return x < y
    default: return "\(a.key)" < "\(b.key)"
    }
  }
}
