extension ImportPlanner {
  /// Whether a record has an object, before or after.
  private struct Presence: Hashable {
    let was: Bool
    let isThere: Bool
  }

  /// Takes into the plan whatever the coming and going of its records concerns, until nothing more
  /// comes in: references that waited, rows that refer to what goes, records that go along.
  mutating func settlePresence() {
    var followed: [RecordID: Presence] = [:]
    var isChanged = true
    while isChanged {
      isChanged = settleFates()
      var next = items.keys.sorted()
      loaded = []
      while !next.isEmpty {
        for id in next {
          looks += 1
          guard let item = items[id] else { continue }
          let presence = Presence(was: item.row != nil, isThere: isPresent(item))
          if followed[id] == presence { continue }
          followed[id] = presence
          isChanged = true
          follow(item, presence)
        }
        // What came in by that is followed at once, along a chain to its end.
        next = takeLoaded()
        for id in next { hideForNow(id) }
      }
    }
  }

  private mutating func takeLoaded() -> [RecordID] {
    defer { loaded = [] }
    return loaded.sorted()
  }

  private mutating func follow(_ item: Item, _ presence: Presence) {
    let plan =
      schema.entities[item.after.entity] ?? item.before.flatMap { schema.entities[$0.entity] }
    switch (presence.was, presence.isThere) {
    case (false, true):
      loadWaiting(for: item.id)
      lookAtLinks(of: item.id, item.after)
    case (true, false):
      loadReferrers(to: item.id, plan)
      loadDependents(of: item)
    case (false, false):
      // A tombstone: what waits for it may have to go along.
      if plan?.takesReferrers == true { loadWaiting(for: item.id) }
      loadDependents(of: item)
    case (true, true): break
    }
    loadDenied(by: item)
    if let plan, presence.was || presence.isThere { followClaims(item, plan, presence.isThere) }
    if item.after.survivor != nil, item.before?.survivor == nil {
      loadWaiting(for: item.id)
      if presence.was { loadReferrers(to: item.id, plan) }
    }
  }

  private mutating func loadWaiting(for id: RecordID) {
    for waiting in waiting(for: id) { load(waiting.owner) }
  }

  /// The references that wait for a record, those before the plan only.
  mutating func waiting(for id: RecordID) -> [WaitingReference] {
    if known.nothingWaits { return [] }
    if let found = known.waiting[id] { return found }
    needs.insert(.waiting(id))
    return []
  }

  private mutating func loadReferrers(to id: RecordID, _ plan: SyncSchema.EntityPlan?) {
    guard plan?.isReferredTo == true else { return }
    for referrer in referrers(to: id) { load(referrer.record) }
  }

  /// The records whose rows refer to a record, before the plan.
  mutating func referrers(to id: RecordID) -> [Referrer] {
    if let found = known.referrers[id] { return found }
    needs.insert(.referrers(id))
    return []
  }

  // MARK: Claims

  /// What a record has, or had, for itself alone concerns the others that want it.
  private mutating func followClaims(
    _ item: Item, _ plan: SyncSchema.EntityPlan, _ isThere: Bool
  ) {
    for column in plan.columns where column.isExclusive {
      let wanted = isThere ? item.after.registers[column.name]?.value.reference : nil
      let target = wanted.map { resolve($0) }
      if let target, (items[target].map { $0.row != nil } ?? (entry(target)?.key != nil)) {
        for holder in referrers(to: target) where holder.property == column.name {
          load(holder.record)
        }
      }
      if let old = item.row?[column.name]?.reference.map({ resolve($0) }), old != target {
        loadWaiting(for: old)
      }
    }
  }

  /// A target and the relationship in which only one record at a time can have it.
  struct Claim: Hashable {
    let target: RecordID
    let relationship: String
  }

  /// By claim, the record that has it: the one that wrote it last.
  mutating func claimHolders() -> [Claim: RecordID] {
    var holders: [Claim: (stamp: Stamp, id: RecordID)] = [:]
    if !schema.hasExclusiveColumns { return [:] }
    for (id, item) in items where isPresent(item) {
      guard let plan = schema.entities[item.after.entity] else { continue }
      for column in plan.columns where column.isExclusive {
        guard let register = item.after.registers[column.name],
          let wanted = register.value.reference, let target = target(wanted, column)
        else { continue }
        let claim = Claim(target: target, relationship: column.claimName)
        let write = (stamp: register.write.stamp, id: id)
        if let other = holders[claim], other > write { continue }
        holders[claim] = write
      }
    }
    return holders.mapValues(\.id)
  }

  /// Notes that a record does not get what only one can have, in the plan that hides it: where one of the three is
  /// news.
  mutating func noteLostClaim(
    of item: Item, _ column: SyncSchema.Column, _ target: RecordID, to holder: RecordID
  ) {
    let isNews = [item.id, holder, target].contains { id in
      items[id].map { $0.before != $0.after || $0.row == nil } ?? false
    }
    guard isNews, let lost = item.after.registers[column.name],
      let won = items[holder]?.after.registers[column.name]
    else { return }
    conflicts.append(
      Conflict(
        record: item.id, entity: item.after.entity, property: column.name,
        losingValue: .reference(target), losingStamp: lost.write.stamp,
        winningValue: .reference(holder), winningStamp: won.write.stamp, rule: .lastWriter))
  }

  /// The record that a reference leads to, if it is there and of the right kind.
  mutating func target(_ wanted: RecordID, _ column: SyncSchema.Column) -> RecordID? {
    let id = resolve(wanted)
    guard isPresent(id), let name = entity(of: id), let plan = schema.entities[name] else {
      return nil
    }
    if let destination = column.relationship?.destinationEntity,
      !plan.entity.isKindOf(entity: destination)
    {
      return nil
    }
    return id
  }
}
