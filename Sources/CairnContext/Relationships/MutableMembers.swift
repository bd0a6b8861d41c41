import CairnModel
import Foundation

/// The members of a to-many relationship as a set whose changes are changes of the object.
///
/// Belongs to the queue of the object's context. Source: the proxy that Core Data's
/// `mutableSetValue(forKey:)` returns.
public final class ManagedObjectSet: Sequence {
  private let object: ManagedObject
  private let index: Int

  init(object: ManagedObject, index: Int) {
    self.object = object
    self.index = index
  }

  /// The members now.
  public var members: Set<ManagedObject> { object.loadedToMany(index).members }
  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }
  public var allObjects: [ManagedObject] { object.loadedToMany(index).current }
  public func makeIterator() -> IndexingIterator<[ManagedObject]> { allObjects.makeIterator() }
  public func contains(_ member: ManagedObject) -> Bool { members.contains(member) }

  public func add(_ member: ManagedObject) {
    InverseMaintenance.add(member, to: object, at: index)
  }
  public func addObjects(from members: [ManagedObject]) { members.forEach(add) }
  public func remove(_ member: ManagedObject) {
    InverseMaintenance.removeMember(member, of: object, at: index)
  }
  public func removeAllObjects() {
    InverseMaintenance.setMembers(of: object, at: index, to: [])
  }
  public func union(_ others: Set<ManagedObject>) { others.forEach(add) }
  public func minus(_ others: Set<ManagedObject>) { others.forEach(remove) }
  public func intersect(_ others: Set<ManagedObject>) {
    members.subtracting(others).forEach(remove)
  }
  public func setSet(_ others: Set<ManagedObject>) {
    InverseMaintenance.setMembers(of: object, at: index, to: Array(others))
  }
}

/// The members of an ordered relationship as a list without repetition whose changes are changes
/// of the object.
public final class ManagedObjectOrderedSet: Sequence {
  private let object: ManagedObject
  private let index: Int

  init(object: ManagedObject, index: Int) {
    self.object = object
    self.index = index
  }

  /// The members now, in order.
  public var array: [ManagedObject] { object.loadedToMany(index).order }
  public var count: Int { array.count }
  public func makeIterator() -> IndexingIterator<[ManagedObject]> { array.makeIterator() }
  public func contains(_ member: ManagedObject) -> Bool {
    object.loadedToMany(index).members.contains(member)
  }
  public func index(of member: ManagedObject) -> Int? { array.firstIndex { $0 === member } }
  public subscript(position: Int) -> ManagedObject { array[position] }

  public func add(_ member: ManagedObject) {
    InverseMaintenance.add(member, to: object, at: index)
  }
  /// Does nothing for an object that is a member already.
  public func insert(_ member: ManagedObject, at position: Int) {
    InverseMaintenance.add(member, to: object, at: index, position: position)
  }
  public func remove(_ member: ManagedObject) {
    InverseMaintenance.removeMember(member, of: object, at: index)
  }
  public func removeObject(at position: Int) { remove(array[position]) }
  public func removeAllObjects() {
    InverseMaintenance.setMembers(of: object, at: index, to: [])
  }
  public func replaceObject(at position: Int, with member: ManagedObject) {
    var list = array
    list[position] = member
    setArray(list)
  }
  /// Moves members to a position, keeping their order among themselves.
  public func moveObjects(at positions: IndexSet, to position: Int) {
    var list = array
    let moved = positions.map { list[$0] }
    for place in positions.reversed() { list.remove(at: place) }
    list.insert(contentsOf: moved, at: Swift.min(position, list.count))
    setArray(list)
  }
  /// Makes the members exactly these, in this order.
  public func setArray(_ members: [ManagedObject]) {
    InverseMaintenance.setMembers(of: object, at: index, to: members)
  }
}

extension ManagedObject {
  /// A to-many relationship to be changed in place.
  public func mutableSetValue(forKey key: String) -> ManagedObjectSet {
    ManagedObjectSet(object: self, index: requiredToMany(key))
  }

  /// An ordered to-many relationship to be changed in place.
  public func mutableOrderedSetValue(forKey key: String) -> ManagedObjectOrderedSet {
    ManagedObjectOrderedSet(object: self, index: requiredToMany(key))
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
  public final func addMembers(_ members: some Sequence<ManagedObject>, toMany index: Int) {
    for member in members { InverseMaintenance.add(member, to: self, at: index) }
  }

  /// Removes members from the to-many relationship with an index of the layout.
  public final func removeMembers(_ members: some Sequence<ManagedObject>, toMany index: Int) {
    for member in members { InverseMaintenance.removeMember(member, of: self, at: index) }
  }

  /// Makes the members of the to-many relationship with an index of the layout exactly these.
  public final func setMembers(_ members: [ManagedObject], toMany index: Int) {
    InverseMaintenance.setMembers(of: self, at: index, to: members)
  }
}
