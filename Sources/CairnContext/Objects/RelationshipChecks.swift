import CairnModel

/// What may not be related.
///
/// Core Data raises exceptions here; these trap with the same texts.
enum RelationshipChecks {
  static func refuse(_ value: Any, for relationship: RelationshipDescription) -> Never {
    // A value of the wrong class; records from outside are checked against the destination before.
    fatalError(
      "Unacceptable type of value for to-\(relationship.isToMany ? "many" : "one") relationship: "
        + "property = \"\(relationship.name)\"; desired type = "
        + "\(relationship.destinationEntity?.managedObjectClassName ?? "NSManagedObject"); given "
        + "type = \(type(of: value)); value = \(value).")
  }

  /// The value of a to-many relationship is the collection that its kind asks for.
  static func refuse(collection: Any, for relationship: RelationshipDescription) -> Never {
    let (kind, wanted) =
      relationship.isOrdered ? ("ordered to-many", "NSOrderedSet") : ("to-many", "NSSet")
    // As for a member of the wrong class.
    fatalError(
      "Unacceptable type of value for \(kind) relationship: property = \"\(relationship.name)\"; "
        + "desired type = \(wanted); given type = \(type(of: collection)); value = \(collection).")
  }

  static func check(
    _ destination: ManagedObject, of object: ManagedObject,
    for relationship: RelationshipDescription
  ) {
    if let entity = relationship.destinationEntity,
      !destination.entity.isKindOf(entity: entity)
    {
      refuse(destination, for: relationship)
    }
    switch (object.registry, destination.registry) {
    case (let a?, let b?):
      if a === b { return }
      // Two contexts of one program mixed up; data has no part in it.
      fatalError(
        "Illegal attempt to establish a relationship '\(relationship.name)' between objects in "
          + "different contexts.")
    case (let registry?, nil):
      Drafts.add(destination)
      registry.expectDrafts()
    case (nil, let registry?):
      Drafts.add(object)
      registry.expectDrafts()
    case (nil, nil):
      Drafts.add(object)
      Drafts.add(destination)
    }
  }
}
