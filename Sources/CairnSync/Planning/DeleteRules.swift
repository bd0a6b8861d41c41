import CairnModel

// What the model's delete rules bring about for records that a deleter did not know.
//
// A record that goes along with another is not written to: it stays what its writers made it, and has
// no object for as long as what it belongs to is deleted. So every store comes to the same without
// telling the others, in whatever order the two arrived, and both come back when a later write brings
// the owner back. A record that the deleter knew has a delete of its own, at the time of the owner's or
// later: if it lives in spite of that, a write brought it back, and it stays.
extension ImportPlanner {
  /// Finds the live items that go along with deleted records, and the deleted ones that stay because
  /// their delete is denied.
  ///
  /// From nothing, at first as if nothing were denied: each record that is kept hides fewer others,
  /// each that is shown may keep more, so this ends, and the same whatever was there before.
  ///
  /// - Returns: Whether that is different from before.
  mutating func settleFates() -> Bool {
    if !schema.hasCascades, !schema.hasDenials { return false }
    let before = (hidden, kept)
    kept = [:]
    repeat { hideOrphans() } while keepDenied()
    return hidden != before.0 || kept != before.1
  }

  /// Looks at each live item, and again at those that go along with one whose death has changed: a death only
  /// becomes later, so the order does not matter.
  private mutating func hideOrphans() {
    hidden = [:]
    if !schema.hasCascades { return }
    var family = Family()
    for id in items.keys { addFamily(of: id, to: &family) }
    var next = Array(family.owners.keys)
    while let id = next.popLast() {
      let deletion = items[id]?.after.deletion?.stamp
      var death = hidden[id]
      for owner in family.owners[id] ?? [] {
        let isKnown = items[owner] != nil
        let stamp = self.death(of: owner)
        if !isKnown, addFamily(of: owner, to: &family) { next.append(owner) }
        guard let stamp, deletion.map({ $0 < stamp }) ?? true else { continue }
        death = max(death ?? stamp, stamp)
      }
      if death == hidden[id] { continue }
      hidden[id] = death
      next += family.owned[id] ?? []
    }
  }

  /// Who goes along with whom, among the live items.
  private struct Family {
    var owners: [RecordID: Set<RecordID>] = [:]
    var owned: [RecordID: [RecordID]] = [:]
  }

  /// - Returns: Whether the record is a live item that may go along with another.
  @discardableResult
  private mutating func addFamily(of id: RecordID, to family: inout Family) -> Bool {
    guard let item = items[id], setting.isAlive(item.after), canHold(item.after) else {
      return false
    }
    let owners = self.owners(of: item)
    if owners.isEmpty { return false }
    family.owners[id] = owners
    for owner in owners { family.owned[owner, default: []].append(id) }
    return true
  }

  /// When a record was deleted, by itself or with another; nil for one that was not, or is unknown.
  mutating func death(of id: RecordID) -> Stamp? {
    if items[id] == nil {
      guard let entry = entry(id), entry.key == nil, entry.survivor == nil else { return nil }
      // It may be hidden itself, which only an item shows.
      load(id)
    }
    guard let item = items[id], kept[id] == nil else { return nil }
    return setting.isAlive(item.after) ? hidden[id] : item.after.deletion?.stamp
  }

  /// The records that a record goes along with when they are deleted.
  mutating func owners(of item: Item) -> Set<RecordID> {
    guard let plan = schema.entities[item.after.entity] else { return [] }
    var owners: Set<RecordID> = []
    for index in plan.takenAlongBy {
      let register = item.after.registers[plan.columns[index].name]
      if let owner = register?.value.reference { owners.insert(resolve(owner)) }
    }
    if plan.isTakenByReferences {
      let candidates = Set(waiting(for: item.id).map(\.owner))
        .union(items.values.lazy.filter { $0.row != nil || $0.entry == nil }.map(\.id))
      for candidate in candidates where taken(by: candidate).contains(item.id) {
        owners.insert(candidate)
      }
    }
    for side in plan.linkSides
    where side.relationship.inverseRelationship?.deleteRule == .cascade {
      for (key, state) in currentLinks(of: item.id, side) where state.isMember {
        owners.insert(resolve(key.owner == item.id ? key.member : key.owner))
      }
    }
    owners.remove(item.id)
    return owners
  }

  /// What a deleted record takes along by its own to-one relationships, as far as its deleter did not
  /// see the reference: otherwise the delete of what it leads to travels by itself.
  private mutating func taken(by id: RecordID) -> [RecordID] {
    let state = items[id]?.after ?? entry(id)?.state(id: id, row: nil)
    guard let state, let plan = schema.entities[state.entity] else { return [] }
    return plan.takes.compactMap { index -> RecordID? in
      guard let register = state.registers[plan.columns[index].name],
        let target = register.value.reference,
        !(state.deletion?.hasSeen(register.write.stamp) ?? false)
      else { return nil }
      return resolve(target)
    }
  }

  /// Takes what a record without object may take along into the plan.
  mutating func loadDependents(of item: Item) {
    guard schema.hasCascades, let plan = schema.entities[item.after.entity] else { return }
    for target in taken(by: item.id) { load(target) }
    for side in plan.linkSides where side.relationship.deleteRule == .cascade {
      for (key, state) in currentLinks(of: item.id, side) where state.isMember {
        load(resolve(key.owner == item.id ? key.member : key.owner))
      }
    }
  }

  /// The references that a record without object waits with: those to what takes it along, those to
  /// what it takes along, and those that deny its delete, so that either finds it.
  mutating func waitingReferences(of item: Item) -> [String: RecordID] {
    guard schema.hasCascades || schema.hasDenials, let plan = schema.entities[item.after.entity]
    else { return [:] }
    let columns: [Int]
    if hidden[item.id] != nil {
      columns = plan.takenAlongBy + plan.takes
    } else if item.after.deletion != nil, item.after.survivor == nil {
      columns = plan.takes + plan.deniedBy
    } else {
      return [:]
    }
    var found: [String: RecordID] = [:]
    for index in columns {
      let name = plan.columns[index].name
      if let target = item.after.registers[name]?.value.reference { found[name] = resolve(target) }
    }
    return found
  }

  /// The values that went with an owner, each of which nobody had seen who deleted it.
  mutating func noteHiddenValues(of item: Item) {
    guard let death = hidden[item.id] else { return }
    let wasHidden = item.row == nil && item.before.map(setting.isAlive) == true
    for (name, register) in item.after.registers.sorted(by: { $0.key < $1.key }) {
      if wasHidden, item.before?.registers[name] == register { continue }
      conflicts.append(
        Conflict(
          record: item.id, entity: item.after.entity, property: name,
          losingValue: register.value, losingStamp: register.write.stamp, winningValue: .null,
          winningStamp: death, rule: .deleteWon))
    }
  }

  // MARK: Blame

  /// Of the incoming records, the one that is to blame for what becomes of a record: itself, or what it
  /// goes along with, or what it refers to.
  mutating func culprit(of id: RecordID, among incoming: Set<RecordID>) -> RecordID? {
    var visited: Set<RecordID> = []
    var next = [id]
    while let current = next.popLast() {
      if incoming.contains(current) { return current }
      guard visited.insert(current).inserted, let item = items[current] else { continue }
      if hidden[current] != nil { next += owners(of: item).sorted() }
    }
    guard let item = items[id] else { return nil }
    let targets = item.after.registers.sorted { $0.key < $1.key }.compactMap(
      \.value.value.reference)
    return targets.first { incoming.contains($0) && items[$0]?.row != nil }
  }
}
