import CairnModel

extension ImportPlanner {
  /// Finds live records that share the values of a uniqueness constraint once the plan is carried
  /// out, and unites them, until none do.
  ///
  /// - Returns: Whether any did.
  mutating func settleUniqueness() -> Bool {
    if !schema.hasConstraints { return false }
    var isChanged = false
    // A union can bring about another; each one lessens the number of live records.
    while settleOnce(), needs.isEmpty { isChanged = true }
    return isChanged
  }

  private mutating func settleOnce() -> Bool {
    var holders: [UniquePlace: [RecordID]] = [:]
    var isNew = false
    for (id, item) in items
    where canHold(item.after) && (setting.isAlive(item.after) || kept[id] != nil) {
      guard let plan = schema.entities[item.after.entity] else { continue }
      for constraint in plan.constraints {
        guard let place = place(of: item.after, plan, constraint) else { continue }
        holders[place, default: []].append(id)
        guard isMoved(item, constraint) else { continue }
        guard let found = known.holders[place] else {
          needs.insert(.holders(place))
          continue
        }
        // Who holds the place now becomes part of the plan; whether it still does when the plan is
        // carried out is seen in the next round.
        for holder in found where items[holder] == nil {
          load(holder)
          isNew = isNew || items[holder] != nil
        }
      }
    }
    if isNew || !needs.isEmpty { return isNew }
    var united: Set<RecordID> = []
    for ids in holders.values.map({ $0.sorted() }).sorted(by: { $0[0] < $1[0] })
    where ids.count > 1 && united.isDisjoint(with: ids) && !askSource(about: ids) {
      unite(ids[0], ids[1])
      united.formUnion(ids)
    }
    return !united.isEmpty
  }

  /// Asks at once who holds the values of records that are new here: that is one plan less.
  mutating func askForHolders(of records: [RecordState]) {
    if !schema.hasConstraints { return }
    for record in records {
      guard known.hasNoneOfBatch || known.entries[record.id] == .some(nil),
        let plan = schema.entities[record.entity]
      else { continue }
      for constraint in plan.constraints {
        guard let place = place(of: record, plan, constraint), known.holders[place] == nil
        else { continue }
        needs.insert(.holders(place))
      }
    }
  }

  private mutating func place(
    of state: RecordState, _ plan: SyncSchema.EntityPlan, _ constraint: [String]
  ) -> UniquePlace? {
    UniquePlace(of: state, plan.entity, constraint) { resolve($0) }
  }

  private func isMoved(_ item: Item, _ constraint: [String]) -> Bool {
    guard item.row != nil, let before = item.before else { return true }
    return constraint.contains { name in
      guard let old = before.registers[name]?.value, let new = item.after.registers[name]?.value
      else { return before.registers[name] != item.after.registers[name] }
      return !old.isSame(as: new)
    }
  }
}
