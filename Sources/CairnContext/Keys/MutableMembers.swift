import CairnModel
import Foundation

// To-many relationships to be changed in place.
extension ManagedObject {
  /// A to-many relationship to be changed in place; an `NSMutableSet`.
  public func mutableSetValue(forKey key: String) -> ManagedObjectSet {
    ManagedObjectSet(object: self, index: requiredToMany(key))
  }

  /// An ordered to-many relationship to be changed in place; an `NSMutableOrderedSet`.
  public func mutableOrderedSetValue(forKey key: String) -> ManagedObjectOrderedSet {
    orderedMembers(ofToMany: requiredToMany(key))
  }

  /// An ordered relationship to be changed in place, by its index in the layout.
  @_spi(Generated)
  public final func orderedMembers(ofToMany index: Int) -> ManagedObjectOrderedSet {
    precondition(layout.toManys[index].isOrdered, "the relationship has no order")
    // Keeping one equal to the members costs as much as copying them, so there is one an event.
    if let known = touchedToMany(index)?.followers.lazy.compactMap({
      $0.set as? ManagedObjectOrderedSet
    })
    .first(where: { !$0.isPrimitive }) {
      return known
    }
    let set = ManagedObjectOrderedSet(object: self, index: index)
    registry?.context?.lateFollowing.handedOut.append(set)
    return set
  }

  /// The value at the end of a key path, a to-many relationship, to be changed in place.
  public func mutableSetValue(forKeyPath keyPath: String) -> ManagedObjectSet {
    let (object, key) = owner(of: keyPath)
    return object.mutableSetValue(forKey: key)
  }

  /// The value at the end of a key path, an ordered relationship, to be changed in place.
  public func mutableOrderedSetValue(forKeyPath keyPath: String) -> ManagedObjectOrderedSet {
    let (object, key) = owner(of: keyPath)
    return object.mutableOrderedSetValue(forKey: key)
  }

  private func owner(of keyPath: String) -> (ManagedObject, String) {
    guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
    let key = String(keyPath[keyPath.index(after: dot)...])
    guard let object = value(forKeyPath: String(keyPath[..<dot])) as? ManagedObject else {
      // A path in the program's source; there is nothing that a change could be made to.
      fatalError("\(keyPath) of \(entity.name ?? "?") leads through no object.")
    }
    return (object, key)
  }

  private func requiredToMany(_ key: String) -> Int {
    guard let index = layout.toManyByName[key] else {
      // The name is the program's; names from outside are looked up in the layout first.
      fatalError("\(key) is not a to-many relationship of entity \(entity.name ?? "?").")
    }
    return index
  }

  // MARK: For generated accessors

  /// Adds members to the to-many relationship with an index of the layout.
  @_spi(Generated)
  public final func addMembers(_ members: some Sequence<ManagedObject>, toMany index: Int) {
    let members = Array(members)
    announcing(.union, members, toMany: index) {
      changingMany {
        for member in members { InverseMaintenance.add(member, to: self, at: index) }
      }
    }
  }

  /// Removes members from the to-many relationship with an index of the layout.
  @_spi(Generated)
  public final func removeMembers(_ members: some Sequence<ManagedObject>, toMany index: Int) {
    let members = Array(members)
    announcing(.minus, members, toMany: index) {
      changingMany {
        for member in members { InverseMaintenance.removeMember(member, of: self, at: index) }
      }
    }
  }

  /// Makes the members of the to-many relationship with an index of the layout exactly these.
  @_spi(Generated)
  public final func setMembers(_ members: [ManagedObject], toMany index: Int) {
    changeMembers(members, toMany: index)
  }
}
