import CairnModel
import CairnStore

/// Reads related objects along with fetched ones: a query for each step of each key path, and of a
/// step to many for about so many rows as a processor's cache holds.
struct RelationshipPrefetching {
  let context: ManagedObjectContext

  /// So many owners' members are read first, and then as many owners as have about so many rows:
  /// the row, its place in the row cache, its object and its owner are still close by then.
  private static let firstOwnerCount = 128
  private static let rowCount = 1024
  private static let ownerCounts = 16...4096

  func prefetch(_ keyPaths: [String], of objects: [ManagedObject]) throws {
    for keyPath in keyPaths {
      var current = objects
      let steps = keyPath.split(separator: ".")
      for (index, step) in steps.enumerated() {
        current = try follow(String(step), from: current, isLast: index == steps.count - 1)
        if current.isEmpty { break }
      }
    }
  }

  /// The objects one step further, with their values read; none for the last step.
  private func follow(
    _ name: String, from objects: [ManagedObject], isLast: Bool
  ) throws -> [ManagedObject] {
    try FaultFiring.fill(objects)
    var next: [ManagedObject] = []
    var owners: [ManagedObject] = []
    for object in objects where !object.isFault {
      if let slot = object.layout.slotByName[name], object.layout.isToOneSlot[slot] {
        if let target = InverseMaintenance.target(of: object, at: slot) {
          if !object.companions.contains(where: { $0 === target }) {
            object.madeExtras.companions.append(target)
          }
          next.append(target)
        }
      } else if let index = object.layout.toManyByName[name] {
        let value = object.toMany(index)
        if value.isLoaded {
          next += value.current
        } else {
          owners.append(object)
        }
      }
    }
    // Filling calls methods of the program, which may fetch.
    next = ObjectList.distinct(next)
    try FaultFiring.fill(next)
    // Subentities may have relationships of the same name that are not the same.
    for (relationship, group) in grouped(owners, name) {
      let members = try load(relationship, of: group, isLast: isLast)
      if !isLast { next += members }
    }
    return isLast ? [] : ObjectList.distinct(next)
  }

  /// Loads a relationship of its owners; the members have their values then.
  private func load(
    _ relationship: RelationshipDescription, of owners: [ManagedObject], isLast: Bool
  ) throws -> [ManagedObject] {
    guard let source = context.reading.source else { return [] }
    var all: [ManagedObject] = []
    var start = 0
    var count = Self.firstOwnerCount
    while start < owners.count {
      let run = owners[start..<min(start + count, owners.count)]
      start = run.endIndex
      let lists = try source.memberRows(
        of: relationship, owners: run.map(\.objectID), maximumAge: nil, rowLimit: .max)
      let members = load(lists, relationship.name, of: run)
      try FaultFiring.fill(members)
      if !isLast { all += members }
      let fitting = run.count * Self.rowCount / max(members.count, 1)
      count = min(max(fitting, Self.ownerCounts.lowerBound), Self.ownerCounts.upperBound)
    }
    return all
  }

  /// Hands over what was read; gives the members that the owners have now.
  private func load(
    _ lists: [[MemberRow]], _ name: String, of owners: ArraySlice<ManagedObject>
  ) -> [ManagedObject] {
    var result: [ManagedObject] = []
    result.reserveCapacity(lists.reduce(0) { $0 + $1.count })
    var found = RowObjects(context: context)
    defer { found.finish() }
    for (owner, list) in zip(owners, lists) {
      // A method of the program may have used the relationship meanwhile.
      guard let index = owner.layout.toManyByName[name], !owner.toMany(index).isLoaded else {
        continue
      }
      let members = found.objects(for: list)
      let value = owner.toMany(index)
      value.version = owner.snapshot?.version
      value.load(members)
      // Unsaved changes of the relationship stand on top of what is stored.
      result += value.hasChanges ? value.current : members
    }
    return result
  }

  private func grouped(
    _ owners: [ManagedObject], _ name: String
  ) -> [(RelationshipDescription, [ManagedObject])] {
    var groups: [(RelationshipDescription, [ManagedObject])] = []
    for owner in owners {
      guard let index = owner.layout.toManyByName[name] else { continue }
      let relationship = owner.layout.toManys[index]
      if let place = groups.firstIndex(where: { $0.0 === relationship }) {
        groups[place].1.append(owner)
      } else {
        groups.append((relationship, [owner]))
      }
    }
    return groups
  }
}

/// Objects of one context, each once.
private enum ObjectList {
  static func distinct(_ objects: [ManagedObject]) -> [ManagedObject] {
    if objects.count < 2 { return objects }
    var result: [ManagedObject] = []
    result.reserveCapacity(objects.count)
    // Asked of the object, which costs a tenth of what a set of thousands does.
    for object in objects where !object.flags.contains(.listed) {
      object.flags.insert(.listed)
      result.append(object)
    }
    for object in result { object.flags.remove(.listed) }
    return result
  }
}
