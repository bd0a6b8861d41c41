// The plan out of what was decided: rows, links, orders and bookkeeping.
extension ImportPlanner {
  mutating func result(_ sorting: IncomingSorting) -> ImportPlan {
    var plan = ImportPlan()
    let holders = claimHolders()
    let ids = items.keys.sorted()
    let incoming = Set(sorting.records.map(\.id))
    let culprits = culprits(among: incoming)
    var lists = OrderedLists()
    for id in ids {
      guard let item = items[id] else { continue }
      let shown = isPresent(item) ? shownReferences(of: item, holders) : [:]
      addRow(of: item, shown, to: &plan)
      addEntry(of: item, shown, to: &plan)
      noteHiddenValues(of: item)
      noteLists(of: item, shown, in: &lists)
      plan.reading = believed(item.after.latestReading, plan.reading)
      if item.row != nil { plan.read.append(id) }
      if !incoming.contains(id), let culprit = culprit(of: id, among: incoming, culprits) {
        plan.culprits[id] = culprit
      }
    }
    addLinks(to: &plan, &lists)
    plan.orders = orders(of: lists)
    plan.held = sorting.held
    plan.released = sorting.released
    noteDenials(in: &plan)
    noteConflicts(in: &plan)
    forgetOrigins(of: Set(sorting.released), in: &plan)
    plan.looks = looks
    return plan
  }

  /// What waited is the join of what several stores have sent: none of them has all of it for sure.
  private func forgetOrigins(of released: Set<HeldKey>, in plan: inout ImportPlan) {
    if released.isEmpty { return }
    for (index, record) in plan.records.enumerated() where released.contains(.record(record.id)) {
      plan.records[index].origin = nil
    }
    for (index, link) in plan.linkStates.enumerated() where released.contains(.link(link.key)) {
      plan.linkStates[index].origin = nil
    }
  }

  private func believed(_ reading: ClockReading, _ other: ClockReading) -> ClockReading {
    reading.milliseconds <= setting.time.limit ? max(reading, other) : other
  }

  // MARK: Rows

  /// What the to-one relationships of a record's row show, by property.
  private mutating func shownReferences(
    of item: Item, _ holders: [Claim: RecordID]
  ) -> [String: RecordID] {
    guard let plan = schema.entities[item.after.entity] else { return [:] }
    var shown: [String: RecordID] = [:]
    for index in plan.referenceColumns {
      guard let wanted = item.after.registers.value(index, in: plan.names)?.reference else {
        continue
      }
      let column = plan.columns[index]
      guard let target = target(wanted, column) else {
        noteWrongKind(of: item, column, wanted)
        continue
      }
      if column.isExclusive,
        let holder = holders[Claim(target: target, relationship: column.claimName)],
        holder != item.id
      {
        noteLostClaim(of: item, column, target, to: holder)
        continue
      }
      shown[column.name] = target
    }
    return shown
  }

  private func addRow(of item: Item, _ shown: [String: RecordID], to plan: inout ImportPlan) {
    guard isPresent(item), let entity = schema.entities[item.after.entity] else {
      if item.row != nil {
        plan.rows.append(.init(id: item.id, entity: item.entry?.entity ?? "", kind: .delete))
      }
      return
    }
    var values: [ImportPlan.ColumnValue] = []
    values.reserveCapacity(item.row == nil ? entity.columns.count : 4)
    let registers = item.after.registers
    let strays = known.strays[item.id] ?? []
    for index in entity.columns.indices {
      let value: WireValue
      let written = registers.value(index, in: entity.names)
      if entity.columns[index].relationship != nil {
        guard written != nil || item.row == nil else { continue }
        value = shown[entity.columns[index].name].map { .reference($0) } ?? .null
      } else if let written {
        if written.reference != nil { continue }
        value = written
      } else if item.row == nil, entity.optionalColumns.contains(index) {
        // A new object has defaults that the record's writer, who does not know the attribute, did not
        // write: as after a migration, only what is mandatory keeps them.
        value = .null
      } else {
        continue
      }
      let isStray = !strays.isEmpty && strays.contains(entity.columns[index].name)
      if let old = item.row?.value(index, in: entity.names), old.isSame(as: value),
        !(isStray && item.hasNewWrite(of: entity.columns[index].name))
      {
        continue
      }
      values.append(.init(column: index, value: value, replacesStray: isStray))
    }
    if item.row == nil {
      plan.rows.append(
        .init(id: item.id, entity: item.after.entity, kind: .insert, values: values))
    } else if !values.isEmpty {
      plan.rows.append(
        .init(id: item.id, entity: item.after.entity, kind: .update, values: values))
    }
  }

  // MARK: Bookkeeping

  private mutating func addEntry(
    of item: Item, _ shown: [String: RecordID], to plan: inout ImportPlan
  ) {
    let isThere = isPresent(item)
    if item.entry == nil, item.after.isUnknown { return }
    var entry = item.entry ?? RecordEntry(entity: item.after.entity, key: nil)
    let old = entry
    entry.takeWrites(from: item.after)
    var waiting: [String: RecordID] = [:]
    if isThere {
      if item.row == nil {
        entry.key = nil
        // What an older version's writer does not know is as a migration fills it in: no write.
        let names = schema.entities[item.after.entity]?.names ?? .none
        for (index, name) in names.names.enumerated()
        where item.after.registers.value(index, in: names) == nil {
          entry.writes[name] = .filledIn
        }
      }
      entry.overlay = overlay(of: item.after, shown)
      for (name, value) in entry.overlay { waiting[name] = value.reference }
    } else {
      entry.key = nil
      entry.overlay = item.after.registers.byName.mapValues(\.value)
      waiting = waitingReferences(of: item)
      noteAwaitedSurvivor(of: item, in: &plan)
    }
    park(item.id, old: old, new: waiting, in: &plan)
    let isInserted = isThere && item.row == nil
    guard item.isNews || isInserted || entry != old else { return }
    plan.records.append(
      .init(
        id: item.id, entry: entry, isNews: item.isNews || livesAgain(item),
        origin: item.equalsIncoming ? source : nil))
  }

  /// The values that the row does not show.
  private mutating func overlay(
    of state: RecordState, _ shown: [String: RecordID]
  ) -> [String: WireValue] {
    guard let plan = schema.entities[state.entity] else { return [:] }
    var overlay = state.registers.valuesBeside(plan.names)
    for index in plan.referenceColumns {
      guard let wanted = state.registers.value(index, in: plan.names)?.reference else { continue }
      let name = plan.columns[index].name
      let resolved = resolve(wanted)
      if shown[name] != resolved { overlay[name] = .reference(resolved) }
    }
    return overlay
  }

  private func park(
    _ id: RecordID, old: RecordEntry, new: [String: RecordID], in plan: inout ImportPlan
  ) {
    func parking(_ name: String, _ target: RecordID) -> ImportPlan.Parking {
      .init(target: target, reference: WaitingReference(owner: id, property: name))
    }
    for (name, value) in old.overlay {
      if let target = value.reference, new[name] != target {
        plan.unparked.append(parking(name, target))
      }
    }
    for (name, target) in new {
      // What a record with an object could not show waits already.
      if old.key != nil, old.overlay[name]?.reference == target { continue }
      plan.parked.append(parking(name, target))
    }
  }

  // MARK: Links

  private mutating func addLinks(to plan: inout ImportPlan, _ lists: inout OrderedLists) {
    var actions: [LinkEnd: ImportPlan.LinkAction] = [:]
    plan.movedLinks = moved.sorted()
    for (key, link) in links.sorted(by: { $0.key < $1.key }) {
      plan.reading = believed(link.state.latestReading, plan.reading)
      let relation = shownRelation(of: key)
      if link.isNews || relation != nil && isShownAgain(key, link) {
        plan.linkStates.append(
          .init(key: key, state: link.state, origin: link.equalsIncoming ? source : nil))
      }
      guard let relation else { continue }
      let end = LinkEnd(key.relationship, .owner, key.owner)
      var action =
        actions[end] ?? .init(relationship: key.relationship, owner: key.owner)
      if link.state.isMember {
        action.added.append(key.member)
      } else {
        action.removed.append(key.member)
      }
      actions[end] = action
      lists.note(key.owner, relation.relationship)
      if let inverse = relation.inverse { lists.note(key.member, inverse) }
    }
    plan.links = actions.sorted {
      ($0.key.relationship, $0.key.record) < ($1.key.relationship, $1.key.record)
    }.map(\.value)
  }

  /// The relationship in which rows show a link, or that it is removed; nil where an end of it is not there.
  private mutating func shownRelation(of key: LinkKey) -> SyncSchema.LinkPlan? {
    guard let relation = schema.links[key.relationship],
      resolve(key.owner) == key.owner, resolve(key.member) == key.member,
      isPresent(key.owner), isPresent(key.member),
      isKind(key.owner, relation.relationship.entity),
      isKind(key.member, relation.relationship.destinationEntity)
    else { return nil }
    return relation
  }

  /// Whether a link comes back with one of its ends: who has forgotten the record has forgotten its links, too.
  private func isShownAgain(_ key: LinkKey, _ link: PlannedLink) -> Bool {
    link.state.isMember
      && [key.owner, key.member].contains { id in items[id].map { livesAgain($0) } ?? false }
  }
}
