import CairnModel
import Foundation

/// What changed in an object, and which of its relationships are loaded.
extension ManagedObject {
  /// Whether a persistent property differs from what is stored.
  public final var hasPersistentChangedValues: Bool {
    if flags.contains(.inserted) {
      return changedSlots.members.contains { !layout.slots[$0].isTransient } || hasChangedMembers
    }
    return !persistentlyChangedSlots.isEmpty || hasChangedMembers
  }

  private final var hasChangedMembers: Bool {
    toManyValues.contains { $0?.hasChanges == true }
  }

  /// The values of properties that differ from the last fetch or save, by name; nil as `NSNull`.
  public func changedValues() -> [String: Any] {
    var result: [String: Any] = [:]
    guard let slots else { return result }
    let keys = KeyAccess(object: self)
    for slot in changedSlots.members {
      if let snapshot, !layout.slots[slot].isTransient,
        slots[slot].isSameStoredValue(as: snapshot[slot])
      {
        continue
      }
      let name = propertyName(ofSlot: slot)
      if result[name] == nil { result[name] = keys.modelValue(forKey: name) ?? NSNull() }
    }
    for (index, value) in toManyValues.enumerated() where value?.hasChanges == true {
      let name = layout.toManys[index].name
      result[name] = keys.modelValue(forKey: name)
    }
    return result
  }

  /// The values that properties changed in the current event had before it, by name; nil as
  /// `NSNull`.
  public func changedValuesForCurrentEvent() -> [String: Any] {
    var result: [String: Any] = [:]
    guard let context = registry?.context else { return result }
    var members: [Int: MemberSequence] = [:]
    func sequence(_ index: Int) -> MemberSequence {
      members.removeValue(forKey: index) ?? MemberSequence(loadedToMany(index).current)
    }
    var oldLeaves: [Int: AttributeValue] = [:]
    for change in context.event.log.changes(of: self) {
      switch change {
      case .slot(let slot, let old) where layout.slots[slot].name.contains("."):
        oldLeaves[slot] = old
      case .slot(let slot, let old): result[layout.slots[slot].name] = boxed(old, slot: slot)
      case .added(let index, let member):
        var list = sequence(index)
        if let position = list.position(of: member) { list.remove(at: position) }
        members[index] = list
      case .removed(let index, let member, let position):
        var list = sequence(index)
        list.insert(member, at: min(position ?? list.count, list.count))
        members[index] = list
      case .loose(let slot, let old): result[layout.slots[slot].name] = old ?? NSNull()
      case .reordered(let index, let old): members[index] = MemberSequence(old)
      case .insertion, .deletion: break
      }
    }
    for (index, list) in members {
      result[layout.toManys[index].name] = collection(list.members, index)
    }
    for name in Set(oldLeaves.keys.map(propertyName)) {
      result[name] = boxedComposite(name) { oldLeaves[$0] ?? firedSlots[$0] }
    }
    return result
  }

  /// The name of the property that a slot is, or is a leaf of.
  private final func propertyName(ofSlot slot: Int) -> String {
    let name = layout.slots[slot].name
    return name.firstIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  private final func boxedComposite(_ name: String, _ value: (Int) -> AttributeValue) -> Any {
    KeyAccess(object: self).composite(name, layout.composites[name] ?? []) { slot in
      AttributeCoding.decode(value(slot), for: layout.slots[slot].attribute)
    } ?? NSNull()
  }

  /// The values last fetched or saved, by name; nil as `NSNull`.
  ///
  /// Without keys all persistent properties, but not to-many relationships that were not loaded.
  /// Empty for an object that was inserted and not saved.
  public func committedValues(forKeys keys: [String]?) -> [String: Any] {
    var result: [String: Any] = [:]
    if !flags.isDisjoint(with: [.inserted, .discarded]) { return result }
    if hasNoRow {
      for slot in layout.persistentSlots { result[propertyName(ofSlot: slot)] = NSNull() }
      return keys.map { keys in result.filter { keys.contains($0.key) } } ?? result
    }
    _ = firedSlots
    guard let snapshot else { return result }
    let wanted = keys.map(Set.init)
    for slot in layout.persistentSlots {
      let name = propertyName(ofSlot: slot)
      if let wanted, !wanted.contains(name) { continue }
      if layout.composites[name] == nil {
        result[name] = boxed(snapshot[slot], slot: slot)
      } else if result[name] == nil {
        result[name] = boxedComposite(name) { snapshot[$0] }
      }
    }
    for (index, relationship) in layout.toManys.enumerated() {
      if let wanted {
        guard wanted.contains(relationship.name) else { continue }
        result[relationship.name] = collection(loadedToMany(index).committed, index)
      } else if let value = touchedToMany(index), value.isLoaded {
        result[relationship.name] = collection(value.committed, index)
      }
    }
    return result
  }

  private final func boxed(_ value: AttributeValue, slot: Int) -> Any {
    if case .object(let id) = value {
      return registry?.context?.object(with: id) ?? NSNull()
    }
    return AttributeCoding.decode(value, for: layout.slots[slot].attribute) ?? NSNull()
  }

  private final func collection(_ members: [ManagedObject], _ index: Int) -> Any {
    layout.toManys[index].isOrdered ? NSOrderedSet(array: members) : Set(members)
  }

  /// Whether a relationship has not been read yet.
  ///
  /// Fires nothing.
  public func hasFault(forRelationshipNamed key: String) -> Bool {
    if let index = layout.toManyByName[key] {
      return !(touchedToMany(index)?.isLoaded ?? hasNoRow)
    }
    guard let slot = layout.slotByName[key], layout.isToOneSlot[slot] else { return false }
    guard let slots else { return true }
    guard case .object(let id) = slots[slot] else { return false }
    return registry?.object(for: id)?.isFault ?? true
  }

  /// The IDs of a to-many relationship's members, without making objects of them where that can be
  /// avoided.
  ///
  /// Traps for a to-one relationship or an unknown name.
  public func objectIDs(forRelationshipNamed key: String) -> [ManagedObjectID] {
    guard let index = layout.toManyByName[key] else {
      // The name is the program's; names from outside are looked up in the layout first.
      fatalError(
        "\(key) is not a to-many relationship of entity \(entity.name ?? "?").")
    }
    if let holder = touchedToMany(index), holder.isLoaded || hasNoRow {
      return memberIDs(ofToMany: index)
    }
    guard let ids = FaultFiring.memberIDs(index, of: self) else { return [] }
    guard let holder = touchedToMany(index), holder.hasChanges else { return ids }
    let removed = Set(holder.removed.map { ObjectIDRef($0.object.objectID) })
    var seen = removed
    return (ids + holder.added.map(\.object.objectID)).filter {
      seen.insert(ObjectIDRef($0)).inserted
    }
  }
}
