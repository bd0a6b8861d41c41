import CairnModel
import CairnStore

/// Follows the delete rules of deleted objects until nothing more is added.
///
/// Level by level: what the rules of all objects deleted so far lead to is read at once, one query
/// for each relationship.
struct DeletePropagation {
  let context: ManagedObjectContext

  func run() {
    if context.pending.unpropagatedDeletes.isEmpty { return }
    context.changingMany { runAll() }
  }

  private func runAll() {
    // Objects that lose a member without having been read; a save needs their rows.
    var touched: [ManagedObject] = []
    while !context.pending.unpropagatedDeletes.isEmpty {
      let objects = context.pending.unpropagatedDeletes
      context.pending.unpropagatedDeletes = []
      DeletionReading(context: context).read(objects)
      var rules: FollowedRules?
      for object in objects where !object.flags.contains(.inaccessible) && object.isDeleted {
        if rules?.layout !== object.layout { rules = FollowedRules(object.layout) }
        if var current = rules {
          propagate(from: object, &current, &touched)
          rules = current
        }
      }
      // At the end of an event they leave with it; at a save their event is long over.
      for object in objects
      where object.flags.contains(.discarded) && !object.flags.contains(.inEvent) {
        ChangeDiscarding(context: context).detach(object)
      }
    }
    // What cannot be read here is read, or reported, by the save.
    if touched.count > 1 { try? FaultFiring.fill(touched, maximumAge: context.maximumRowAge) }
  }

  private func propagate(
    from object: ManagedObject, _ rules: inout FollowedRules, _ touched: inout [ManagedObject]
  ) {
    for place in rules.toOnes.indices {
      let slot = rules.toOnes[place].slot
      guard case .object(let id) = object.firedSlots(for: slot)[slot] else { continue }
      let target: ManagedObject
      if let recent = rules.toOnes[place].recent, recent.id === id {
        // Members of one owner come one after the other.
        target = recent.target
      } else {
        guard let found = object.registry?.context?.object(with: id) else { continue }
        rules.toOnes[place].recent = (id, found)
        target = found
      }
      if target.isDeleted { continue }
      if target.isFault { touched.append(target) }
      apply(rules.toOnes[place].relationship, from: object, to: CollectionOfOne(target))
    }
    for (index, relationship) in rules.toManys {
      let members = object.loadedToMany(index).current
      apply(relationship, from: object, to: members)
      if relationship.isManyToMany {
        // The links are rows of their own and go with either end.
        for member in members { InverseMaintenance.removeMember(member, of: object, at: index) }
      }
    }
    if context.recordsUndo {
      // Once the row is gone its members could not be read any more for an undo.
      for index in rules.others { _ = object.loadedToMany(index) }
    }
  }

  private func apply(
    _ relationship: RelationshipDescription, from object: ManagedObject,
    to members: some Collection<ManagedObject>
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
      if members.contains(where: \.isFault) {
        try? FaultFiring.fill(Array(members), maximumAge: context.maximumRowAge)
      }
      let deletion = ObjectDeletion(context: context)
      for member in members where !member.isDeleted { deletion.delete(member) }
    }
  }
}

/// The relationships of an entity that deleting an object follows.
struct FollowedRules {
  struct ToOne {
    let slot: Int
    let relationship: RelationshipDescription
    /// Where it led last.
    var recent: (id: ManagedObjectID, target: ManagedObject)?
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
