import CairnContext
import Foundation

/// Which destination objects came of which source objects, by mapping.
///
/// Belongs to the manager's queue.
struct InstanceAssociations {
  private struct Table {
    var destinations: [ObjectIdentifier: [ManagedObject]] = [:]
    var sources: [ObjectIdentifier: [ManagedObject]] = [:]
    var allSources: [ManagedObject] = []
    var allDestinations: [ManagedObject] = []
  }
  private var tables: [String: Table] = [:]
  /// The names of mappings in the order of their first object.
  private var order: [String] = []

  mutating func associate(
    _ source: ManagedObject, with destination: ManagedObject, mapping name: String
  ) {
    if tables[name] == nil { order.append(name) }
    var table = tables.removeValue(forKey: name) ?? Table()
    if table.destinations[ObjectIdentifier(source), default: []].isEmpty {
      table.allSources.append(source)
    }
    table.destinations[ObjectIdentifier(source), default: []].append(destination)
    table.sources[ObjectIdentifier(destination), default: []].append(source)
    table.allDestinations.append(destination)
    tables[name] = table
  }

  /// What came of the sources, in their order; of all when nil.
  func destinations(mapping name: String, of sources: [ManagedObject]?) -> [ManagedObject] {
    guard let table = tables[name] else { return [] }
    guard let sources else { return table.allDestinations }
    return unique(sources.flatMap { table.destinations[ObjectIdentifier($0)] ?? [] })
  }

  /// What came of the sources by any mapping.
  func destinations(of sources: [ManagedObject]) -> [ManagedObject] {
    unique(
      sources.flatMap { source in
        order.flatMap { tables[$0]?.destinations[ObjectIdentifier(source)] ?? [] }
      })
  }

  /// Where the destinations came from, in their order; of all when nil.
  func sources(mapping name: String, of destinations: [ManagedObject]?) -> [ManagedObject] {
    guard let table = tables[name] else { return [] }
    guard let destinations else { return table.allSources }
    return unique(destinations.flatMap { table.sources[ObjectIdentifier($0)] ?? [] })
  }

  private func unique(_ objects: [ManagedObject]) -> [ManagedObject] {
    var seen: Set<ObjectIdentifier> = []
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}
