import CairnModel

/// What a custom accessor says around a change of a primitive value.
///
/// Between the two announcements the object's own side changes; at the end the other side of a
/// relationship follows, as it does for accessors of the library's own.
enum ChangeAnnouncement {
  /// A relationship as it was when its change was announced.
  private enum Before {
    case toOne(AttributeValue)
    case toMany([ManagedObject])
  }

  static func begin(_ key: String, of object: ManagedObject) {
    let layout = object.layout
    if let slot = layout.slotByName[key] {
      object.prepareToWrite(slot)
      if layout.isToOneSlot[slot] { remember(.toOne(object.firedSlots[slot]), key, object) }
    } else if let index = layout.toManyByName[key] {
      object.noteChange()
      remember(.toMany(object.loadedToMany(index).current), key, object)
    } else if let leaves = layout.composites[key] {
      for slot in leaves { object.prepareToWrite(slot) }
    } else if !type(of: object).contextShouldIgnoreUnmodeledPropertyChanges {
      object.noteChange()
    }
  }

  static func end(_ key: String, of object: ManagedObject) {
    guard let before = object.looseValue(entry(key)) as? Before else { return }
    object.setLooseValue(nil, entry(key))
    switch before {
    case .toOne(let old):
      guard let slot = object.layout.slotByName[key] else { return }
      let new = InverseMaintenance.target(of: object, at: slot)
      object.writeSilently(old, at: slot)
      InverseMaintenance.setToOne(of: object, at: slot, to: new)
    case .toMany(let old):
      guard let index = object.layout.toManyByName[key] else { return }
      let new = object.loadedToMany(index).current
      object.setPrimitiveMembers(old, toMany: index)
      InverseMaintenance.setMembers(of: object, at: index, to: new)
    }
  }

  /// Kept where no property can have its value: names have no space at their beginning.
  private static func entry(_ key: String) -> String { " changing \(key)" }

  private static func remember(_ before: Before, _ key: String, _ object: ManagedObject) {
    object.setLooseValue(before, entry(key))
  }
}

extension ManagedObject {
  /// Makes the members of a to-many relationship exactly these on this side only, without an
  /// event and without inverses.
  final func setPrimitiveMembers(_ members: [ManagedObject], toMany index: Int) {
    let holder = loadedToMany(index)
    let wanted = Set(members)
    changingMany {
      for member in holder.current where !wanted.contains(member) { _ = holder.remove(member) }
      for member in members { _ = holder.add(member) }
      holder.reorder(members)
    }
  }
}
