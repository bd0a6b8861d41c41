import CairnModel

// A record that became another gives its values to the one that stands for both. Where that has not arrived yet, they
// stay beside the tombstone and are given when it does: what it is an object of only it can tell.
extension ImportPlanner {
  /// By what the values of a tombstone wait for the record that stands for it; no property's name.
  static let survivorProperty = "#survivor"

  /// Gives a survivor the values of a record it stands for.
  ///
  /// - Parameter wasAlive: Whether that record had an object so far.
  /// - Returns: False when the survivor is unknown here.
  mutating func absorb(
    _ registers: Registers, of loser: RecordState, into survivor: RecordID, wasAlive: Bool = false
  ) -> Bool {
    let target = resolve(survivor)
    guard let before = load(target) else { return false }
    let theirs = RecordState(id: target, entity: before.entity, registers: registers)
    let merged = before.united(with: registers, of: loser.id, under: setting.policy(of: theirs))
    if wasAlive, !setting.isAlive(merged) {
      conflicts += Conflict.lost(registers, with: merged)
    } else {
      conflicts += Conflict.lostRegisters(
        mine: before, theirs: theirs, merged: merged, rule: .united)
    }
    noteValuesWithoutPlace(of: loser.entity, registers, in: before)
    items[target]?.after = merged
    items[target]?.equalsIncoming = false
    return true
  }

  /// Notes a delete of a record that became another one meanwhile, of which its deleter did not know.
  ///
  /// It takes nothing from the survivor: should it, who lives would depend on what arrives first, the union or the
  /// delete. A delete that the record had outlived when it was united came with the union, and is no news.
  mutating func noteDelete(of loser: RecordState, before: RecordState?, losingTo id: RecordID) {
    guard let deletion = loser.deletion, let before else { return }
    let isNews =
      before.survivor == nil
      ? before.deletion != nil && !setting.isAlive(before)
      : before.deletion.map { $0.stamp < deletion.stamp } ?? true
    let target = resolve(id)
    guard isNews, let survivor = load(target), setting.isAlive(survivor),
      let latest = survivor.registers.map(\.value).max(by: { $0.write.stamp < $1.write.stamp })
    else { return }
    conflicts.append(
      Conflict(
        record: target, entity: survivor.entity, property: nil, losingValue: .null,
        losingStamp: deletion.stamp, winningValue: latest.value,
        winningStamp: latest.write.stamp, rule: .united))
  }

  /// Gives a record that has just arrived what waits for it with tombstones, those of chains of them, too.
  mutating func absorbWaiting(for id: RecordID) {
    for waiting in waiting(for: id) where waiting.property == Self.survivorProperty {
      guard let state = load(waiting.owner), let survivor = state.survivor,
        !state.registers.isEmpty, absorb(state.registers, of: state, into: survivor)
      else { continue }
      items[waiting.owner]?.after.registers = [:]
      items[waiting.owner]?.equalsIncoming = false
    }
  }

  /// Notes for what the values of a tombstone wait, or wait no longer.
  mutating func noteAwaitedSurvivor(of item: Item, in plan: inout ImportPlan) {
    func parking(_ state: RecordState?) -> RecordID? {
      guard let state, let survivor = state.survivor, !state.registers.isEmpty else { return nil }
      return survivor
    }
    let reference = WaitingReference(owner: item.id, property: Self.survivorProperty)
    let (old, new) = (parking(item.before), parking(item.after).map { resolve($0) })
    // Under each record of a chain, since any of them may arrive.
    if let old, new == nil {
      for target in chain(from: old) {
        plan.unparked.append(.init(target: target, reference: reference))
      }
    }
    if let new { plan.parked.append(.init(target: new, reference: reference)) }
  }

  private mutating func chain(from id: RecordID) -> [RecordID] {
    var found = [id]
    while let last = found.last {
      let next = items[last].map(\.after.survivor) ?? entry(last)?.survivor
      guard let next, next < last else { break }
      found.append(next)
    }
    return found
  }

  /// Notes the values that no object of the survivor's entity has a place for, being of another one: it keeps them
  /// beside its row, where no program sees them.
  mutating func noteValuesWithoutPlace(
    of entity: String, _ registers: Registers, in survivor: RecordState
  ) {
    guard entity != survivor.entity, let plan = schema.entities[survivor.entity] else { return }
    let names = Set(plan.columns.map(\.positionName)).union(plan.names.names)
    for (name, register) in registers.sorted(by: { $0.key < $1.key })
    where !names.contains(name) && register.value != .null {
      conflicts.append(
        Conflict(
          record: survivor.id, entity: survivor.entity, property: name,
          losingValue: register.value, losingStamp: register.write.stamp, winningValue: .null,
          winningStamp: register.write.stamp, rule: .united))
    }
  }

  /// Notes a reference that is not shown any more because what it leads to became a record of an entity that the
  /// relationship does not lead to.
  mutating func noteWrongKind(of item: Item, _ column: SyncSchema.Column, _ wanted: RecordID) {
    let target = resolve(wanted)
    guard let register = item.after.registers[column.name], isPresent(target),
      items[target].map({ $0.before != $0.after }) == true || item.before != item.after
    else { return }
    conflicts.append(
      Conflict(
        record: item.id, entity: item.after.entity, property: column.name,
        losingValue: .reference(target), losingStamp: register.write.stamp, winningValue: .null,
        winningStamp: register.write.stamp, rule: .united))
  }
}
