import CairnModel

/// Values by slot, as generated accessors read and write them.
extension ManagedObject {
  /// The value in a slot of the entity's layout; fires the fault.
  ///
  /// For generated accessors: slot numbers are those of `entity.layout`.
  public final func storedValue(at slot: Int) -> AttributeValue {
    #if DEBUG
      registry?.context?.confinement.check()
    #endif
    if let slots {
      // Slot numbers come from generated code or the layout; a wrong one was written by hand.
      precondition(slot >= 0 && slot < slotCount, "slot out of range")
      return slots[slot]
    }
    return firedSlots(for: slot)[slot]
  }

  /// Sets the value in a slot; change tracking and, for a to-one relationship, the inverse are
  /// taken care of.
  public final func setStoredValue(_ value: AttributeValue, at slot: Int) {
    // Slot numbers come from generated code or the layout; a wrong one was written by hand.
    precondition(slot >= 0 && slot < slotCount, "slot out of range")
    // Most values are set right after an object was made, and nobody need be told of those.
    if flags.isSuperset(of: .fresh), flags.isDisjoint(with: [.hearsOfChanges, .awaking]),
      slot < 64, let slots,
      unretainedLayout._withUnsafeGuaranteedRef({ $0.attributeMask }) & (1 << UInt64(slot)) != 0
    {
      #if DEBUG
        registry?.context?.confinement.check()
      #endif
      changedSlots.low |= 1 << UInt64(slot)
      slots[slot] = value
      return
    }
    if unretainedLayout._withUnsafeGuaranteedRef({ $0.isToOneSlot[slot] }) {
      var destination: ManagedObject?
      if case .object(let id) = value { destination = requiredContext.object(with: id) }
      changeDestination(destination, at: slot)
    } else if hasListeners {
      announcing(layout.slots[slot].name) { write(value, at: slot) }
    } else {
      write(value, at: slot)
    }
  }

  /// The members of a to-many relationship by its index in the layout; loads it.
  public final func memberIDs(ofToMany index: Int) -> [ManagedObjectID] {
    loadedToMany(index).current.map(\.objectID)
  }
}
