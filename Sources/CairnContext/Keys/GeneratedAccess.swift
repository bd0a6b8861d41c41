import CairnModel
import Foundation

// What generated accessors call for relationships; attributes they read through
// `storedInteger(at:)` and its sisters. Numbers are those of the entity's layout, inherited
// properties first.
extension ManagedObject {
  /// The object a to-one relationship leads to, by the slot of the layout; fires the fault.
  @_spi(Generated)
  public final func destination(at slot: Int) -> ManagedObject? {
    guard let id = storedObjectID(at: slot) else { return nil }
    // Without a context, after a save deleted the object, there is nowhere to find others.
    return registry?.context?.object(with: id)
  }

  /// Sets the object a to-one relationship leads to; the inverse follows.
  @_spi(Generated)
  public final func setDestination(_ destination: ManagedObject?, at slot: Int) {
    // Slot numbers come from generated code; a wrong one was written by hand.
    precondition(slot >= 0 && slot < slotCount && layout.isToOneSlot[slot], "not a to-one slot")
    changeDestination(destination, at: slot)
  }

  /// The members of a to-many relationship by its index in the layout, in order when it has one;
  /// loads it.
  ///
  /// The quickest way over the members: no set of Foundation is made.
  @_spi(Generated)
  public final func members(ofToMany index: Int) -> [ManagedObject] {
    loadedToMany(index).current
  }

  /// The members of a to-many relationship by its index in the layout; loads it.
  @_spi(Generated)
  public final func memberSet(ofToMany index: Int) -> NSSet {
    CertainCast.set(of: loadedToMany(index).current)
  }

  /// The members of an ordered relationship, in order, by its index in the layout; loads it.
  @_spi(Generated)
  public final func orderedMemberSet(ofToMany index: Int) -> NSOrderedSet {
    NSOrderedSet(array: loadedToMany(index).order)
  }

  /// Makes the members of the to-many relationship exactly those of a set; nil empties it.
  ///
  /// Traps for members that are no managed objects, as Core Data does.
  @_spi(Generated)
  public final func setMemberSet(_ members: NSSet?, ofToMany index: Int) {
    setMembers(managedObjects(in: members?.allObjects, index), toMany: index)
  }

  /// Makes the members of the ordered relationship exactly these, in this order; nil empties it.
  ///
  /// Traps for members that are no managed objects, as Core Data does.
  @_spi(Generated)
  public final func setOrderedMemberSet(_ members: NSOrderedSet?, ofToMany index: Int) {
    setMembers(managedObjects(in: members?.array, index), toMany: index)
  }

  private func managedObjects(in values: [Any]?, _ index: Int) -> [ManagedObject] {
    (values ?? []).map { value in
      guard let member = value as? ManagedObject else {
        RelationshipChecks.refuse(value, for: layout.toManys[index])
      }
      return member
    }
  }
}
