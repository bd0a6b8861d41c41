/// What a migration would drop, or might give to something else.
package struct MigrationLoss {
  /// Entities (`Person`) and properties (`Person.name`) of the source whose values the migration
  /// does not take over; sorted.
  package let names: [String]
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
        if kept.contains(property.name) || keptBelow.contains(property.name) { continue }
        lost.insert("\(source.name ?? "?").\(property.name)")
      }
    }
    names = lost.sorted()
    let properties = difference.entities.flatMap { change in
      change.uncertainProperties.map { "\(change.destination.name ?? "?").\($0)" }
    }
    uncertain = (difference.uncertainEntities + properties).sorted()
  }

  private static func isStored(_ property: PropertyDescription) -> Bool {
    !property.isTransient && !(property is FetchedPropertyDescription)
  }

  /// The names of the source's properties whose values go on.
  private static func kept(by changes: [ModelDifference.EntityChange]) -> Set<String> {
    var result: Set<String> = []
    for change in changes {
      for property in change.properties {
        guard let source = property.source, isStored(property.destination) else { continue }
        // A derived attribute computes its values and takes none over.
        if property.destination is DerivedAttributeDescription,
          !(source is DerivedAttributeDescription)
        {
          continue
        }
        result.insert(source.name)
      }
    }
    return result
  }
}
