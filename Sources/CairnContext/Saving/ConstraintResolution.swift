import CairnModel
import CairnStore

/// Turns violated uniqueness constraints into the policy's words.
struct ConstraintResolution {
  let context: ManagedObjectContext

  func resolve(_ violations: [ConstraintViolation]) throws {
    let list = violations.map { violation in
      let objects = violation.objectIDs.map { context.object(with: $0) }
      let database = violation.persisted.map { row in
        let (object, _) = ObjectLookup(context: context).object(for: row)
        return object
      }
      return ConstraintConflict(
        constraint: violation.constraint, database: database,
        databaseSnapshot: violation.persisted.map {
          SnapshotValues.dictionary(of: $0) as [AnyHashable: Any]
        },
        conflicting: objects,
        conflictingSnapshots: objects.map { object in
          object.snapshot.map { SnapshotValues.dictionary(of: $0) } ?? [:]
        })
    }
    try context.policy.resolve(mergeConflicts: list)
  }
}

/// One constraint conflict under one of the standard policies: one object survives.
///
/// With a stored row its object does, under the ID it has; otherwise the first of the unsaved
/// ones. Under the policies where this side wins it takes the values of the others. What pointed
/// to an object that goes points to the survivor.
struct ConstraintMerging {
  let policy: MergePolicyType

  private var storeWins: Bool {
    policy == .mergeByPropertyStoreTrumpMergePolicyType || policy == .rollbackMergePolicyType
  }

  func merge(_ conflict: ConstraintConflict) {
    // Another constraint of the same objects may have decided before; the next attempt of the save finds what is left.
    if conflict.databaseObject?.flags.contains(.deleted) == true { return }
    var objects = conflict.conflictingObjects.filter {
      $0.flags.isDisjoint(with: [.deleted, .discarded])
    }
    let survivor: ManagedObject
    if let database = conflict.databaseObject {
      survivor = database
    } else if let first = objects.first {
      survivor = first
      objects.removeFirst()
    } else {
      return
    }
    for object in objects where object !== survivor {
      if object.isInserted {
        fold(object, into: survivor)
      } else {
        yield(object, to: survivor, over: conflict.constraint)
      }
    }
  }

  /// A new object goes; the survivor takes over what it had.
  private func fold(_ object: ManagedObject, into survivor: ManagedObject) {
    let context = object.requiredContext
    if !storeWins {
      _ = survivor.firedSlots
      for slot in object.layout.persistentSlots where slot < survivor.slotCount {
        guard policy == .overwriteMergePolicyType || object.changedSlots.contains(slot),
          object.layout.slots[slot].name == survivor.layout.slots[slot].name
        else { continue }
        let value = object.firedSlots[slot]
        if !value.isSameStoredValue(as: survivor.firedSlots[slot]) {
          survivor.setStoredValue(value, at: slot)
        }
      }
    }
    for (index, relationship) in object.layout.toManys.enumerated() {
      guard let target = survivor.layout.toManyByName[relationship.name] else { continue }
      for member in object.loadedToMany(index).current where member !== survivor {
        InverseMaintenance.removeMember(member, of: object, at: index)
        InverseMaintenance.add(member, to: survivor, at: target)
      }
    }
    for slot in 0..<object.slotCount where object.layout.isToOneSlot[slot] {
      InverseMaintenance.setToOne(of: object, at: slot, to: nil)
    }
    context.pending.note(object, .eventDeleted)
    context.pending.remove(object)
    object.flags.insert(.discarded)
  }

  /// An existing object took values that another one has: either it goes back to its own, or the
  /// other one is deleted.
  private func yield(
    _ object: ManagedObject, to survivor: ManagedObject, over constraint: [String]
  ) {
    if !storeWins {
      object.requiredContext.delete(survivor)
      return
    }
    guard let snapshot = object.snapshot else { return }
    for name in constraint {
      if let slot = object.layout.slotByName[name] {
        object.setStoredValue(snapshot[slot], at: slot)
      }
    }
  }
}
