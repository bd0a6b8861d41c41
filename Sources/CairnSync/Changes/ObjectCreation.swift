import CairnContext
import CairnModel
import Foundation

/// The few operations on objects that a merge needs, by description instead of by name.
enum ObjectCreation {
  /// A new object of the entity, of the class the model names or the plain one.
  static func make(_ entity: EntityDescription, in context: ManagedObjectContext) -> ManagedObject {
    ManagedObject(entity: entity, insertInto: context)
  }

  /// Adds or removes one member of a to-many relationship, when that changes anything.
  static func setMember(
    _ member: ManagedObject, of owner: ManagedObject,
    through relationship: RelationshipDescription, isMember: Bool
  ) {
    guard let index = owner.entity.layout.toManyByName[relationship.name] else { return }
    let ids = owner.memberIDs(ofToMany: index)
    if ids.contains(member.objectID) == isMember { return }
    let name = relationship.name
    if relationship.isOrdered {
      let members = NSMutableOrderedSet(
        orderedSet: owner.value(forKey: name) as? NSOrderedSet ?? NSOrderedSet())
      if isMember { members.add(member) } else { members.remove(member) }
      owner.setValue(members, forKey: name)
    } else {
      var members = owner.value(forKey: name) as? Set<ManagedObject> ?? []
      if isMember { members.insert(member) } else { members.remove(member) }
      owner.setValue(members, forKey: name)
    }
  }
}
