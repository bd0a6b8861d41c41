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
    referring = nil
    repeat { hideOrphans() } while keepDenied()
    return hidden != before.0 || kept != before.1
  }

  /// Takes each death, the latest first, to all that goes along with it: what is reached has its own by then, since
  /// of several the latest counts.
  private mutating func hideOrphans() {
    hidden = [:]
    if !schema.hasCascades { return }
    let owned = families()
    var deaths: [(stamp: Stamp, id: RecordID)] = []
    for id in owned.keys where kept[id] == nil {
      guard let item = items[id], !setting.isAlive(item.after), let deletion = item.after.deletion
      else { continue }
      deaths.append((deletion.stamp, id))
    }
    deaths.sort { $0 > $1 }
    for death in deaths {
      var next = [death.id]
      while let owner = next.popLast() {
        for id in owned[owner] ?? [] where hidden[id] == nil {
          looks += 1
          if let deletion = items[id]?.after.deletion, deletion.stamp >= death.stamp { continue }
          hidden[id] = death.stamp
          next.append(id)
        }
      }
    }
  }

  /// By owner, the live items that go along with it; what they hang on is taken into the plan, where it has no object.
  private mutating func families() -> [RecordID: [RecordID]] {
    var owned: [RecordID: [RecordID]] = [:]
    var next = items.keys.sorted()
    var seen = Set(next)
    while let id = next.popLast() {
      looks += 1
      guard let item = items[id], mayGoAlong(item) else { continue }
      for owner in owners(of: item) {
        owned[owner, default: []].append(id)
        // It may be hidden itself, which only an item shows.
        _ = death(of: owner)
        if items[owner] != nil, seen.insert(owner).inserted { next.append(owner) }
      }
    }
    return owned
  }

  private func mayGoAlong(_ item: Item) -> Bool {
    setting.isAlive(item.after) && canHold(item.after)
  }

  /// Lets a record that has just come in go along with what it hangs on, as far as that is known by now; all fates
  /// are found anew once nothing more comes in.
  mutating func hideForNow(_ id: RecordID) {
    guard schema.hasCascades, let item = items[id], mayGoAlong(item) else { return }
    for owner in owners(of: item) {
      looks += 1
      guard let stamp = death(of: owner), item.after.deletion.map({ $0.stamp < stamp }) ?? true
      else { continue }
      hidden[id] = max(hidden[id] ?? stamp, stamp)
    }
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
      var candidates = Set(waiting(for: item.id).map(\.owner))
      for referrer in itemsReferring(to: item.id) {
        guard let other = items[referrer.record], other.row != nil || other.entry == nil else {
          continue
        }
        candidates.insert(other.id)
      }
      for candidate in candidates where taken(by: candidate).contains(item.id) {
        looks += 1
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

  /// Notes the values that went with an owner, each of which no deleter had seen.
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

  /// For the records that go along with an incoming one, that one: of several, the one that is nearest.
  mutating func culprits(among incoming: Set<RecordID>) -> [RecordID: RecordID] {
    var owned: [RecordID: [RecordID]] = [:]
    for id in hidden.keys.sorted() {
      guard let item = items[id], !incoming.contains(id) else { continue }
      for owner in owners(of: item) { owned[owner, default: []].append(id) }
    }
    var found: [RecordID: RecordID] = [:]
    var next = owned.keys.filter(incoming.contains).sorted().map { (owner: $0, culprit: $0) }
    while !next.isEmpty {
      var reached: [(owner: RecordID, culprit: RecordID)] = []
      for (owner, culprit) in next {
        for id in owned[owner] ?? [] where found[id] == nil {
          looks += 1
          found[id] = culprit
          reached.append((id, culprit))
        }
      }
      next = reached
    }
    return found
  }

  /// Of the incoming records, the one that is to blame for what becomes of another: what it goes along with, or what
  /// it refers to.
  ///
  /// - Parameter culprits: See ``culprits(among:)``.
  func culprit(
    of id: RecordID, among incoming: Set<RecordID>, _ culprits: [RecordID: RecordID]
  ) -> RecordID? {
    if let culprit = culprits[id] { return culprit }
    guard let item = items[id] else { return nil }
    let targets = item.after.registers.sorted { $0.key < $1.key }.compactMap(
      \.value.value.reference)
    return targets.first { incoming.contains($0) && items[$0]?.row != nil }
  }
}
