import CairnModel
import CairnStore

/// Takes one event of a context back, by changes that are recorded as the way forward again.
///
/// Both sides of every relationship were recorded, so inverses are not maintained here; only
/// objects that come or go are looked after, and one-to-one relationships, because what points to
/// them may have changed without being recorded. Delete rules are not followed.
struct UndoReplay {
  let context: ManagedObjectContext

  func takeBack(_ record: UndoRecord) {
    context.confinement.check()
    context.processPendingChanges()
    let arriving = ReturningObjects(context: context, objects: record.deletions)
    arriving.bringBack()
    var pairs: [UndonePair] = []
    context.changingMany {
      for entry in record.entries.reversed() {
        if let pair = UndonePair(entry) { pairs.append(pair) }
        revert(entry)
      }
    }
    arriving.mendRelationships()
    LeavingObjects(context: context, objects: record.insertions).takeOut()
    for pair in pairs where isHere(pair.object) { pair.mend() }
    let touched = context.pending.event
    for object in touched { settle(object) }
    awaken(touched, record)
    context.processPendingChanges()
  }

  // MARK: Values

  private func revert(_ entry: EventLog.Entry) {
    let object = entry.object
    guard isHere(object) else { return }
    switch entry.change {
    case .insertion, .deletion: break
    case .slot(let slot, let old): object.write(usable(old), at: slot)
    case .loose(let slot, let old): object.writeLoose(old, at: slot)
    case .added(let index, let member):
      InverseMaintenance.remove(member, from: object, at: index)
    case .removed(let index, let member, let position):
      if isHere(member) {
        InverseMaintenance.insert(member, into: object, at: index, position: position)
      }
    case .reordered(let index, let old):
      let members = object.loadedToMany(index).members
      let known = old.filter { members.contains($0) }
      let places = Set(known)
      let rest = object.loadedToMany(index).order.filter { !places.contains($0) }
      InverseMaintenance.reorder(object, at: index, to: known + rest)
    }
  }

  /// Whether the object is one of the context's that can be written to.
  private func isHere(_ object: ManagedObject) -> Bool {
    object.registry === context.registry
      && object.flags.isDisjoint(with: [.deletedElsewhere, .inaccessible])
  }

  private func usable(_ value: AttributeValue) -> AttributeValue {
    ReturningObjects.usable(value, in: context)
  }

  // MARK: Afterwards

  /// An object that is as it was stored has nothing to be saved.
  private func settle(_ object: ManagedObject) {
    guard object.flags.contains(.updated) else { return }
    if let slots = object.slots, let base = object.snapshot {
      for slot in object.changedSlots.members where slots[slot].isSameStoredValue(as: base[slot]) {
        object.countAsUnchanged(slot)
      }
    }
    for value in object.toManyValues { value?.settle() }
    if object.changedSlots.isEmpty, !object.toManyValues.contains(where: { $0?.hasChanges == true })
    {
      context.pending.remove(object)
    }
  }

  private func awaken(_ objects: [ManagedObject], _ record: UndoRecord) {
    let (came, gone) = (
      Set(record.deletions.map(ObjectRef.init)), Set(record.insertions.map(ObjectRef.init))
    )
    for object in objects {
      if came.contains(ObjectRef(object)) {
        object.awake(fromSnapshotEvents: .undoDeletion)
      } else if gone.contains(ObjectRef(object)) {
        object.awake(fromSnapshotEvents: .undoInsertion)
      } else {
        object.awake(fromSnapshotEvents: .undoUpdate)
      }
    }
  }
}
