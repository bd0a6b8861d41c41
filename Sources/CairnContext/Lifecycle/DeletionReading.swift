import CairnModel

/// Reads what the delete rules of deleted objects lead to, for all objects of one entity at once.
struct DeletionReading {
  let context: ManagedObjectContext

  /// The members of a to-many relationship of several owners.
  func readMembers(of relationship: RelationshipDescription, _ owners: [ManagedObject]) {
    guard owners.count > 1 else { return }
    // What cannot be read here is read, or reported, one by one.
    try? RelationshipPrefetching(context: context).prefetch([relationship.name], of: owners)
  }

  /// The objects that to-one relationships of several objects lead to, where following the rule
  /// takes their values: to delete them, or to take the object out of the other side's slot.
  ///
  /// - Returns: Those objects, which the caller has to hold until they are followed.
  func readDestinations(of objects: [ManagedObject], _ rules: FollowedRules) -> [ManagedObject] {
    var destinations: [ManagedObject] = []
    if objects.count == 1 { return destinations }
    for rule in rules.toOnes where rule.needsDestination {
      for object in objects where !object.isUnread {
        if let target = InverseMaintenance.target(of: object, at: rule.slot), !target.isDeleted {
          destinations.append(target)
        }
      }
    }
    try? FaultFiring.fill(destinations, maximumAge: context.maximumRowAge)
    return destinations
  }
}
