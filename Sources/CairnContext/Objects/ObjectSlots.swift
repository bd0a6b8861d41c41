import CairnModel
import CairnStore

/// How an object holds its values: shared with the snapshot until the first change.
extension ManagedObject {
  final var layout: EntityLayout { unretainedLayout.retained }

  /// How many slots the object has; not kept in each, which are many.
  @inlinable @inline(__always)
  final var slotCount: Int { unretainedLayout.with { $0.slotCount } }

  /// The layout of an entity whose model is in use from now on.
  static func preparedLayout(of entity: EntityDescription) -> EntityLayout? {
    try? entity.managedObjectModel?.prepareForUse()
    return entity.layout
  }

  /// The context, or a trap for an object that has none.
  final var requiredContext: ManagedObjectContext {
    guard let context = registry?.context else {
      // The program kept an object longer than its context: Core Data raises as well.
      fatalError(
        "CoreData could not fulfill a fault for '\(objectID)': the object belongs to no context; its "
          + "context has gone, or the object was deleted or forgotten by a reset.")
    }
    return context
  }

  /// Whether a row can be the object's values: a key identifies a row within a hierarchy, and a damaged
  /// file may have one key under two entities.
  final func fits(_ row: RowSnapshot) -> Bool {
    row.objectID.entity === entity || row.objectID.entity.isKindOf(entity: entity)
  }

  /// Shares the snapshot's values.
  final func adopt(_ snapshot: RowSnapshot) {
    // Rows from stores are checked with fits(_:) first; slots are read without a bound after this.
    precondition(snapshot.count >= slotCount, "a row of another entity")
    freeSlots()
    // A row at hand already is counted once.
    if self.snapshot?.isIdentical(to: snapshot) != true { self.snapshot = snapshot }
    slots = snapshot.slots
    if !unretainedLayout.with({ $0.transientDefaults.isEmpty }) {
      takeTransientDefaults()
    }
  }

  /// Gives required transient attributes, which no row has, their defaults.
  ///
  /// That is no change of the object, which is no fault.
  final func takeTransientDefaults() {
    for transient in layout.transientDefaults where !changedSlots.contains(transient.slot) {
      if transient.attribute.attributeType == .undefined {
        let name = layout.slots[transient.slot].name
        if looseValue(name) == nil { setLooseValue(transient.attribute.defaultValue, name) }
      } else if let slots, slots[transient.slot].isNull {
        ownedSlots(insteadOf: slots)[transient.slot] = transient.value
      }
    }
  }

  /// Takes slots of its own with the given values, one for each slot.
  final func adoptSlots(of values: [AttributeValue]) {
    own(
      .draft(count: values.count) { slots in
        for slot in 0..<values.count { slots.initialize(slot, to: values[slot]) }
      })
  }

  /// Takes the values of a new object.
  final func adoptDefaults(of layout: EntityLayout) {
    adoptSlots(of: layout.defaultValues)
    if !layout.transientDefaults.isEmpty { takeTransientDefaults() }
  }

  private func own(_ row: RowSnapshot) {
    draft = row
    slots = row.slots
    flags.insert(.ownsSlots)
  }

  /// Slots that can be written to: the object's own, or a copy of those that it shares.
  final func ownedSlots(insteadOf shared: RowSlots) -> RowSlots {
    if flags.contains(.ownsSlots) { return shared }
    let count = slotCount
    own(.draft(count: count) { $0.initialize(from: shared, count: count) })
    return slots ?? shared
  }

  /// The object's own values as a row that a store may keep; nil when it has none of its own.
  ///
  /// The object reads them from there, too, and copies them before it changes one again.
  final func sealSlots(version: Int64) -> RowSnapshot? {
    guard let draft else { return nil }
    if flags.contains(.ownsSlots) {
      draft.seal(objectID: objectID, version: version)
      flags.remove(.ownsSlots)
    } else if !draft.isSealed(as: objectID, version: version) {
      return nil
    }
    return draft
  }

  /// Lets go of the values; the object is a fault then.
  ///
  /// The snapshot stays.
  final func freeSlots() {
    if draft != nil {
      draft = nil
      flags.remove(.ownsSlots)
    }
    slots = nil
  }

  /// Whether a to-one relationship of the object, as far as it is read, leads to an ID that the condition
  /// holds for.
  final func leads(where holds: (ManagedObjectID) -> Bool) -> Bool {
    guard let slots else { return false }
    return unretainedLayout.with { layout in
      layout.toOneSlots.contains { slot in
        guard case .object(let id) = slots[slot] else { return false }
        return holds(id)
      }
    }
  }

  // MARK: To-many

  /// The holder of a to-many relationship, loaded or not.
  final func toMany(_ index: Int) -> ToManyValue {
    let extras = madeExtras
    if !extras.primitiveMembers.isEmpty { takePrimitiveChanges(from: extras) }
    if index < extras.toManyValues.count, let value = extras.toManyValues[index] { return value }
    if extras.toManyValues.isEmpty {
      extras.toManyValues = Array(repeating: nil, count: layout.toManys.count)
    }
    let value = ToManyValue(isOrdered: layout.toManys[index].isOrdered)
    if hasNoRow { value.load([]) }
    extras.toManyValues[index] = value
    return value
  }

  /// The holder if it was touched.
  final func touchedToMany(_ index: Int) -> ToManyValue? {
    guard let extras, index < extras.toManyValues.count else { return nil }
    if !extras.primitiveMembers.isEmpty { takePrimitiveChanges(from: extras) }
    return extras.toManyValues[index]
  }

  /// Whether no row stands behind the object, so that nothing can be read for it.
  final var hasNoRow: Bool {
    registry == nil || !flags.isDisjoint(with: [.inserted, .discarded, .inaccessible])
  }
}
