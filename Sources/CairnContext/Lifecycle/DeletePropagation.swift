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
    var left: [ManagedObject] = []
    let detaching = ObjectDetaching(context: context)
    while !context.pending.unpropagatedDeletes.isEmpty {
      let objects = context.pending.unpropagatedDeletes
      context.pending.unpropagatedDeletes = []
      for (rules, group) in grouped(objects) { propagate(from: group, rules, &touched) }
      // At the end of an event they leave with it; at a save their event is long over.
      for object in objects
      where object.flags.contains(.discarded) && !object.flags.contains(.inEvent) {
        detaching.detach(object)
        left.append(object)
      }
    }
    detaching.release(left)
    // What cannot be read here is read, or reported, by the save.
    if touched.count > 1 { try? FaultFiring.fill(touched, maximumAge: context.maximumRowAge) }
  }

  private func grouped(
    _ objects: [ManagedObject]
  ) -> [(rules: FollowedRules, objects: [ManagedObject])] {
    var groups: [(rules: FollowedRules, objects: [ManagedObject])] = []
    var place = -1
    for object in objects where Self.isToBeFollowed(object) {
      if place < 0 || groups[place].rules.layout !== object.layout {
        place = groups.firstIndex { $0.rules.layout === object.layout } ?? groups.count
        if place == groups.count { groups.append((FollowedRules(object.layout), [])) }
      }
      groups[place].objects.append(object)
    }
    return groups
  }

  /// What became inaccessible, or has come back meanwhile, is not followed.
  private static func isToBeFollowed(_ object: ManagedObject) -> Bool {
    !object.flags.contains(.inaccessible) && object.isDeleted
  }

  private func propagate(
    from objects: [ManagedObject], _ rules: FollowedRules, _ touched: inout [ManagedObject]
  ) {
    let reading = DeletionReading(context: context)
    let destinations = reading.readDestinations(of: objects, rules)
    var branches: [Branch] = []
    for (index, relationship, effect) in rules.toManys {
      var owners = objects
      if let deletion = UnreadDeletion(relationship, in: context) {
        owners = deletion.deleteMembers(at: index, of: owners)
      }
      if owners.isEmpty { continue }
      reading.readMembers(of: relationship, owners)
      branches.append(
        Branch(index, relationship, effect, owners: owners, among: objects))
    }
    // Object after object: methods of the program may watch.
    for (place, object) in objects.enumerated() where Self.isToBeFollowed(object) {
      if !object.isUnread { followToOnes(of: object, rules, &touched) }
      for branch in branches where branch.isOwner[place] { follow(branch, from: object) }
      if context.recordsUndo {
        // Once the row is gone its members could not be read any more for an undo.
        for index in rules.others { _ = object.loadedToMany(index) }
      }
    }
    withExtendedLifetime(destinations) {}
  }

  /// A to-many relationship that is followed object by object.
  private struct Branch {
    let index: Int
    let relationship: RelationshipDescription
    let effect: DeletionEffect
    /// For each of the objects whether it is followed from that one.
    private(set) var isOwner: [Bool]

    init(
      _ index: Int, _ relationship: RelationshipDescription, _ effect: DeletionEffect,
      owners: [ManagedObject], among objects: [ManagedObject]
    ) {
      (self.index, self.relationship, self.effect) = (index, relationship, effect)
      isOwner = Array(repeating: false, count: objects.count)
      var next = 0
      // They are some of the objects, in their order.
      for (place, object) in objects.enumerated()
      where next < owners.count && owners[next] === object {
        isOwner[place] = true
        next += 1
      }
    }
  }

  private func follow(_ branch: Branch, from object: ManagedObject) {
    let members = object.loadedToMany(branch.index).current
    apply(branch.effect, of: branch.relationship, from: object, to: members)
    if branch.effect.removesLinks {
      for member in members {
        InverseMaintenance.removeMember(member, of: object, at: branch.index)
      }
    }
  }

  private func followToOnes(
    of object: ManagedObject, _ rules: FollowedRules, _ touched: inout [ManagedObject]
  ) {
    for place in rules.toOnes.indices {
      let slot = rules.toOnes[place].slot
      guard case .object(let id) = object.firedSlots(for: slot)[slot] else { continue }
      let target: ManagedObject
      if let recent = rules.toOnes[place].recent, Self.isSame(recent.id, id) {
        // Members of one owner come one after the other.
        target = recent.target
      } else {
        guard let found = object.registry?.context?.object(with: id) else { continue }
        rules.toOnes[place].recent = (id, found)
        target = found
      }
      if target.isDeleted { continue }
      if target.isFault { touched.append(target) }
      let rule = rules.toOnes[place]
      apply(rule.effect, of: rule.relationship, from: object, to: CollectionOfOne(target))
    }
  }

  /// Whether two IDs, of rows that were read one by one, are plainly the same.
  private static func isSame(_ a: ManagedObjectID, _ b: ManagedObjectID) -> Bool {
    if a === b { return true }
    guard case .row(let key) = a.key, case .row(let other) = b.key else { return false }
    return key == other && a.entity === b.entity && a.storeIdentity === b.storeIdentity
  }

  private func apply(
    _ effect: DeletionEffect, of relationship: RelationshipDescription, from object: ManagedObject,
    to members: some Collection<ManagedObject>
  ) {
    switch effect.members {
    case .nothing: break
    case .detached:
      guard let inverse = relationship.inverseRelationship else { return }
      var strangers: [ManagedObject] = []
      for member in members where !member.isDeleted {
        let isLeft = InverseMaintenance.detach(object, from: member, inverse: inverse)
        if !isLeft { strangers.append(member) }
      }
      RelationshipRestoring(object).detachAgain(from: strangers, inverse)
    case .deleted:
      // Deleting needs their values; all at once they cost one read.
      if members.contains(where: \.isFault) {
        try? FaultFiring.fill(Array(members), maximumAge: context.maximumRowAge)
      }
      let deletion = ObjectDeletion(context: context)
      for member in members where !member.isDeleted { deletion.delete(member) }
    }
  }
}
