import CairnModel

/// The relationships of an entity that deleting an object follows.
final class FollowedRules {
  struct ToOne {
    let slot: Int
    let relationship: RelationshipDescription
    let effect: DeletionEffect
    /// Where it led last.
    var recent: (id: ManagedObjectID, target: ManagedObject)?

    /// Whether following it takes the values of the object it leads to.
    var needsDestination: Bool {
      effect.members == .deleted || relationship.inverseRelationship?.isToMany == false
    }
  }

  let layout: EntityLayout
  var toOnes: [ToOne] = []
  private(set) var toManys:
    [(index: Int, relationship: RelationshipDescription, effect: DeletionEffect)] = []
  /// To-many relationships that are not followed.
  private(set) var others: [Int] = []

  init(_ layout: EntityLayout) {
    self.layout = layout
    for slot in layout.toOneSlots {
      guard case .toOne(let relationship) = layout.slots[slot].content else { continue }
      let effect = DeletionEffect(of: relationship)
      if effect.isFollowed {
        toOnes.append(ToOne(slot: slot, relationship: relationship, effect: effect))
      }
    }
    for (index, relationship) in layout.toManys.enumerated() {
      let effect = DeletionEffect(of: relationship)
      if effect.isFollowed {
        toManys.append((index, relationship, effect))
      } else {
        others.append(index)
      }
    }
  }
}
