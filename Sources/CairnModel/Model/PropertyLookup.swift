// Inheritance multiplies properties: a small file can declare more than there is memory for.

extension EntityDescription {
  /// How many properties the entity has, inherited ones included.
  package var propertyCount: Int {
    sequence(first: self, next: { $0.superentity }).reduce(0) { $0 + $1.declaredProperties.count }
  }
}

/// Finds properties by name, with one table for each entity that is asked.
package struct PropertyLookup {
  private var tables: [ObjectIdentifier: [String: PropertyDescription]] = [:]

  package init() {}

  /// The property of that name, declared or inherited.
  package mutating func property(
    _ name: String, of entity: EntityDescription
  ) -> PropertyDescription? {
    let key = ObjectIdentifier(entity)
    if let table = tables[key] { return table[name] }
    let table = entity.propertiesByName
    tables[key] = table
    return table[name]
  }
}
