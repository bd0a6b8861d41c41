import CairnModel
import Foundation

/// The mutable set that ``ManagedObject/primitiveValue(forKey:)`` gives for a to-many relationship.
///
/// Programs cast it to a Swift set, and Foundation on Linux casts no subclass of `NSMutableSet` to
/// anything but an empty one; so it is an `NSMutableSet` itself, which posts nothing when it is
/// changed. The object compares it with what it was whenever one of the object's to-many
/// relationships is used, as long as the program holds it.
final class PrimitiveMembers {
  private(set) var set: NSMutableSet
  /// What the set had when it was last compared.
  private var known: Set<ManagedObject>

  init(_ members: Set<ManagedObject>) {
    set = NSMutableSet(array: Array(members))
    known = members
  }

  /// Whether only this object still has the set.
  var isAbandoned: Bool { isKnownUniquelyReferenced(&set) }

  /// Hands on what the program has done to the set.
  func takeChanges(of relationship: RelationshipDescription, into holder: ToManyValue) {
    if set.count == known.count, known.allSatisfy(set.contains) { return }
    var members = Set<ManagedObject>(minimumCapacity: set.count)
    for element in set {
      guard let member = element as? ManagedObject else {
        RelationshipChecks.refuse(element, for: relationship)
      }
      members.insert(member)
    }
    for member in known where !members.contains(member) { _ = holder.remove(member) }
    for member in members where !known.contains(member) { _ = holder.add(member) }
    known = members
  }

  /// Shows the members that the relationship has by now.
  func follow(_ members: Set<ManagedObject>) {
    for member in known where !members.contains(member) { set.remove(member) }
    for member in members where !known.contains(member) { set.add(member) }
    known = members
  }
}

extension ManagedObject {
  /// Takes over what the program has done to the sets that it was given.
  final func takePrimitiveChanges(from extras: ObjectExtras) {
    for (index, members) in extras.primitiveMembers {
      guard index < extras.toManyValues.count, let holder = extras.toManyValues[index] else {
        extras.primitiveMembers[index] = nil
        continue
      }
      members.takeChanges(of: layout.toManys[index], into: holder)
      if members.isAbandoned { extras.primitiveMembers[index] = nil }
    }
  }
}
