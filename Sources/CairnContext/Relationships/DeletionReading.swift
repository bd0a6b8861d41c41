import CairnModel

/// Reads what the delete rules of deleted objects lead to, for all objects of one entity at once.
struct DeletionReading {
  let context: ManagedObjectContext

  func read(_ objects: [ManagedObject]) {
    var groups: [(rules: FollowedRules, objects: [ManagedObject])] = []
    var place = -1
    for object in objects {
      if place < 0 || groups[place].rules.layout !== object.layout {
        place = groups.firstIndex { $0.rules.layout === object.layout } ?? groups.count
        if place == groups.count { groups.append((FollowedRules(object.layout), [])) }
      }
      groups[place].objects.append(object)
    }
    for (rules, group) in groups {
      for (_, relationship) in rules.toManys {
        prefetch(relationship.name, of: group)
      }
    }
  }

  /// What cannot be read here is read, or reported, one by one.
  private func prefetch(_ name: String, of objects: [ManagedObject]) {
    guard objects.count > 1 else { return }
    try? RelationshipPrefetching(context: context).prefetch([name], of: objects)
  }
}
