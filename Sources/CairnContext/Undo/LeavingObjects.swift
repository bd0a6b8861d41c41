import CairnModel

/// Objects that undo or redo takes out of a context again.
///
/// One that was never saved leaves with its values and relationships, to come back with them. One
/// that has a row is deleted, without following delete rules.
struct LeavingObjects {
  let context: ManagedObjectContext
  let objects: [ManagedObject]
  private let all: Set<ObjectRef>

  init(context: ManagedObjectContext, objects: [ManagedObject]) {
    self.context = context
    self.objects = objects
    all = Set(objects.map(ObjectRef.init))
  }

  func takeOut() {
    for object in objects.reversed() where isHere(object) { takeOut(object) }
  }

  private func isHere(_ object: ManagedObject) -> Bool {
    object.registry === context.registry && !object.isDeleted
  }

  private func takeOut(_ object: ManagedObject) {
    // Reads the row if there is one; the deletion needs its version.
    _ = object.firedSlots
    guard !object.isDeleted else { return }
    let hasRow = !object.isInserted
    for slot in object.layout.toOneSlots { release(object, at: slot) }
    for (index, relationship) in object.layout.toManys.enumerated()
    where relationship.inverseRelationship != nil {
      release(object, members: index, hasRow: hasRow)
    }
    context.event.log.append(object, .deletion)
    context.pending.note(object, .eventDeleted)
    if hasRow {
      context.pending.mark(object, as: .deleted)
    } else {
      context.pending.remove(object)
      object.flags.insert(.discarded)
    }
    context.scheduleProcessing()
  }

  /// Whether what is related to the object stays and has to let go of it.
  private func stays(_ other: ManagedObject) -> Bool {
    !other.isDeleted && !all.contains(ObjectRef(other))
  }

  private func release(_ object: ManagedObject, at slot: Int) {
    guard case .toOne(let relationship) = object.layout.slots[slot].content,
      let inverse = relationship.inverseRelationship,
      let target = InverseMaintenance.target(of: object, at: slot), stays(target)
    else { return }
    if inverse.isToMany {
      guard let index = InverseMaintenance.index(of: inverse, in: target) else { return }
      let value = target.toMany(index)
      if value.isLoaded && !value.members.contains(object) { return }
      if !value.isLoaded && value.removed.contains(ObjectRef(object)) { return }
    }
    InverseMaintenance.detach(object, from: target, inverse: inverse)
  }

  private func release(_ object: ManagedObject, members index: Int, hasRow: Bool) {
    let relationship = object.layout.toManys[index]
    guard let inverse = relationship.inverseRelationship else { return }
    for member in object.loadedToMany(index).current {
      if relationship.isManyToMany {
        guard let other = InverseMaintenance.index(of: inverse, in: member) else { continue }
        // The links are rows of their own and go with either end.
        if hasRow { InverseMaintenance.remove(member, from: object, at: index) }
        if hasRow || stays(member), member.loadedToMany(other).members.contains(object) {
          InverseMaintenance.remove(object, from: member, at: other)
        }
      } else if stays(member) {
        InverseMaintenance.detach(object, from: member, inverse: inverse)
      }
    }
  }
}
