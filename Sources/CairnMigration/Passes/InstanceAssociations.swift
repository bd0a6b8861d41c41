import CairnContext
import CairnModel

/// Which destination objects came of which source objects, by mapping.
///
/// Objects whose rows both are in their stores are kept as the keys of these rows, and made again as
/// faults when a policy asks for them; of the others the table keeps the objects. Belongs to the
/// manager's queue.
struct InstanceAssociations {
  /// The contexts of a migration.
  typealias Contexts = (source: ManagedObjectContext, destination: ManagedObjectContext)

  /// What one mapping has made.
  private struct Table {
    /// Keys, each with that of the other side at the same place.
    var sources = InstanceColumn()
    var destinations = InstanceColumn()
    var live = LiveAssociations()
  }
  private var tables: [String: Table] = [:]
  /// The names of mappings in the order of their first object.
  private var order: [String] = []

  mutating func associate(
    _ source: ManagedObject, with destination: ManagedObject, mapping name: String
  ) {
    if tables[name] == nil { order.append(name) }
    tables[name, default: Table()].live.add(source, destination)
  }

  /// Keeps those pairs as keys whose objects both have rows by now.
  mutating func settle() {
    for name in order {
      // Taken out, so that its arrays are not copied.
      guard var table = tables.removeValue(forKey: name) else { continue }
      var left = LiveAssociations()
      for (source, destination) in table.live.pairs {
        // In a store by now, and to stay there.
        let isSaved =
          !source.isInserted && !destination.isInserted && !destination.isDeleted
          && destination.managedObjectContext != nil
          && source.objectID.rowKey != nil && destination.objectID.rowKey != nil
        if isSaved, table.sources.append(source.objectID) {
          _ = table.destinations.append(destination.objectID)
        } else {
          left.add(source, destination)
        }
      }
      table.live = left
      tables[name] = table
    }
  }

  // MARK: What came of what

  /// What came of the sources, in their order; of all when nil.
  func destinations(
    mapping name: String, of sources: [ManagedObject]?, in contexts: Contexts
  ) -> [ManagedObject] {
    guard let table = tables[name] else { return [] }
    guard let sources else {
      return (0..<table.destinations.count).map {
        contexts.destination.object(with: table.destinations.id(at: $0))
      } + table.live.pairs.map(\.destination)
    }
    return unique(sources.flatMap { destinations(of: $0, table, contexts) })
  }

  /// What came of the sources by any mapping.
  func destinations(of sources: [ManagedObject], in contexts: Contexts) -> [ManagedObject] {
    unique(
      sources.flatMap { source in
        order.flatMap { name in tables[name].map { destinations(of: source, $0, contexts) } ?? [] }
      })
  }

  private func destinations(
    of source: ManagedObject, _ table: Table, _ contexts: Contexts
  ) -> [ManagedObject] {
    table.sources.places(of: source.objectID).map {
      contexts.destination.object(with: table.destinations.id(at: $0))
    } + table.live.destinations(of: source)
  }

  /// Where the destinations came from, in their order; of all when nil.
  func sources(
    mapping name: String, of destinations: [ManagedObject]?, in contexts: Contexts
  ) -> [ManagedObject] {
    guard let table = tables[name] else { return [] }
    func object(_ place: Int) -> ManagedObject {
      contexts.source.object(with: table.sources.id(at: place))
    }
    guard let destinations else {
      return unique(
        (0..<table.sources.count).filter(table.sources.isFirst).map(object)
          + table.live.pairs.map(\.source))
    }
    return unique(
      destinations.flatMap { destination in
        table.destinations.places(of: destination.objectID).map(object)
          + table.live.sources(of: destination)
      })
  }

  private func unique(_ objects: [ManagedObject]) -> [ManagedObject] {
    if objects.count < 2 { return objects }
    var seen: Set<ObjectIdentifier> = []
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  // MARK: In portions

  /// How many pairs of a mapping are kept as keys.
  func settledCount(mapping name: String) -> Int { tables[name]?.sources.count ?? 0 }

  /// The destination objects of those that are not.
  func liveDestinations(mapping name: String) -> [ManagedObject] {
    tables[name]?.live.pairs.map(\.destination) ?? []
  }

  /// Pairs of a mapping that are kept as keys, with the values of both sides.
  func settled(
    _ places: Range<Int>, mapping name: String, in contexts: Contexts
  ) throws -> (sources: [ManagedObject], destinations: [ManagedObject]) {
    guard let table = tables[name] else { return ([], []) }
    return (
      try contexts.source.filledObjects(with: places.map { table.sources.id(at: $0) }),
      try contexts.destination.filledObjects(with: places.map { table.destinations.id(at: $0) })
    )
  }
}

/// Pairs of objects that are kept alive.
private struct LiveAssociations {
  private(set) var pairs: [(source: ManagedObject, destination: ManagedObject)] = []
  private var bySource: [ObjectIdentifier: [ManagedObject]] = [:]
  private var byDestination: [ObjectIdentifier: [ManagedObject]] = [:]

  mutating func add(_ source: ManagedObject, _ destination: ManagedObject) {
    pairs.append((source, destination))
    bySource[ObjectIdentifier(source), default: []].append(destination)
    byDestination[ObjectIdentifier(destination), default: []].append(source)
  }

  func destinations(of source: ManagedObject) -> [ManagedObject] {
    bySource[ObjectIdentifier(source)] ?? []
  }

  func sources(of destination: ManagedObject) -> [ManagedObject] {
    byDestination[ObjectIdentifier(destination)] ?? []
  }
}
