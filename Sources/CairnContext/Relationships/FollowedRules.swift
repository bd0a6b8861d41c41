import CairnModel

/// The relationships of an entity that deleting an object follows.
final class FollowedRules {
  struct ToOne {
    let slot: Int
    let relationship: RelationshipDescription
    /// Where it led last.
    var recent: (id: ManagedObjectID, target: ManagedObject)?

    /// Whether following it takes the values of the object it leads to.
    var needsDestination: Bool {
      relationship.deleteRule == .cascade || relationship.inverseRelationship?.isToMany == false
    }
  }

  let layout: EntityLayout
  var toOnes: [ToOne] = []
  private(set) var toManys: [(index: Int, relationship: RelationshipDescription)] = []
  /// To-many relationships that are not followed.
  private(set) var others: [Int] = []

  init(_ layout: EntityLayout) {
    self.layout = layout
    for slot in layout.toOneSlots {
      guard case .toOne(let relationship) = layout.slots[slot].content,
        Self.follows(relationship)
      else { continue }
      toOnes.append(ToOne(slot: slot, relationship: relationship))
    }
    for (index, relationship) in layout.toManys.enumerated() {
      if Self.follows(relationship) {
        toManys.append((index, relationship))
      } else {
        others.append(index)
      }
    }
  }

  static func follows(_ relationship: RelationshipDescription) -> Bool {
    switch relationship.deleteRule {
    case .noAction, .deny: return false
    case .nullify: return relationship.inverseRelationship != nil
    case .cascade: return true
    }
  }
}
