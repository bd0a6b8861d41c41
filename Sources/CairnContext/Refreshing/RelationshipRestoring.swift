import CairnModel
import CairnStore

/// Keeps the other sides of an object's relationships in agreement when a conflict is resolved: the
/// object goes back to what is stored, is found to be gone, or comes back.
///
/// What a member's own to-one slot says about its owner is the member's change and stays; links
/// between two to-many sides belong to both.
struct RelationshipRestoring {
  let object: ManagedObject
  private let context: ManagedObjectContext
  private let layout: EntityLayout

  init(_ object: ManagedObject) {
    self.object = object
    context = object.requiredContext
    layout = object.layout
  }

  // MARK: Back to what is stored

  /// A changed to-one slot takes the stored value.
  func restoreToOne(at slot: Int, to stored: AttributeValue) {
    guard case .toOne(let relationship) = layout.slots[slot].content,
      let inverse = relationship.inverseRelationship
    else { return }
    let now = object.firedSlots[slot]
    let base = object.snapshot.map { $0[slot] } ?? .null
    let wanted = registered(stored)
    object.writeSilently(stored, at: slot)
    for owner in [registered(now), registered(base), wanted].compactMap({ $0 }) {
      if inverse.isToMany {
        guard let index = InverseMaintenance.index(of: inverse, in: owner) else { continue }
        owner.touchedToMany(index)?.restore(object, isCommitted: owner === wanted)
      } else if let other = InverseMaintenance.slot(of: inverse, in: owner) {
        if owner === wanted {
          lead(owner, at: other, from: slot)
        } else if leads(owner, other) {
          owner.write(.null, at: other)
        }
      }
    }
  }

  /// The partner in a one-to-one relationship names the object again.
  private func lead(_ partner: ManagedObject, at other: Int, from slot: Int) {
    if partner.isFault || leads(partner, other) { return }
    if let rival = InverseMaintenance.target(of: partner, at: other),
      let place = layout.slots[slot].relationship.flatMap({
        InverseMaintenance.slot(of: $0, in: rival)
      }), InverseMaintenance.target(of: rival, at: place) === partner
    {
      rival.write(.null, at: place)
    }
    partner.countAsUnchanged(other)
    partner.writeSilently(.object(object.objectID), at: other)
  }

  /// Links that were added and removed here are taken back on both sides.
  func restoreLinks() {
    for (index, relationship) in layout.toManys.enumerated() {
      guard let value = object.touchedToMany(index) else { continue }
      guard let inverse = relationship.inverseRelationship else {
        value.revert()
        continue
      }
      guard inverse.isToMany else { continue }
      let (added, removed) = (value.added, value.removed)
      value.revert()
      for (list, isCommitted) in [(added, false), (removed, true)] {
        for reference in list {
          if isCommitted, reference.object.isDeleted {
            // That one is still going, and its links with it.
            _ = value.remove(reference.object)
            continue
          }
          guard let other = InverseMaintenance.index(of: inverse, in: reference.object) else {
            continue
          }
          reference.object.touchedToMany(other)?.restore(object, isCommitted: isCommitted)
        }
      }
    }
    for value in object.toManyValues { value?.forgetOrder() }
  }

  /// The object is not deleted any more: what its deletion did to others is taken back.
  func undoDeletion(onto row: RowSnapshot) {
    for slot in layout.toOneSlots { restoreToOne(at: slot, to: row[slot]) }
    restoreLinks()
    for (index, relationship) in layout.toManys.enumerated() where !relationship.isManyToMany {
      guard let value = object.touchedToMany(index), value.isLoaded,
        let inverse = relationship.inverseRelationship
      else { continue }
      for member in value.current where !member.isDeleted {
        guard let slot = InverseMaintenance.slot(of: inverse, in: member) else { continue }
        if !member.isFault, member.firedSlots[slot].isNull, let base = member.snapshot?[slot],
          registered(base) === object
        {
          member.countAsUnchanged(slot)
          member.writeSilently(base, at: slot)
        }
        if !leads(member, slot) { _ = value.remove(member) }
      }
    }
  }

  /// Reads the members again, with what was added and removed here on top.
  ///
  /// The other side follows links that another writer has made or cut.
  func reloadMembers() {
    for (index, relationship) in layout.toManys.enumerated() {
      guard let value = object.touchedToMany(index) else { continue }
      let (wasLoaded, old) = (value.isLoaded, value.committed)
      value.unload(keepingChanges: true)
      guard wasLoaded, let inverse = relationship.inverseRelationship else { continue }
      let new = object.loadedToMany(index).committed
      if inverse.isToMany {
        let (before, after) = (Set(old), Set(new))
        for (list, others, isMember) in [(new, before, true), (old, after, false)] {
          for member in list where !others.contains(member) {
            guard let other = InverseMaintenance.index(of: inverse, in: member),
              let links = member.touchedToMany(other)
            else { continue }
            if isMember { links.admit(object) } else { links.forget(object) }
          }
        }
      } else {
        follow(old + new, value, inverse)
      }
    }
  }

  /// Members tell by themselves whom they belong to.
  private func follow(
    _ members: [ManagedObject], _ value: ToManyValue, _ inverse: RelationshipDescription
  ) {
    let differing = members.filter { member in
      guard !member.isFault, !member.isDeleted,
        let slot = InverseMaintenance.slot(of: inverse, in: member)
      else { return false }
      return leads(member, slot) != value.members.contains(member)
    }
    bringUpToDate(differing)
    for member in differing where member.hasChanges {
      guard let slot = InverseMaintenance.slot(of: inverse, in: member) else { continue }
      if !leads(member, slot) { _ = value.remove(member) } else { _ = value.add(member) }
    }
  }

  // MARK: One to one

  /// The object keeps its own value of a one-to-one relationship though another writer has stored
  /// another one: the partners follow.
  func insist(at slot: Int, over stored: AttributeValue) {
    guard case .toOne(let relationship) = layout.slots[slot].content,
      let inverse = relationship.inverseRelationship, !inverse.isToMany
    else { return }
    let partner = InverseMaintenance.target(of: object, at: slot)
    if let partner { bringUpToDate([partner]) }
    release(stored, at: slot)
    guard let partner, let place = InverseMaintenance.slot(of: inverse, in: partner) else { return }
    if partner.isDeleted {
      object.write(.null, at: slot)
    } else if !leads(partner, place) {
      if let rival = InverseMaintenance.target(of: partner, at: place) {
        bringUpToDate([rival])
        if !rival.isDeleted, let slot = InverseMaintenance.slot(of: relationship, in: rival),
          InverseMaintenance.target(of: rival, at: slot) === partner
        {
          rival.write(.null, at: slot)
        }
      }
      partner.write(.object(object.objectID), at: place)
    }
  }

  /// The partner that the object has according to its row, but not here, has it no more.
  func release(_ stored: AttributeValue, at slot: Int) {
    guard let former = other(stored), former !== InverseMaintenance.target(of: object, at: slot),
      let inverse = layout.slots[slot].relationship?.inverseRelationship
    else { return }
    bringUpToDate([former])
    if !former.isDeleted, let place = InverseMaintenance.slot(of: inverse, in: former),
      leads(former, place)
    {
      former.write(.null, at: place)
    }
  }

  /// Members that did not lead to the object when it was deleted: those that are known by older
  /// rows may do so.
  func detachAgain(from members: [ManagedObject], _ inverse: RelationshipDescription) {
    let unchanged = members.filter { member in
      guard let slot = InverseMaintenance.slot(of: inverse, in: member) else { return false }
      return !member.changedSlots.contains(slot)
    }
    if unchanged.isEmpty { return }
    bringUpToDate(unchanged)
    for member in unchanged where !member.isDeleted {
      InverseMaintenance.detach(object, from: member, inverse: inverse)
    }
  }

  // MARK: Deleted all the same

  /// The object's deletion prevails: the delete rules look after what another writer has related to it
  /// since, too.
  func deleteAgain() {
    for (index, relationship) in layout.toManys.enumerated() {
      object.touchedToMany(index)?.unload(keepingChanges: true)
      guard relationship.inverseRelationship != nil else { continue }
      bringUpToDate(object.loadedToMany(index).current)
    }
    bringUpToDate(
      layout.toOneSlots.compactMap { InverseMaintenance.target(of: object, at: $0) }
    )
    context.pending.unpropagatedDeletes.append(object)
  }

  /// An object that is deleted no more refers to none that still is.
  func releaseDeleted() {
    for slot in layout.toOneSlots {
      if let target = InverseMaintenance.target(of: object, at: slot), target.isDeleted {
        object.write(.null, at: slot)
      }
    }
  }

  // MARK: Gone, and back

  /// The object's row is gone and the object goes too: nothing refers to it any more.
  func letGo() {
    for slot in layout.toOneSlots { restoreToOne(at: slot, to: .null) }
    letMembersGo()
  }

  /// The same for an object that another writer has deleted and whose values are left alone: what was
  /// related to it here is not any more.
  func beReleased() {
    letMembersGo()
    guard object.slots != nil else { return }
    for slot in layout.toOneSlots where object.changedSlots.contains(slot) {
      guard let inverse = layout.slots[slot].relationship?.inverseRelationship,
        !inverse.isToMany, let partner = InverseMaintenance.target(of: object, at: slot),
        !partner.isFault, !partner.isDeleted,
        let place = InverseMaintenance.slot(of: inverse, in: partner), leads(partner, place)
      else { continue }
      partner.write(.null, at: place)
    }
  }

  private func letMembersGo() {
    for (index, relationship) in layout.toManys.enumerated() {
      guard let value = object.touchedToMany(index), let inverse = relationship.inverseRelationship
      else { continue }
      let members = value.isLoaded ? value.current : value.added.map(\.object)
      if inverse.isToMany {
        for member in members {
          guard let other = InverseMaintenance.index(of: inverse, in: member) else { continue }
          member.touchedToMany(other)?.forget(object)
        }
        continue
      }
      bringUpToDate(members.filter { !$0.isFault })
      for member in members where member.hasChanges && !member.isDeleted {
        guard let slot = InverseMaintenance.slot(of: inverse, in: member) else { continue }
        if leads(member, slot) { member.write(.null, at: slot) }
      }
    }
  }

  /// The object's row is written anew: it refers to what there still is.
  func comeBack() {
    for value in object.toManyValues { value?.becomeUncommitted() }
    var related: [ManagedObject] = []
    for slot in layout.toOneSlots {
      if let target = InverseMaintenance.target(of: object, at: slot) { related.append(target) }
    }
    for value in object.toManyValues { related += value?.current ?? [] }
    // The context knows those that are gone as such as long as this list holds them.
    defer { withExtendedLifetime(related) {} }
    bringUpToDate(related)
    for slot in layout.toOneSlots {
      guard let target = InverseMaintenance.target(of: object, at: slot) else { continue }
      if target.isDeleted {
        object.write(.null, at: slot)
      } else if let inverse = layout.slots[slot].relationship?.inverseRelationship {
        rejoin(target, at: slot, inverse)
      }
    }
    for value in object.toManyValues { value?.drop { $0.isDeleted } }
  }

  /// The object is not deleted any more: those that it belonged to have it again, unless they have
  /// another partner by now.
  func rejoin() {
    rejoinOwners()
    for (index, relationship) in layout.toManys.enumerated() where !relationship.isManyToMany {
      guard let inverse = relationship.inverseRelationship else { continue }
      for member in object.loadedToMany(index).current {
        guard let slot = InverseMaintenance.slot(of: inverse, in: member) else { continue }
        if member.isDeleted || !leads(member, slot) && !member.firedSlots[slot].isNull {
          InverseMaintenance.remove(member, from: object, at: index)
        } else if !leads(member, slot) {
          member.write(.object(object.objectID), at: slot)
        }
      }
    }
  }

  /// Those that the object's to-one relationships lead to have it again.
  ///
  /// An object that is not in the context yet stays what the relationship leads to.
  func rejoinOwners() {
    for slot in layout.toOneSlots {
      let value = object.firedSlots[slot]
      guard case .object(let id) = value,
        let target = id.isTemporaryID ? registered(value) : other(value),
        let inverse = layout.slots[slot].relationship?.inverseRelationship
      else { continue }
      if target.isDeleted {
        object.write(.null, at: slot)
      } else if !isMember(of: target, inverse) {
        rejoin(target, at: slot, inverse)
      }
    }
  }

  /// Whether an owner has the object in a to-many relationship; a new object is in none unread.
  private func isMember(of owner: ManagedObject, _ inverse: RelationshipDescription) -> Bool {
    guard inverse.isToMany, let index = InverseMaintenance.index(of: inverse, in: owner) else {
      return false
    }
    let value = object.isInserted ? owner.toMany(index) : owner.loadedToMany(index)
    return value.isLoaded
      ? value.members.contains(object) : value.added.contains(ObjectRef(object))
  }

  private func rejoin(
    _ target: ManagedObject, at slot: Int, _ inverse: RelationshipDescription
  ) {
    if inverse.isToMany {
      guard let index = InverseMaintenance.index(of: inverse, in: target) else { return }
      InverseMaintenance.insert(object, into: target, at: index, position: nil)
    } else if let other = InverseMaintenance.slot(of: inverse, in: target), !leads(target, other) {
      if target.firedSlots[other].isNull {
        target.write(.object(object.objectID), at: other)
      } else {
        object.write(.null, at: slot)
      }
    }
  }

  /// Objects without changes to be saved take their rows as they are now, or are known to be gone.
  private func bringUpToDate(_ objects: [ManagedObject]) {
    let objects = objects.filter {
      !$0.isDeleted && !$0.isInserted && !$0.objectID.isTemporaryID
        && !$0.hasPersistentChangedValues
    }
    if objects.isEmpty { return }
    let rows =
      (try? context.reading.source?.rows(for: objects.map(\.objectID), maximumAge: 0)) ?? []
    for (object, row) in zip(objects, rows) {
      if let row {
        ObjectRefreshing(context: context).rebase(object, onto: row)
      } else {
        DeletedElsewhere(context: context).note(object.objectID)
      }
    }
  }

  // MARK: Finding

  private func registered(_ value: AttributeValue) -> ManagedObject? {
    guard case .object(let id) = value else { return nil }
    return ObjectLookup(context: context).registered(id)
  }

  private func other(_ value: AttributeValue) -> ManagedObject? {
    guard case .object(let id) = value else { return nil }
    return context.object(with: id)
  }

  /// Whether a to-one slot of another object leads to this one.
  private func leads(_ other: ManagedObject, _ slot: Int) -> Bool {
    InverseMaintenance.target(of: other, at: slot) === object
  }
}
