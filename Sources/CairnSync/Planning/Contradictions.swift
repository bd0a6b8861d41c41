// Two values of one write: a program changed one of them past history, with SQL of its own, or a disk did. The greater
// bytes win in every store, so that all come to the same; what was right is not known. So the other goes into the
// journal, and the link counts as one whose stores differ until a comparison has read them.
extension ImportPlanner {
  /// Notes what was lost, without what is no loss.
  mutating func noteConflicts(in plan: inout ImportPlan) {
    for conflict in conflicts + kept.keys.sorted().flatMap({ conflictsOfKept[$0] ?? [] }) {
      guard conflict.isOfOneWrite, conflict.property != nil else {
        plan.conflicts.append(conflict)
        continue
      }
      if isOneValue(conflict) { continue }
      guard conflict.rule == .lastWriter, !isUnited(conflict.record) else {
        plan.conflicts.append(conflict)
        continue
      }
      plan.conflicts.append(conflict.lost(by: .contradiction))
      // What is not known here yet may be what the other value became in a union: that arrives with it.
      if isKnown(conflict.losingValue.reference), isKnown(conflict.winningValue.reference) {
        plan.contradictions += 1
      }
    }
  }

  /// Whether what a reference leads to has arrived here.
  private mutating func isKnown(_ reference: RecordID?) -> Bool {
    guard let reference else { return true }
    let target = resolve(reference)
    if let item = items[target] { return item.before != nil || !item.after.isUnknown }
    return entry(target) != nil
  }

  /// Whether two values of one write say the same, or one of them is known to be none.
  private mutating func isOneValue(_ conflict: Conflict) -> Bool {
    if let name = conflict.property, known.strays[conflict.record]?.contains(name) == true {
      return true
    }
    // What became of a union is in the journal for what it is.
    if conflict.rule == .united, conflict.winningValue == .null { return false }
    switch (conflict.losingValue.reference, conflict.winningValue.reference) {
    case (let a?, let b?): return resolve(a) == resolve(b)
    // A reference to a row that is not there, or has no record, reads as none.
    case (nil, _?): return conflict.losingValue == .null
    case (_?, nil): return conflict.winningValue == .null
    case (nil, nil): return conflict.losingValue.isKeptSame(as: conflict.winningValue)
    }
  }

  /// Whether another record has become this one: then a write of that may be as old as one of this.
  private func isUnited(_ id: RecordID) -> Bool {
    items.values.contains { $0.after.survivor == id }
  }
}
