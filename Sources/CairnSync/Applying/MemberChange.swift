@_spi(Generated) import CairnContext
import CairnModel
import Foundation

/// A change of who belongs to a to-many relationship, by description instead of by name.
enum MemberChange {
  /// Adds and removes members of a to-many relationship, as far as that changes anything.
  static func apply(
    to relationship: RelationshipDescription, of owner: ManagedObject,
    adding added: [ManagedObject], removing removed: [ManagedObject]
  ) {
    guard let index = owner.entity.layout.toManyByName[relationship.name] else { return }
    let current = Set(owner.memberIDs(ofToMany: index))
    let added = added.filter { !current.contains($0.objectID) }
    let removed = removed.filter { current.contains($0.objectID) }
    if added.isEmpty, removed.isEmpty { return }
    let name = relationship.name
    if relationship.isOrdered {
      let members = NSMutableOrderedSet(
        orderedSet: owner.value(forKey: name) as? NSOrderedSet ?? NSOrderedSet())
      for member in added { members.add(member) }
      for member in removed { members.remove(member) }
      owner.setValue(members, forKey: name)
    } else {
      var members = owner.value(forKey: name) as? Set<ManagedObject> ?? []
      members.formUnion(added)
      members.subtract(removed)
      owner.setValue(members, forKey: name)
    }
  }
}
