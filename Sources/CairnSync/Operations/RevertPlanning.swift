import CairnModel
import CairnStore
import Foundation

/// Decides what taking writes back does.
struct RevertPlanning {
  let request: RevertRequest
  let access: StoreAccess
  let ledger: Ledger
  private let writes: OriginWrites
  private let former: FormerValues
  private let known: KnownValues
  private let states: [RecordID: RecordState]
  private(set) var group: GroupStores
  private var steps: [RevertStep] = []
  private var kept: [KeptWrite] = []

  /// - Parameters:
  ///   - ledger: The local store's, with all captured.
  ///   - refused: Records that the local store refuses to change, with its words.
  init(
    _ request: RevertRequest, _ access: StoreAccess, _ ledger: Ledger, _ group: GroupStores,
    refused: [RecordID: String] = [:]
  ) throws {
    self.request = request
    self.access = access
    self.ledger = ledger
    var group = group
    writes = try OriginWrites(request, in: &group, local: ledger)
    let touched = Set(writes.records.keys)
    let deleted = Set(writes.deleted.keys)
    former = try FormerValues(of: touched, in: &group)
    known = try KnownValues(of: deleted, in: &group)
    states = try RecordReading(group.local).states(of: touched.union(deleted))
    self.group = group
    var inserted: Set<RecordID> = []
    for id in touched.sorted() where try !isRefused(id, refused) {
      if try planRecord(id) { inserted.insert(id) }
    }
    for id in deleted.sorted() where try !isRefused(id, refused) { try planDeleted(id) }
    try planInserted(inserted)
  }

  var plan: RevertPlan {
    let order = Dictionary(
      uniqueKeysWithValues: Set(steps.map(\.record)).sorted().enumerated().map { ($1, $0) })
    return RevertPlan(
      request: request,
      steps: steps.enumerated().sorted {
        (order[$0.element.record] ?? 0, $0.offset) < (order[$1.element.record] ?? 0, $1.offset)
      }.map(\.element), kept: kept, withoutHistory: writes.withoutHistory, away: group.away)
  }

  private mutating func keep(
    _ id: RecordID, _ property: String?, _ reason: KeptWrite.Reason
  ) {
    kept.append(
      KeptWrite(
        record: id, entity: states[id]?.entity ?? "", property: property, reason: reason))
  }

  private mutating func isRefused(_ id: RecordID, _ refused: [RecordID: String]) throws -> Bool {
    guard let why = refused[id] else { return false }
    keep(id, nil, .refused(why))
    return true
  }

  // MARK: Records that are there

  /// - Returns: Whether it was inserted, and is to be deleted.
  private mutating func planRecord(_ id: RecordID) throws -> Bool {
    guard let record = writes.records[id] else { return false }
    guard let state = states[id], let entry = try ledger.record(id) else {
      keep(id, nil, .notHere)
      return false
    }
    guard entry.key != nil, let plan = access.schema.entities[state.entity] else {
      keep(id, nil, entry.key == nil ? .superseded : .notInModel)
      return false
    }
    if record.isInserted {
      let isOthers = record.isWrittenByOthers || isWrittenElsewhere(record, state)
      if isOthers { keep(id, nil, .writtenByOthers) }
      return !isOthers
    }
    for (name, touch) in record.properties.sorted(by: { $0.key < $1.key }) where touch.count > 0 {
      if let side = plan.linkSides.first(where: { $0.relationship.name == name }) {
        try planLinks(id, side, touch)
      } else {
        try planProperty(id, name, touch, state)
      }
    }
    return false
  }

  private func isWrittenElsewhere(_ record: OriginWrites.Record, _ state: RecordState) -> Bool {
    let stores = Set(record.properties.values.map(\.store))
    return state.registers.contains { name, register in
      !name.hasSuffix(SyncSchema.positionSuffix)
        && register.write.stamp != PropertyWrite.filledIn.stamp
        && !stores.contains { register.write.stamp.store.isEpoch(of: $0) }
    }
  }

  private mutating func planProperty(
    _ id: RecordID, _ name: String, _ touch: OriginWrites.Touch, _ state: RecordState
  ) throws {
    guard let register = state.registers[name] else { return }
    let stamp = register.write.stamp
    guard touch.isLast, stamp.store.isEpoch(of: touch.store) else {
      let isEarlier = stamp.clock.milliseconds < touch.first
      return keep(id, name, isEarlier ? .notHere : .superseded)
    }
    var value = former.value(of: id, name, before: register, touch)
    if value == nil, register.write.lastMeant != nil {
      value = try targetOfRule(state.entity, name, stamp)
    }
    guard let value else { return keep(id, name, .formerValueUnknown) }
    if value.isSame(as: register.value) { return }
    if let target = value.reference, try !willBeThere(target) {
      return keep(id, name, .targetGone(target))
    }
    steps.append(
      RevertStep(
        record: id, entity: state.entity,
        kind: .set(property: name, from: register.value, to: value)))
  }

  private func willBeThere(_ id: RecordID) throws -> Bool {
    let id = try ledger.resolve(id)
    return try ledger.record(id)?.key != nil || writes.deleted[id] != nil
  }

  /// What a reference led to that a delete rule took away: the one record that can be meant.
  private func targetOfRule(_ entity: String, _ name: String, _ stamp: Stamp) throws -> WireValue? {
    guard let plan = access.schema.entities[entity], let index = plan.names.place(of: name),
      let destination = plan.columns[index].relationship?.destinationEntity
    else { return nil }
    let candidates = try writes.deleted.keys.filter { id in
      guard let entry = try ledger.record(id), let deletion = entry.deletion,
        deletion.stamp == stamp,
        let target = access.schema.entities[entry.entity]?.entity
      else { return false }
      return target.isKindOf(entity: destination)
    }
    return candidates.count == 1 ? candidates.first.map { .reference($0) } : nil
  }

  private mutating func planLinks(
    _ id: RecordID, _ side: SyncSchema.LinkSide, _ touch: OriginWrites.Touch
  ) throws {
    let name = side.relationship.name
    for key in try ledger.links(of: id, side) {
      guard let state = try ledger.link(key)?.state, state.stamp.store.isEpoch(of: touch.store),
        state.stamp.clock.milliseconds >= touch.first
      else { continue }
      let far = key.owner == id ? key.member : key.owner
      // Written several times, it may have been either way before.
      guard touch.isLast, touch.count == 1, touch.tracedSince != nil else {
        keep(id, name, touch.isLast ? .formerValueUnknown : .superseded)
        continue
      }
      let step = RevertStep(
        record: key.owner, entity: try ledger.record(key.owner)?.entity ?? "",
        kind: .link(
          relationship: side.plan.relationship.name, member: key.member,
          isMember: !state.isMember))
      if steps.contains(step) || writes.records[far]?.isInserted == true { continue }
      if !state.isMember, try !willBeThere(far) {
        keep(id, name, .targetGone(far))
      } else {
        steps.append(step)
      }
    }
  }

  // MARK: Records that were deleted

  private mutating func planDeleted(_ id: RecordID) throws {
    guard let entry = try ledger.record(id) else { return keep(id, nil, .notHere) }
    guard entry.key == nil else { return keep(id, nil, .superseded) }
    guard let plan = access.schema.entities[entry.entity] else {
      return keep(id, nil, .notInModel)
    }
    if entry.deletion?.policy ?? plan.policy == .deleteWins { return keep(id, nil, .deleteWins) }
    var values = writes.deleted[id] ?? [:]
    values.merge(known.values(of: id)) { $1 }
    for (name, value) in values {
      if let target = value.reference, try !willBeThere(target) { values[name] = nil }
    }
    let missing = plan.columns.map(\.name).filter { values[$0] == nil }
    let needed = missing.filter(plan.required.contains)
    if !needed.isEmpty || values.isEmpty {
      return keep(id, nil, .valuesUnknown(needed.isEmpty ? missing : needed))
    }
    steps.append(
      RevertStep(
        record: id, entity: entry.entity, kind: .bringBack(values: values, missing: missing)))
  }

  // MARK: Records that were inserted

  /// Deletes those that take nothing of others' with them.
  private mutating func planInserted(_ candidates: Set<RecordID>) throws {
    var going = candidates
    var needed: [RecordID: [RecordID]] = [:]
    var isSettled = false
    while !isSettled {
      isSettled = true
      for id in going.sorted() {
        let others = try dependents(of: id).filter { !going.contains($0) }
        if others.isEmpty { continue }
        needed[id] = others
        going.remove(id)
        isSettled = false
      }
    }
    for (id, others) in needed.sorted(by: { $0.key < $1.key }) {
      keep(id, nil, .neededByOthers(others))
    }
    for id in going.sorted() {
      steps.append(RevertStep(record: id, entity: states[id]?.entity ?? "", kind: .delete))
    }
  }

  /// The records that a delete would take along, or that would not be valid without this one.
  private func dependents(of id: RecordID) throws -> [RecordID] {
    guard let entry = try ledger.record(id), let object = ledger.objectID(for: entry) else {
      return []
    }
    var found: Set<RecordID> = []
    let row = try access.store.snapshots(for: [object]).first ?? nil
    for relationship in object.entity.relationshipsByName.values {
      let isMandatory = relationship.inverseRelationship.map { !$0.isToMany && !$0.isOptional }
      guard
        relationship.deleteRule == .cascade || relationship.deleteRule == .deny
          || isMandatory == true, !relationship.isTransient
      else { continue }
      var members: [ManagedObjectID] = []
      if relationship.isToMany {
        members = try access.store.members(of: relationship, owners: [object]).first ?? []
      } else if let slot = object.entity.layout.slotByName[relationship.name],
        case .object(let target)? = row?[slot]
      {
        members = [target]
      }
      for member in members {
        if let member = try ledger.recordID(for: member) { found.insert(member) }
      }
    }
    return found.subtracting([id]).sorted()
  }
}

extension RevertPlan {
  /// The steps as an operator's save takes them, with what the journal remembers.
  func decision(_ ledger: Ledger, _ access: StoreAccess) throws -> OperatorDecision {
    var decision = OperatorDecision()
    let reading = ClockReading(milliseconds: access.environment.now())
    let now = Stamp(clock: reading, store: ledger.writer)
    func lose(_ id: RecordID, _ entity: String, _ name: String, _ old: Register, _ new: WireValue) {
      decision.journal.append(
        Conflict(
          record: id, entity: entity, property: name, losingValue: old.value,
          losingStamp: old.write.stamp, winningValue: new, winningStamp: now, rule: .reverted))
    }
    let states = try RecordReading(
      GroupStores.Member(
        name: StoreReference.localName, id: ledger.storeID, access: access, link: nil,
        translation: nil)
    ).states(of: Set(steps.map(\.record)))
    let revived = Set(
      steps.filter { if case .bringBack = $0.kind { true } else { false } }.map(\.record))
    for step in steps {
      let registers = states[step.record]?.registers ?? Registers()
      switch step.kind {
      case .set(let property, _, let value):
        decision.edits.append(.set(step.record, property: property, value))
        if let old = registers[property] { lose(step.record, step.entity, property, old, value) }
      case .link(let relationship, let member, let isMember):
        guard
          let side = access.schema.entities[step.entity]?.linkSides.first(where: {
            $0.relationship.name == relationship
          })
        else { continue }
        decision.edits.append(
          .link(side.key(near: step.record, far: member), isMember: isMember))
      case .delete:
        decision.edits.append(.delete(step.record))
        for (name, old) in registers { lose(step.record, step.entity, name, old, .null) }
      case .bringBack(let values, _):
        decision.edits.append(.revive(step.record, entity: step.entity, values: values))
        decision.edits += try ledger.linksToShow(of: step.record, along: revived)
      }
    }
    return decision
  }
}

extension Ledger {
  /// The links of a deleted record that are shown again once it is back.
  ///
  /// - Parameter along: Records that come back with it.
  func linksToShow(of id: RecordID, along: Set<RecordID> = []) throws -> [OperatorEdit] {
    guard let entry = try record(id) else { return [] }
    var edits: [OperatorEdit] = []
    for side in schema.entities[entry.entity]?.linkSides ?? [] {
      for key in try links(of: id, side) {
        let far = key.owner == id ? key.member : key.owner
        guard try link(key)?.state.isMember == true,
          try along.contains(far) || record(far)?.key != nil
        else { continue }
        edits.append(.link(key, isMember: true))
      }
    }
    return edits
  }
}
