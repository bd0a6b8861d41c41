import CairnModel

/// Reads related objects along with fetched ones: one query for each step of each key path.
struct RelationshipPrefetching {
  let context: ManagedObjectContext

  func prefetch(_ keyPaths: [String], of objects: [ManagedObject]) throws {
    for keyPath in keyPaths {
      var current = objects
      for step in keyPath.split(separator: ".") {
        current = try follow(String(step), from: current)
        if current.isEmpty { break }
      }
    }
  }

  /// The objects one step further, with their values read.
  private func follow(_ name: String, from objects: [ManagedObject]) throws -> [ManagedObject] {
    try FaultFiring.fill(objects)
    var next = ObjectList()
    defer { next.finish() }
    var owners: [ManagedObject] = []
    for object in objects where !object.isFault {
      if let slot = object.layout.slotByName[name], object.layout.isToOneSlot[slot] {
        if let target = InverseMaintenance.target(of: object, at: slot) {
          if !object.companions.contains(where: { $0 === target }) {
            object.madeExtras.companions.append(target)
          }
          next.add(target)
        }
      } else if let index = object.layout.toManyByName[name] {
        let value = object.toMany(index)
        if value.isLoaded {
          value.current.forEach { next.add($0) }
        } else {
          owners.append(object)
        }
      }
    }
    if let source = context.rowSource {
      // Subentities may have relationships of the same name that are not the same.
      for (relationship, group) in grouped(owners, name) {
        let lists = try source.memberRows(
          of: relationship, owners: group.map(\.objectID), maximumAge: nil, rowLimit: .max)
        var found = RowObjects(context: context)
        defer { found.finish() }
        for (owner, list) in zip(group, lists) {
          guard let index = owner.layout.toManyByName[name] else { continue }
          let members = found.objects(for: list)
          let value = owner.toMany(index)
          value.load(members)
          // Unsaved changes of the relationship stand on top of what is stored.
          if value.hasChanges {
            value.current.forEach { next.add($0) }
          } else {
            members.forEach { next.add($0) }
          }
        }
      }
    }
    // Filling calls methods of the program, which may fetch.
    next.finish()
    try FaultFiring.fill(next.objects)
    return next.objects
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
private struct ObjectList {
  private(set) var objects: [ManagedObject] = []

  mutating func add(_ object: ManagedObject) {
    // Asked of the object, which costs a tenth of what a set of thousands does.
    if object.flags.contains(.listed) { return }
    object.flags.insert(.listed)
    objects.append(object)
  }

  /// Nothing is added after this.
  func finish() { for object in objects { object.flags.remove(.listed) } }
}
