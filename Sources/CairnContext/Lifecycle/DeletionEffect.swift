import CairnModel

/// What the deletion of an object does to those that one of its relationships leads to: decided by the
/// model alone, carried out by ``DeletePropagation``.
struct DeletionEffect: Equatable {
  enum OnMembers: Equatable {
    /// They stay as they are.
    case nothing
    /// They stay and do not lead to the object any more.
    case detached
    /// They are deleted too.
    case deleted
  }

  let members: OnMembers
  /// Whether the links go, which are rows of their own and end with either end.
  let removesLinks: Bool

  init(of relationship: RelationshipDescription) {
    let isManyToMany = relationship.isManyToMany
    switch relationship.deleteRule {
    case .noAction, .deny:
      members = .nothing
      removesLinks = false
    case .nullify:
      members = isManyToMany || relationship.inverseRelationship == nil ? .nothing : .detached
      removesLinks = isManyToMany
    case .cascade:
      members = .deleted
      removesLinks = isManyToMany
    }
  }

  /// Whether the relationship is followed at all.
  var isFollowed: Bool { members != .nothing || removesLinks }

  /// Whether objects of an entity can be deleted by their keys when the owner of the relationship
  /// whose inverse is given takes them along: nothing needs their values.
  ///
  /// - Parameter traits: What the class of the objects implements itself.
  static func needsNoValues(
    of entity: EntityDescription, _ traits: ObjectFlags, inverse: RelationshipDescription
  ) -> Bool {
    guard let layout = entity.layout, !layout.deniesDeletion,
      traits.isDisjoint(with: [.hasDeletionHook, .hasSaveHooks, .hasRuleHooks])
    else { return false }
    // Where the inverse leads is known: to what is being deleted.
    return layout.toOneSlots.allSatisfy { slot in
      guard let toOne = layout.slots[slot].relationship else { return true }
      return toOne.deleteRule == .nullify && toOne.name == inverse.name
        || !DeletionEffect(of: toOne).isFollowed
    } && !layout.toManys.contains(where: \.isManyToMany)
  }
}
