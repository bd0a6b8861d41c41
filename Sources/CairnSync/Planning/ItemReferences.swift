// Which items of a plan refer to which, by the relationships that delete rules follow.
extension ImportPlanner {
  /// The items that refer to a record by a relationship that takes it along or denies a delete, whether their rows
  /// show it or not.
  mutating func itemsReferring(to id: RecordID) -> Set<Referrer> {
    if referring == nil {
      referring = [:]
      for item in items.values { noteReferences(of: item) }
    }
    return referring?[id] ?? []
  }

  /// Adds what an item refers to.
  mutating func noteReferences(of item: Item) {
    guard let plan = schema.entities[item.after.entity] else { return }
    for index in plan.referenceColumns {
      let column = plan.columns[index]
      let rules = [
        column.relationship?.deleteRule, column.relationship?.inverseRelationship?.deleteRule,
      ]
      guard column.relationship?.deleteRule == .cascade || rules.contains(.deny),
        let target = item.after.registers.value(index, in: plan.names)?.reference
      else { continue }
      looks += 1
      let referrer = Referrer(record: item.id, property: column.name)
      let found = resolve(target)
      referring?[found, default: []].insert(referrer)
    }
  }
}
