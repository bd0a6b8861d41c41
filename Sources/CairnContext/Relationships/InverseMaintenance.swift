import CairnModel

/// Keeps both sides of relationships in agreement, at once and in memory.
///
/// The changes of one side are complete before the other side's begin, so that an observer never
/// sees an object on two sides. The other side is not loaded for it: what it gains or loses is
/// kept as a difference until a caller reads it.
enum InverseMaintenance {
  // MARK: To-one

  /// `object.relationship = destination`.
  static func setToOne(of object: ManagedObject, at slot: Int, to destination: ManagedObject?) {
    guard case .toOne(let relationship) = object.layout.slots[slot].content else { return }
    if let destination { RelationshipChecks.check(destination, of: object, for: relationship) }
    let old = target(of: object, at: slot)
    object.prepareToWrite(slot)
    guard old !== destination || (destination == nil && !object.firedSlots[slot].isNull) else {
      return
    }
    let inverse = object.flags.contains(.awaking) ? nil : relationship.inverseRelationship
    guard let inverse else {
      object.writeSilently(reference(to: destination), at: slot)
      return
    }
    if let old { detach(object, from: old, inverse: inverse) }
    if let destination, !inverse.isToMany {
      // The destination leaves the object it was related to before.
      if let inverseSlot = self.slot(of: inverse, in: destination),
        let previous = target(of: destination, at: inverseSlot), previous !== object,
        let previousSlot = self.slot(of: relationship, in: previous)
      {
        previous.write(.null, at: previousSlot)
      }
    }
    object.writeSilently(reference(to: destination), at: slot)
    if let destination { attach(object, to: destination, inverse: inverse) }
  }

  // MARK: To-many

  /// Adds a member to a to-many relationship, at a position when it is ordered.
  static func add(
    _ member: ManagedObject, to object: ManagedObject, at index: Int, position: Int? = nil
  ) {
    let relationship = object.layout.toManys[index]
    RelationshipChecks.check(member, of: object, for: relationship)
    guard !isMember(member, of: object, at: index) else {
      object.noteChange()
      return
    }
    insert(member, into: object, at: index, position: position)
    guard let inverse = relationship.inverseRelationship else { return }
    if !inverse.isToMany, let slot = self.slot(of: inverse, in: member),
      let previous = target(of: member, at: slot), previous !== object,
      let previousIndex = self.index(of: relationship, in: previous)
    {
      // The same relationship, seen from the owner the member had before.
      remove(member, from: previous, at: previousIndex)
    }
    attach(object, to: member, inverse: inverse)
  }

  /// Removes a member from a to-many relationship.
  static func removeMember(
    _ member: ManagedObject, of object: ManagedObject, at index: Int
  ) {
    let relationship = object.layout.toManys[index]
    guard isMember(member, of: object, at: index) else {
      object.noteChange()
      return
    }
    remove(member, from: object, at: index)
    if let inverse = relationship.inverseRelationship {
      detach(object, from: member, inverse: inverse)
    }
  }

  /// Makes the members of a to-many relationship exactly the given ones, in that order.
  static func setMembers(of object: ManagedObject, at index: Int, to members: [ManagedObject]) {
    let holder = object.loadedToMany(index)
    let wanted = Set(members)
    object.noteChange()
    object.changingMany {
      for member in holder.current where !wanted.contains(member) {
        removeMember(member, of: object, at: index)
      }
      for member in members where !holder.members.contains(member) {
        add(member, to: object, at: index)
      }
      if holder.isOrdered { reorder(object, at: index, to: members) }
    }
  }

  /// Puts the members of an ordered relationship into another order.
  static func reorder(_ object: ManagedObject, at index: Int, to members: [ManagedObject]) {
    var seen = Set<ObjectRef>()
    let unique = members.filter { seen.insert(ObjectRef($0)).inserted }
    object.noteChange()
    let value = object.loadedToMany(index)
    let old = value.order
    value.reorder(unique)
    if !old.elementsEqual(unique, by: ===) { log(object, .reordered(index, old: old)) }
  }

  /// Whether the relationship has the member.
  ///
  /// Where the member's own to-one slot tells, a large relationship need not be read for it.
  private static func isMember(
    _ member: ManagedObject, of object: ManagedObject, at index: Int
  ) -> Bool {
    let relationship = object.layout.toManys[index]
    if !relationship.isOrdered, !object.toMany(index).isLoaded,
      let inverse = relationship.inverseRelationship, !inverse.isToMany
    {
      return slot(of: inverse, in: member).map { target(of: member, at: $0) === object } ?? false
    }
    return object.loadedToMany(index).members.contains(member)
  }

  // MARK: The other side

  /// `object` gains `owner` through the inverse.
  private static func attach(
    _ owner: ManagedObject, to object: ManagedObject, inverse: RelationshipDescription
  ) {
    if inverse.isToMany {
      guard let index = index(of: inverse, in: object) else { return }
      insert(owner, into: object, at: index, position: nil)
    } else if let slot = slot(of: inverse, in: object) {
      object.write(.object(owner.objectID), at: slot)
    }
  }

  /// `object` loses `owner` through the inverse.
  ///
  /// - Returns: False for a to-one relationship that does not lead to `owner`.
  @discardableResult
  static func detach(
    _ owner: ManagedObject, from object: ManagedObject, inverse: RelationshipDescription
  ) -> Bool {
    if inverse.isToMany {
      guard let index = index(of: inverse, in: object) else { return true }
      remove(owner, from: object, at: index)
    } else if let slot = slot(of: inverse, in: object) {
      guard target(of: object, at: slot) === owner else { return false }
      object.write(.null, at: slot)
    }
    return true
  }

  // MARK: One side only

  static func insert(
    _ member: ManagedObject, into object: ManagedObject, at index: Int, position: Int?
  ) {
    guard !object.flags.contains(.awaking) else { return }
    object.noteChange()
    if holder(of: object, at: index).add(member, at: position) {
      log(object, .added(index, member))
    }
  }

  static func remove(
    _ member: ManagedObject, from object: ManagedObject, at index: Int
  ) {
    guard !object.flags.contains(.awaking) else { return }
    object.noteChange()
    let holder = holder(of: object, at: index)
    let position = holder.position(of: member)
    if holder.remove(member) { log(object, .removed(index, member, position: position)) }
  }

  /// The other side need not be loaded to gain or lose a member, unless it has an order.
  private static func holder(of object: ManagedObject, at index: Int) -> ToManyValue {
    object.layout.toManys[index].isOrdered ? object.loadedToMany(index) : object.toMany(index)
  }

  private static func log(_ object: ManagedObject, _ change: EventLog.Change) {
    if object.flags.isSuperset(of: [.inserted, .eventInserted]) { return }
    object.registry?.context?.event.log.append(object, change)
  }

  // MARK: After reading

  /// A to-one slot of `object` is about to take another committed value: the loaded sets on the
  /// other side follow, without counting as changed.
  static func reconcile(
    _ object: ManagedObject, slot: Int, from old: AttributeValue, to new: AttributeValue
  ) {
    guard case .toOne(let relationship) = object.layout.slots[slot].content,
      let inverse = relationship.inverseRelationship, inverse.isToMany,
      let context = object.registry?.context
    else { return }
    func owner(_ value: AttributeValue) -> ManagedObject? {
      guard case .object(let id) = value else { return nil }
      return ObjectLookup(context: context).registered(id)
    }
    let (former, latter) = (owner(old), owner(new))
    // The same object under its permanent ID is no change.
    if former === latter { return }
    if let former, let index = self.index(of: inverse, in: former) {
      former.touchedToMany(index)?.forget(object)
    }
    if let latter, let index = self.index(of: inverse, in: latter) {
      latter.touchedToMany(index)?.admit(object)
    }
  }

  // MARK: Finding

  private static func reference(to object: ManagedObject?) -> AttributeValue {
    object.map { .object($0.objectID) } ?? .null
  }

  /// The object a to-one slot refers to, as a fault if need be.
  static func target(of object: ManagedObject, at slot: Int) -> ManagedObject? {
    guard case .object(let id) = object.firedSlots(for: slot)[slot] else { return nil }
    return object.registry?.context?.object(with: id)
  }

  /// Where an object keeps a to-one relationship.
  ///
  /// Nil for an object of an entity that has no such relationship. Only a damaged file, which has
  /// one key under two entities, leads to such an object; there is nothing to keep in agreement.
  static func slot(of relationship: RelationshipDescription, in object: ManagedObject) -> Int? {
    object.layout.slotByName[relationship.name]
  }

  /// Where an object keeps a to-many relationship; nil as for ``slot(of:in:)``.
  static func index(of relationship: RelationshipDescription, in object: ManagedObject) -> Int? {
    object.layout.toManyByName[relationship.name]
  }
}
