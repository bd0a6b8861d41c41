import CairnModel

// Deletes that a rule denies because of what the deleter did not know: the record stays for as long as
// another one that is there stands in the way.
//
// As with what goes along with an owner, this follows from what is known of the records and is written
// nowhere: every store comes to the same in whatever order the delete and the reference arrived, also
// the deleter's own. The delete itself is part of the record's state and takes effect once nothing
// stands in its way; until then it lies in quarantine, where a person sees it.
extension ImportPlanner {
  /// What stands in the way of a delete.
  struct Denial: Hashable {
    /// The relationship that is not empty.
    let relationship: String
    let record: RecordID
    /// When it was put there.
    let stamp: Stamp
  }

  /// Finds what more stays because deletes are denied, given what goes along with what.
  ///
  /// - Returns: Whether anything more does.
  mutating func keepDenied() -> Bool {
    if !schema.hasDenials { return false }
    var isChanged = false
    var visited: Set<RecordID> = []
    var next = items.keys.sorted()
    while !next.isEmpty {
      var shown: [RecordID] = []
      for id in next {
        looks += 1
        guard let item = items[id], item.after.survivor == nil, canHold(item.after),
          !item.after.registers.isEmpty, !isPresent(item),
          let plan = schema.entities[item.after.entity], plan.entity.layout.deniesDeletion,
          let denial = denial(of: item, plan)
        else { continue }
        for target in deleted(along: id, &visited) where kept[target] == nil {
          kept[target] = denial
          shown.append(target)
        }
      }
      isChanged = isChanged || !shown.isEmpty
      // What is there again may stand in the way of others.
      next = Set(shown.flatMap { mayBeDenied(by: $0) }).sorted()
    }
    return isChanged
  }

  /// The items whose delete a record denies, if any does.
  private mutating func mayBeDenied(by id: RecordID) -> Set<RecordID> {
    guard let item = items[id], let plan = schema.entities[item.after.entity] else { return [] }
    var found = Set(itemsReferring(to: id).map(\.record))
    for index in plan.referenceColumns
    where plan.columns[index].relationship?.inverseRelationship?.deleteRule == .deny {
      let register = item.after.registers[plan.columns[index].name]
      if let target = register?.value.reference { found.insert(resolve(target)) }
    }
    for side in plan.linkSides
    where side.relationship.inverseRelationship?.deleteRule == .deny {
      for (key, _) in currentLinks(of: id, side) {
        found.insert(resolve(key.owner == id ? key.member : key.owner))
      }
    }
    return found
  }

  /// The deletes because of which a record goes: its own, or those of what it goes along with.
  ///
  /// - Parameter visited: Where others have been already, and kept what they found.
  private mutating func deleted(
    along id: RecordID, _ visited: inout Set<RecordID>
  ) -> Set<RecordID> {
    var found: Set<RecordID> = []
    var next = [id]
    while let current = next.popLast() {
      looks += 1
      guard visited.insert(current).inserted, death(of: current) != nil, let item = items[current]
      else { continue }
      if hidden[current] == nil {
        found.insert(current)
      } else {
        next += owners(of: item)
      }
    }
    return found
  }

  /// What forbids to delete a record, if anything does.
  private mutating func denial(of item: Item, _ plan: SyncSchema.EntityPlan) -> Denial? {
    for column in plan.columns where column.relationship?.deleteRule == .deny {
      if let register = item.after.registers[column.name],
        let wanted = register.value.reference, let target = target(wanted, column)
      {
        return Denial(relationship: column.name, record: target, stamp: register.write.stamp)
      }
    }
    for side in plan.linkSides where side.relationship.deleteRule == .deny {
      for (key, state) in currentLinks(of: item.id, side) where state.isMember {
        let other = resolve(key.owner == item.id ? key.member : key.owner)
        load(other)
        guard isPresent(other) else { continue }
        return Denial(
          relationship: side.relationship.name, record: other, stamp: state.write.stamp)
      }
    }
    for relationship in Self.denying(plan) {
      guard let inverse = relationship.inverseRelationship else { continue }
      for id in candidates(for: item.id, inverse.name) {
        // Other entities may have a relationship of the same name, which denies nothing.
        guard id != item.id, let other = items[id], isPresent(other),
          isKind(id, relationship.destinationEntity),
          let register = other.after.registers[inverse.name],
          let target = register.value.reference, resolve(target) == item.id
        else { continue }
        return Denial(
          relationship: relationship.name, record: id, stamp: register.write.stamp)
      }
    }
    return nil
  }

  /// The relationships of an entity that deny a delete and are kept on their other side.
  private static func denying(_ plan: SyncSchema.EntityPlan) -> [RelationshipDescription] {
    plan.entity.relationshipsByName.values.filter { relationship in
      relationship.deleteRule == .deny && plan.names.place(of: relationship.name) == nil
        && relationship.inverseRelationship?.isToMany == false
    }.sorted { $0.name < $1.name }
  }

  /// The items that refer to a record, or may do so, by a property.
  private mutating func candidates(for id: RecordID, _ property: String) -> [RecordID] {
    for found in referrers(to: id) where found.property == property { load(found.record) }
    for found in waiting(for: id) where found.property == property { load(found.owner) }
    return itemsReferring(to: id).filter { $0.property == property }.map(\.record).sorted()
  }

  /// Takes what a record may keep from being deleted into the plan: what it refers to or referred to
  /// where the other side denies a delete, and is linked with.
  mutating func loadDenied(by item: Item) {
    guard schema.hasDenials, let plan = schema.entities[item.after.entity] else { return }
    for index in plan.referenceColumns {
      let column = plan.columns[index]
      guard column.relationship?.inverseRelationship?.deleteRule == .deny else { continue }
      let targets = [item.before, item.after].compactMap {
        $0?.registers[column.name]?.value.reference
      }
      for target in Set(targets) { loadDeleted(resolve(target)) }
    }
    for side in plan.linkSides
    where side.relationship.inverseRelationship?.deleteRule == .deny {
      for (key, _) in currentLinks(of: item.id, side) {
        loadDeleted(resolve(key.owner == item.id ? key.member : key.owner))
      }
    }
  }

  private mutating func loadDeleted(_ id: RecordID) {
    if items[id] == nil, entry(id)?.deletion != nil { load(id) }
  }

  // MARK: Writing down

  /// Whether a record was there before the plan in spite of its delete.
  private func wasKept(_ item: Item) -> Bool {
    guard item.row != nil, let before = item.before else { return false }
    return before.deletion != nil && !setting.isAlive(before)
  }

  /// Puts deletes that are denied into quarantine and the journal, and takes out those that are not any
  /// more.
  mutating func noteDenials(in plan: inout ImportPlan) {
    if !schema.hasDenials { return }
    let taken = Set(plan.held.map(\.key))
    for id in items.keys.sorted() {
      guard let item = items[id], !taken.contains(.record(id)) else { continue }
      if let denial = kept[id], let deletion = item.after.deletion {
        note(denial, of: item, deletion, in: &plan)
      } else if wasKept(item) {
        if held(.record(id)) != nil, !waitsForMore(.record(id), plan) {
          plan.released.append(.record(id))
        }
        if item.after.deletion.map({ item.before?.deletion == $0 }) ?? false, !isPresent(item) {
          conflicts += Conflict.lost(item.after)
        }
      }
    }
    conflicts.removeAll { $0.rule == .deleteWon && kept[$0.record] != nil }
  }

  /// Whether values of a record wait in quarantine that the batch does not try.
  ///
  /// The entry of a denied delete, which has the same place, would be the end of them. They are tried by themselves,
  /// and the delete is noted then.
  private mutating func waitsForMore(_ key: HeldKey, _ plan: ImportPlan) -> Bool {
    if plan.released.contains(key) { return false }
    return held(key)?.state.map { !$0.registers.isEmpty } ?? false
  }

  private mutating func note(
    _ denial: Denial, of item: Item, _ deletion: Deletion, in plan: inout ImportPlan
  ) {
    let key = HeldKey.record(item.id)
    if !waitsForMore(key, plan) {
      let earlier = held(key)
      plan.released.removeAll { $0 == key }
      plan.held.append(
        (
          key,
          QuarantineEntry(
            reason: .validation,
            message: "\(item.after.entity) \(item.id) cannot be deleted, because "
              + "\(denial.relationship) is not empty",
            source: source, since: earlier?.since ?? setting.now,
            content: .record(
              RecordState(id: item.id, entity: item.after.entity, deletion: deletion)),
            insteadOf: earlier)
        ))
    }
    if wasKept(item), item.before?.deletion == deletion { return }
    conflicts.append(
      Conflict(
        record: item.id, entity: item.after.entity, property: nil, losingValue: .null,
        losingStamp: deletion.stamp, winningValue: .reference(denial.record),
        winningStamp: denial.stamp, rule: .writeWon))
  }
}
