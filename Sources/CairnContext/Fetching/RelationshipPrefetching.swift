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
    var seen = Set<ObjectRef>()
    var next: [ManagedObject] = []
    func add(_ object: ManagedObject) {
      if seen.insert(ObjectRef(object)).inserted { next.append(object) }
    }
    var owners: [ManagedObject] = []
    for object in objects where !object.isFault {
      if let slot = object.layout.slotByName[name], object.layout.isToOneSlot[slot] {
        if let target = InverseMaintenance.target(of: object, at: slot) {
          if !object.companions.contains(where: { $0 === target }) {
            object.companions.append(target)
          }
          add(target)
        }
      } else if let index = object.layout.toManyByName[name] {
        let value = object.toMany(index)
        if value.isLoaded {
          value.current.forEach(add)
        } else {
          owners.append(object)
        }
      }
    }
    if let source = context.rowSource {
      let lookup = ObjectLookup(context: context)
      // Subentities may have relationships of the same name that are not the same.
      for (_, group) in grouped(owners, name) {
        guard let index = group[0].layout.toManyByName[name] else { continue }
        let lists = try source.members(
          of: group[0].layout.toManys[index], owners: group.map(\.objectID))
        for (owner, ids) in zip(group, lists) {
          guard let index = owner.layout.toManyByName[name] else { continue }
          let value = owner.toMany(index)
          value.load(ids.map { lookup.object(found: $0) })
          value.current.forEach(add)
        }
      }
    }
    try FaultFiring.fill(next)
    return next
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
