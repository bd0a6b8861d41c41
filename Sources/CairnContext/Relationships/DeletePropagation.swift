import CairnModel

/// Follows the delete rules of deleted objects until nothing more is added.
struct DeletePropagation {
  let context: ManagedObjectContext

  func run() {
    if context.pending.unpropagatedDeletes.isEmpty { return }
    context.changingMany { runAll() }
  }

  private func runAll() {
    while !context.pending.unpropagatedDeletes.isEmpty {
      let objects = context.pending.unpropagatedDeletes
      context.pending.unpropagatedDeletes = []
      loadRelationships(of: objects)
      for object in objects where !object.flags.contains(.inaccessible) && object.isDeleted {
        propagate(from: object)
      }
      // At the end of an event they leave with it; at a save their event is long over.
      for object in objects
      where object.flags.contains(.discarded) && !object.flags.contains(.inEvent) {
        ChangeDiscarding(context: context).detach(object)
      }
    }
  }

  private func propagate(from object: ManagedObject) {
    for slot in object.layout.toOneSlots {
      guard case .toOne(let relationship) = object.layout.slots[slot].content,
        follows(relationship), let target = InverseMaintenance.target(of: object, at: slot)
      else { continue }
      apply(relationship, from: object, to: [target])
    }
    for (index, relationship) in object.layout.toManys.enumerated() {
      guard follows(relationship) else {
        // Once the row is gone its members could not be read any more for an undo.
        if context.recordsUndo { _ = object.loadedToMany(index) }
        continue
      }
      let members = object.loadedToMany(index).current
      apply(relationship, from: object, to: members)
      if relationship.isManyToMany {
        // The links are rows of their own and go with either end.
        for member in members { InverseMaintenance.removeMember(member, of: object, at: index) }
      }
    }
  }

  private func follows(_ relationship: RelationshipDescription) -> Bool {
    switch relationship.deleteRule {
    case .noAction, .deny: return false
    case .nullify: return relationship.inverseRelationship != nil
    case .cascade: return true
    }
  }

  private func apply(
    _ relationship: RelationshipDescription, from object: ManagedObject,
    to members: [ManagedObject]
  ) {
    switch relationship.deleteRule {
    case .noAction, .deny: break
    case .nullify:
      guard let inverse = relationship.inverseRelationship, !relationship.isManyToMany else {
        return
      }
      for member in members where !member.isDeleted {
        InverseMaintenance.detach(object, from: member, inverse: inverse)
      }
    case .cascade:
      // Deleting needs their values; all at once they cost one read.
      try? FaultFiring.fill(members, maximumAge: context.maximumRowAge)
      for member in members where !member.isDeleted {
        ObjectDeletion(context: context).delete(member)
      }
    }
  }

  /// Reads what the rules lead to for all objects of one kind at once.
  private func loadRelationships(of objects: [ManagedObject]) {
    guard objects.count > 1 else { return }
    let groups = Dictionary(grouping: objects) { ObjectIdentifier($0.layout) }
    for group in groups.values {
      guard let first = group.first else { continue }
      let names = first.layout.toManys.filter(follows).map(\.name)
      // What cannot be read here is read, or reported, one by one.
      try? RelationshipPrefetching(context: context).prefetch(names, of: group)
    }
  }
}
