import CairnModel
import CairnStore

// Values by slot, as generated accessors read and write them. What can be done in a few instructions
// is compiled into the accessors; all else is called.
extension ManagedObject {
  /// The value in a slot of the entity's layout; fires the fault.
  ///
  /// For generated accessors: slot numbers are those of `entity.layout`. Where the type of the
  /// attribute is known, ``storedInteger(at:)`` and its sisters are quicker.
  @inlinable
  @_spi(Generated)
  public final func storedValue(at slot: Int) -> AttributeValue {
    (readSlots(with: slot) ?? firedSlots(with: slot))[slot]
  }

  /// Sets the value in a slot; change tracking and, for a to-one relationship, the inverse are
  /// taken care of.
  @inlinable @inline(__always)
  @_spi(Generated)
  public final func setStoredValue(_ value: AttributeValue, at slot: Int) {
    // Most values are set right after an object was made, and those need no announcement.
    if flags.takeValuesQuietly, let slots = readSlots(with: slot), isAmongFirstAttributes(slot) {
      changedLowSlots |= 1 &<< UInt64(truncatingIfNeeded: slot)
      slots[slot] = value
    } else {
      changeStoredValue(value, at: slot)
    }
  }

  /// The values, when they have been read and there is such a slot.
  ///
  /// They are to be used before anything else is done with the object. They are those of a row that
  /// the object holds, and that has at least as many slots as the layout: `adopt` and `adoptSlots`
  /// see to that.
  @inlinable @inline(__always)
  final func readSlots(with slot: Int) -> RowSlots? {
    #if DEBUG
      checkConfinement()
    #endif
    guard let slots, slot >= 0, slot < slotCount else { return nil }
    return slots
  }

  /// The same for all that cannot be answered at once: reads a fault.
  @usableFromInline @inline(never)
  final func firedSlots(with slot: Int) -> RowSlots {
    // Slot numbers come from generated code or the layout; a wrong one was written by hand.
    precondition(slot >= 0 && slot < slotCount, "slot out of range")
    return firedSlots(for: slot)
  }

  /// Whether the slot, which exists, is one of the first 64 and holds an attribute.
  @inlinable @inline(__always)
  final func isAmongFirstAttributes(_ slot: Int) -> Bool {
    slot < 64
      && unretainedLayout.with { $0.attributeMask }
        & (1 &<< UInt64(truncatingIfNeeded: slot)) != 0
  }

  @usableFromInline
  final func checkConfinement() { registry?.context?.confinement.check() }

  @usableFromInline @inline(never)
  final func changeStoredValue(_ value: AttributeValue, at slot: Int) {
    // Slot numbers come from generated code or the layout; a wrong one was written by hand.
    precondition(slot >= 0 && slot < slotCount, "slot out of range")
    if unretainedLayout.with({ $0.isToOneSlot[slot] }) {
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
  @_spi(Generated)
  public final func memberIDs(ofToMany index: Int) -> [ManagedObjectID] {
    loadedToMany(index).current.map(\.objectID)
  }
}
