import CairnModel
import CairnStore

/// Turns objects back into faults and brings them up to date.
struct ObjectRefreshing {
  let context: ManagedObjectContext

  /// `refresh(_:mergeChanges:)`.
  func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    guard object.registry === context.registry, !object.isDeleted else { return }
    if object.isInserted {
      if !mergeChanges { forgetValues(ofNew: object) }
      return
    }
    takePermanentID(object)
    if !mergeChanges {
      turnIntoFault(object)
    } else if object.hasChanges {
      var kept = KeptPartners(context: context)
      rebase(object, &kept)
      kept.follow()
    } else if !object.isFault {
      turnIntoFault(object)
      // Read again at once: the caller asked for values, not for a fault.
      try? FaultFiring.fill([object], maximumAge: context.maximumRowAge)
      object.awake(fromSnapshotEvents: .refresh)
    } else {
      object.snapshot = nil
    }
    context.pending.note(object, .eventRefreshed)
  }

  /// `refreshAllObjects()`: changed objects keep their changes, clean ones become faults.
  func refreshAll() {
    var kept = KeptPartners(context: context)
    for object in context.registry.objects where !object.isInserted && !object.isDeleted {
      takePermanentID(object)
      if object.hasChanges {
        rebase(object, &kept)
      } else {
        turnIntoFault(object)
      }
      context.pending.note(object, .eventRefreshed)
    }
    kept.follow()
  }

  /// All that a new object has is unsaved: it becomes a fault, and those that it was related to let
  /// go of it.
  ///
  /// It is still to be saved, and has the values of the model's defaults when they are asked for.
  private func forgetValues(ofNew object: ManagedObject) {
    for slot in object.isFault ? [] : object.layout.toOneSlots {
      InverseMaintenance.setToOne(of: object, at: slot, to: nil)
    }
    for (index, value) in object.toManyValues.enumerated() where value?.isTouched == true {
      InverseMaintenance.setMembers(of: object, at: index, to: [])
    }
    turnIntoFault(object)
    context.pending.note(object, .eventRefreshed)
    context.scheduleProcessing()
  }

  /// In a child an object has its temporary ID until it is refreshed after the root has saved it.
  private func takePermanentID(_ object: ManagedObject) {
    guard object.objectID.isTemporaryID else { return }
    let id = context.currentID(object.objectID)
    if id !== object.objectID { context.registry.replaceTemporaryID(of: object, by: id) }
  }

  /// Drops values, unsaved changes and references to related objects.
  func turnIntoFault(_ object: ManagedObject) {
    Self.turnIntoFault(object) {
      if !object.isInserted { context.pending.remove(object) }
    }
  }

  /// The same, and what else is to be done before the object hears that it is a fault.
  static func turnIntoFault(_ object: ManagedObject, _ finish: () -> Void) {
    let hadValues = !object.isFault
    if hadValues { object.willTurnIntoFault() }
    object.freeSlots()
    object.snapshot = nil
    object.forgetChangedSlots()
    object.forgetExtras()
    finish()
    if hadValues { object.didTurnIntoFault() }
  }

  /// Reads the committed values again and puts the object's own changes on top of them.
  private func rebase(_ object: ManagedObject, _ kept: inout KeptPartners) {
    for value in object.toManyValues { value?.unload(keepingChanges: true) }
    guard
      let row = try? context.reading.source?.rows(
        for: [object.objectID], maximumAge: context.maximumRowAge
      ).first ?? nil
    else { return }
    kept.note(object, over: row)
    rebase(object, onto: row)
    object.awake(fromSnapshotEvents: .refresh)
  }

  /// A property that was set to the value it had does not stand in the way of a newer one.
  private func dropChangesWithoutEffect(_ object: ManagedObject) {
    guard let slots = object.slots, let base = object.snapshot, !object.changedSlots.isEmpty else {
      return
    }
    for slot in object.changedSlots.members
    where !object.layout.slots[slot].isTransient && slots[slot].isSameStoredValue(as: base[slot]) {
      if !isWanted(object, slot) { object.countAsUnchanged(slot) }
    }
  }

  /// Whether the other side of a one-to-one relationship was changed to lead here as well: the
  /// value had been another one before, which was not known here.
  private func isWanted(_ object: ManagedObject, _ slot: Int) -> Bool {
    guard let inverse = object.layout.slots[slot].relationship?.inverseRelationship,
      !inverse.isToMany, case .object(let id)? = object.slots?[slot],
      let partner = ObjectLookup(context: context).registered(id),
      let place = InverseMaintenance.slot(of: inverse, in: partner),
      partner.changedSlots.contains(place), case .object(let back)? = partner.slots?[place]
    else { return false }
    return back == object.objectID
  }

  /// Takes `row` as the committed values, keeping what was changed here.
  func rebase(
    _ object: ManagedObject, onto row: RowSnapshot, keepingEqualValues: Bool = false
  ) {
    guard object.fits(row) else { return }
    guard let old = object.slots else {
      object.snapshot = row
      return
    }
    if !keepingEqualValues { dropChangesWithoutEffect(object) }
    for slot in object.layout.persistentSlots
    where object.layout.isToOneSlot[slot] && !object.changedSlots.contains(slot)
      && !old[slot].isSameStoredValue(as: row[slot])
    {
      InverseMaintenance.reconcile(object, slot: slot, from: old[slot], to: row[slot])
    }
    guard object.flags.contains(.ownsSlots) else {
      object.adopt(row)
      FaultFiring.retainRow(of: object)
      return
    }
    for slot in object.layout.persistentSlots where !object.changedSlots.contains(slot) {
      old[slot] = row[slot]
    }
    object.snapshot = row
    FaultFiring.retainRow(of: object)
  }

  /// Takes `row` as the one that is to be deleted.
  ///
  /// The delete rules look after what another writer has related to the object since, too.
  func rebase(deleted object: ManagedObject, onto row: RowSnapshot) {
    guard object.fits(row) else { return }
    context.pending.setVersion(row.version, of: object)
    if object.isUnread {
      context.pending.unpropagatedDeletes.append(object)
      return
    }
    if let own = object.slots, object.flags.contains(.ownsSlots) {
      for slot in object.layout.persistentSlots where !object.changedSlots.contains(slot) {
        own[slot] = row[slot]
      }
      object.snapshot = row
    } else {
      object.adopt(row)
    }
    FaultFiring.retainRow(of: object)
    RelationshipRestoring(object).deleteAgain()
  }
}
