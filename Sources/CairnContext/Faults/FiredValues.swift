import CairnModel
import CairnStore

/// An object's values, read first if the object is a fault, and changes of them.
extension ManagedObject {
  /// The values now, read first if the object is a fault.
  final var firedSlots: RowSlots {
    if let slots { return slots }
    FaultFiring.fire(self)
    // fire() always leaves values behind, null ones when reading failed.
    guard let slots else { fatalError("A fault of \(objectID) was fired without effect.") }
    return slots
  }

  /// The values now, read first if the object is a fault, because of the property in a slot.
  final func firedSlots(for slot: Int) -> RowSlots {
    if slots == nil { FaultFiring.fire(self, for: layout.slots[slot].property) }
    return firedSlots
  }

  /// Makes sure that the slots can be written to.
  final func ownSlots() -> RowSlots { ownedSlots(insteadOf: firedSlots) }

  /// The values now, as an array.
  final var currentValues: [AttributeValue] {
    let slots = firedSlots
    return (0..<slotCount).map { slots[$0] }
  }

  /// The object's values now, as a row, without transient ones.
  ///
  /// - Parameter id: The ID by which the reader knows the object.
  final func row(under id: ManagedObjectID) -> RowSnapshot {
    var values = currentValues
    if layout.persistentSlots.count != slotCount {
      for slot in values.indices where layout.slots[slot].isTransient { values[slot] = .null }
    }
    return RowSnapshot.make(objectID: id, version: snapshot?.version ?? 0, values: values)
  }

  // MARK: Writing

  /// Sets a slot with change tracking, but without regard to an inverse.
  final func write(_ value: AttributeValue, at slot: Int) {
    prepareToWrite(slot)
    if flags.contains(.ownsSlots), let slots {
      slots[slot] = value
    } else {
      ownSlots()[slot] = value
    }
  }

  /// Sets a slot without change tracking.
  final func writeSilently(_ value: AttributeValue, at slot: Int) {
    ownSlots()[slot] = value
  }

  /// Counts the slot as changed and remembers its value for the event.
  final func prepareToWrite(_ slot: Int) {
    // All of the row is going to be copied.
    if !flags.contains(.ownsSlots) { fetchRowAhead() }
    let current = firedSlots(for: slot)
    if flags.contains(.awaking) { return }
    #if DEBUG
      registry?.context?.confinement.check()
    #endif
    // Taking back the insertion takes these back too.
    if !flags.isSuperset(of: [.inserted, .eventInserted]), let context = registry?.context {
      context.event.log.append(self, .slot(slot, old: current[slot]))
      context.noteUpdate(of: self)
    }
    countAsChanged(slot)
  }

  /// Sets a transient property of undefined type, whose value is in no slot.
  final func writeLoose(_ value: Any?, at slot: Int) {
    let name = layout.slots[slot].name
    prepareToWrite(slot)
    if flags.isDisjoint(with: .awaking), !flags.isSuperset(of: [.inserted, .eventInserted]) {
      registry?.context?.event.log.append(self, .loose(slot, old: looseValue(name)))
    }
    setLooseValue(value, name)
  }

  /// The object counts as changed.
  final func noteChange() {
    if flags.contains(.awaking) { return }
    registry?.context?.noteUpdate(of: self)
  }

  /// Nothing of the object is stored any more: all its values are changes.
  final func becomeNew() {
    if slots == nil {
      adoptDefaults(of: layout)
    } else if !flags.contains(.ownsSlots) {
      adoptSlots(of: currentValues)
    }
    snapshot = nil
    for slot in layout.persistentSlots { countAsChanged(slot) }
    for value in toManyValues { value?.becomeUncommitted() }
  }

  // MARK: To-many

  /// The holder of a to-many relationship with all members.
  final func loadedToMany(_ index: Int) -> ToManyValue {
    let value = toMany(index)
    if value.isLoaded { return value }
    if registry?.context == nil {
      // After a save deleted the object nothing more can be read.
      value.load([])
    } else {
      FaultFiring.load(value, index: index, of: self)
    }
    return value
  }
}
