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
          object.companions.append(target)
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
    if let first = owners.first, let index = first.layout.toManyByName[name],
      let source = context.rowSource
    {
      let lists = try source.members(
        of: first.layout.toManys[index], owners: owners.map(\.objectID))
      for (owner, ids) in zip(owners, lists) {
        guard let index = owner.layout.toManyByName[name] else { continue }
        let members = ids.map { context.object(with: $0) }
        let value = owner.toMany(index)
        value.load(members)
        value.current.forEach(add)
      }
    }
    try FaultFiring.fill(next)
    return next
  }
}
