/// What a migration would drop, or might give to something else.
package struct MigrationLoss {
  /// Entities (`Person`), properties (`Person.name`) and elements of composite attributes
  /// (`Person.address.city`) of the source whose values the migration does not take over; sorted.
  package let names: [String]
  /// Ordered relationships (`Person.pets`) of the source that go on without their order; sorted.
  package let orders: [String]
  /// Entities and properties of the destination of which names and renaming identifiers say
  /// different things: the values could go to another one; sorted.
  package let uncertain: [String]

  package init(_ difference: ModelDifference) {
    var lost = Set(difference.removedEntities.map { $0.name ?? "?" })
    for change in difference.entities {
      guard let source = change.source else { continue }
      let kept = Self.kept(by: [change])
      // Rows are of entities that are not abstract; of an abstract one it is enough that a
      // descendant goes on with the property.
      let keptBelow =
        source.isAbstract
        ? Self.kept(
          by: difference.entities.filter {
            $0.source?.isKindOf(entity: source) ?? false
          }) : kept
      for property in source.properties where Self.isStored(property) {
        let paths = Self.lost(property, property.name, kept.union(keptBelow))
        lost.formUnion(paths.map { "\(source.name ?? "?").\($0)" })
      }
    }
    names = lost.sorted()
    orders = Set(difference.entities.flatMap(Self.lostOrders)).sorted()
    let properties = difference.entities.flatMap { change in
      change.uncertainProperties.map { "\(change.destination.name ?? "?").\($0)" }
    }
    uncertain = (difference.uncertainEntities + properties).sorted()
  }

  /// Whether a store can follow without losing anything or confusing one thing with another.
  package var isEmpty: Bool { names.isEmpty && orders.isEmpty && uncertain.isEmpty }

  private static func lostOrders(of change: ModelDifference.EntityChange) -> [String] {
    change.properties.compactMap { property in
      guard let old = property.source as? RelationshipDescription,
        let new = property.destination as? RelationshipDescription,
        isStored(old), isStored(new), old.isToMany, old.isOrdered, !new.isOrdered
      else { return nil }
      return "\(change.source?.name ?? "?").\(old.name)"
    }
  }

  private static func isStored(_ property: PropertyDescription) -> Bool {
    !property.isTransient && !(property is FetchedPropertyDescription)
  }

  /// A property, or those of its elements, that are not among what goes on.
  private static func lost(
    _ property: PropertyDescription, _ path: String, _ kept: Set<String>
  ) -> [String] {
    if !kept.contains(path) { return [path] }
    guard let composite = property as? CompositeAttributeDescription else { return [] }
    return composite.elements.flatMap { lost($0, "\(path).\($0.name)", kept) }
  }

  /// The names of the source's properties whose values go on, and the paths of their elements.
  private static func kept(by changes: [ModelDifference.EntityChange]) -> Set<String> {
    var result: Set<String> = []
    func keep(_ change: ModelDifference.PropertyChange, below path: String) {
      guard let source = change.source else { return }
      // What becomes of another type is refused, not dropped.
      guard change.destination is CompositeAttributeDescription else {
        return keepAll(of: source, path + source.name)
      }
      result.insert(path + source.name)
      for element in change.elements { keep(element, below: "\(path)\(source.name).") }
    }
    func keepAll(of property: PropertyDescription, _ path: String) {
      result.insert(path)
      for element in (property as? CompositeAttributeDescription)?.elements ?? [] {
        keepAll(of: element, "\(path).\(element.name)")
      }
    }
    for change in changes {
      for property in change.properties where isStored(property.destination) {
        // A derived attribute computes its values and takes none over.
        if property.destination is DerivedAttributeDescription,
          !(property.source is DerivedAttributeDescription)
        {
          continue
        }
        keep(property, below: "")
      }
    }
    return result
  }
}
