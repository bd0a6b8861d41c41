/// What most objects of a context do without, kept beside those that have it: an object that was
/// only fetched is smaller by these, and quicker to make and to free.
// `@exclusivity(unchecked)` as in ManagedObject, and for the same reason.
final class ObjectExtras {
  /// To-many relationships by index; empty until one is touched.
  @exclusivity(unchecked)
  var toManyValues: [ToManyValue?] = []
  /// Sets that the program was given for primitive values, by index of their relationship.
  @exclusivity(unchecked)
  var primitiveMembers: [Int: PrimitiveMembers] = [:]
  /// The changed slots from the 65th on; see ``SlotSet``.
  @exclusivity(unchecked)
  var changedHighSlots: [UInt64] = []
  /// Values of transient attributes of undefined type, and of fetched properties, by name.
  @exclusivity(unchecked)
  var looseValues: [String: Any] = [:]
  /// Objects read along with this one by a prefetch; held so that they are there when asked for.
  @exclusivity(unchecked)
  var companions: [ManagedObject] = []
  /// The results of a fetch whose rows are read together with this one's.
  @exclusivity(unchecked)
  var batch: (any FaultBatch)?

  var isEmpty: Bool {
    toManyValues.isEmpty && primitiveMembers.isEmpty && changedHighSlots.isEmpty
      && looseValues.isEmpty && companions.isEmpty && batch == nil
  }
}

/// Faults whose rows are read together when the first of them is used.
protocol FaultBatch: AnyObject {
  /// Reads the rows of all of them; false when that did not give the object its values.
  func fill(with object: ManagedObject, in context: ManagedObjectContext) -> Bool
}

extension ManagedObject {
  /// The extras, made if there are none.
  final var madeExtras: ObjectExtras {
    if let extras { return extras }
    let new = ObjectExtras()
    extras = new
    return new
  }

  /// To-many relationships by index; empty until one is touched.
  final var toManyValues: [ToManyValue?] {
    guard let extras else { return [] }
    if !extras.primitiveMembers.isEmpty { takePrimitiveChanges(from: extras) }
    return extras.toManyValues
  }
  /// Objects read along with this one by a prefetch.
  final var companions: [ManagedObject] { extras?.companions ?? [] }
  /// The results of a fetch whose rows are read together with this one's.
  final var batch: (any FaultBatch)? { extras?.batch }

  final func setBatch(_ batch: (any FaultBatch)?) {
    if batch != nil {
      madeExtras.batch = batch
    } else if let extras {
      extras.batch = nil
      if extras.isEmpty { self.extras = nil }
    }
  }

  /// Forgets all but the batch: what is about values that the object no longer has.
  final func forgetExtras() {
    let batch = batch
    extras = nil
    if batch != nil { setBatch(batch) }
  }

  /// Forgets the to-many relationships that were touched.
  final func forgetToManyValues() {
    extras?.toManyValues = []
    extras?.primitiveMembers = [:]
  }

  // MARK: Values without a slot

  /// The value that is kept for a name of a property without a slot.
  final func looseValue(_ name: String) -> Any? { extras?.looseValues[name] }

  final func setLooseValue(_ value: Any?, _ name: String) {
    if value == nil, extras == nil { return }
    madeExtras.looseValues[name] = value
  }

  final func forgetLooseValues() { extras?.looseValues = [:] }

  // MARK: Changed slots

  /// The slots that were set since the object was fetched or saved.
  final var changedSlots: SlotSet {
    SlotSet(low: changedLowSlots, high: extras?.changedHighSlots ?? [])
  }

  /// The persistent slots whose value differs from the committed one.
  final var persistentlyChangedSlots: SlotSet {
    guard !changedSlots.isEmpty, let slots, let snapshot else { return SlotSet() }
    let base = snapshot.slots
    return unretainedLayout.with { layout in
      let hasTransients = layout.persistentSlots.count != layout.slotCount
      return changedSlots.filter { slot in
        if hasTransients, layout.slots[slot].isTransient { return false }
        return !slots[slot].isSameStoredValue(as: base[slot])
      }
    }
  }

  @inline(__always)
  final func countAsChanged(_ slot: Int) {
    if slot < 64 {
      changedLowSlots |= 1 << UInt64(slot)
    } else {
      changeHighSlots { $0.insert(slot) }
    }
  }

  final func countAsUnchanged(_ slot: Int) {
    if slot < 64 {
      changedLowSlots &= ~(1 << UInt64(slot))
    } else {
      changeHighSlots { $0.remove(slot) }
    }
  }

  /// No slot counts as changed any more.
  final func forgetChangedSlots() {
    changedLowSlots = 0
    if let extras, !extras.changedHighSlots.isEmpty { extras.changedHighSlots = [] }
  }

  private func changeHighSlots(_ body: (inout SlotSet) -> Void) {
    let extras = madeExtras
    var set = SlotSet(low: 0, high: extras.changedHighSlots)
    extras.changedHighSlots = []
    body(&set)
    extras.changedHighSlots = set.high
  }
}
