import CairnModel

/// The ordered relationships whose members come, go or move.
struct OrderedLists {
  struct List: Hashable {
    let owner: RecordID
    let relationship: ObjectIdentifier
  }
  private(set) var relationships: [List: RelationshipDescription] = [:]

  mutating func note(_ owner: RecordID, _ relationship: RelationshipDescription) {
    guard relationship.isOrdered else { return }
    relationships[List(owner: owner, relationship: ObjectIdentifier(relationship))] = relationship
  }
}

extension ImportPlanner {
  /// Whether a record is of an entity or of one of its subentities.
  mutating func isKind(_ id: RecordID, _ wanted: EntityDescription?) -> Bool {
    guard let wanted, let name = entity(of: id), let plan = schema.entities[name] else {
      return wanted == nil
    }
    return plan.entity.isKindOf(entity: wanted)
  }

  /// Notes the lists that a record comes into or moves in.
  mutating func noteLists(
    of item: Item, _ shown: [String: RecordID], in lists: inout OrderedLists
  ) {
    guard let plan = schema.entities[item.after.entity] else { return }
    for index in plan.referenceColumns {
      let column = plan.columns[index]
      guard let inverse = column.orderedInverse, let owner = shown[column.name] else { continue }
      let name = column.positionName
      // A list that has just got its order has no row yet that shows the places.
      let isMoved =
        batch.isModelChange || item.before?.registers[name] != item.after.registers[name]
      if isMoved || item.row?[column.name]?.reference != owner { lists.note(owner, inverse) }
    }
  }

  /// The members of each list in the order of their places; those without one come last.
  mutating func orders(
    of lists: OrderedLists
  ) -> [ImportPlan.OrderAction] {
    var actions: [ImportPlan.OrderAction] = []
    if lists.relationships.isEmpty { return [] }
    let members = plannedMembers()
    for (list, relationship) in lists.relationships {
      guard isPresent(list.owner), let name = entity(of: list.owner),
        let plan = schema.entities[name],
        let side = schema.orderedSide(relationship, of: plan.entity)
      else { continue }
      let sorted = self.members(of: list.owner, side, members).sorted { a, b in
        switch (a.key, b.key) {
        case (let x?, let y?) where x != y: return x < y
        case (_?, nil): return true
        case (nil, _?): return false
        case (_, _): return a.id < b.id
        }
      }
      actions.append(
        .init(owner: list.owner, relationship: relationship.name, members: sorted.map(\.id)))
    }
    return actions.sorted { ($0.owner, $0.relationship) < ($1.owner, $1.relationship) }
  }

  /// The items that refer to the owners of lists, by list.
  private mutating func plannedMembers() -> [OrderedLists.List: [RecordID]] {
    var found: [OrderedLists.List: [RecordID]] = [:]
    for (id, item) in items where isPresent(item) {
      guard let plan = schema.entities[item.after.entity] else { continue }
      for index in plan.referenceColumns {
        let column = plan.columns[index]
        guard let inverse = column.orderedInverse,
          let target = item.after.registers[column.name]?.value.reference
        else { continue }
        let list = OrderedLists.List(
          owner: resolve(target), relationship: ObjectIdentifier(inverse))
        found[list, default: []].append(id)
      }
    }
    return found
  }

  private mutating func members(
    of owner: RecordID, _ side: SyncSchema.OrderedSide,
    _ planned: [OrderedLists.List: [RecordID]]
  ) -> [(id: RecordID, key: PositionKey?)] {
    switch side.places {
    case .link(let link):
      return currentLinks(of: owner, link).compactMap { key, state in
        let far = key.owner == owner ? key.member : key.owner
        guard state.isMember, resolve(far) == far, isPresent(far) else { return nil }
        return (far, state[keyPath: link.position(key, near: owner)].flatMap(Self.position))
      }
    case .register(let name):
      guard let column = side.relationship.inverseRelationship?.name else { return [] }
      let list = OrderedLists.List(
        owner: owner, relationship: ObjectIdentifier(side.relationship))
      var found = (planned[list] ?? []).map { id in
        (id: id, key: items[id]?.after.registers[name].flatMap(Self.position))
      }
      guard items[owner].map({ $0.row != nil }) ?? true else { return found }
      for referrer in referrers(to: owner) where referrer.property == column {
        let id = referrer.record
        guard items[id] == nil, isKind(id, side.relationship.destinationEntity),
          let entry = entry(id), entry.key != nil
        else { continue }
        found.append((id: id, key: entry.overlay[name].flatMap(Self.position)))
      }
      return found
    }
  }

  private static func position(_ register: Register) -> PositionKey? { position(register.value) }

  private static func position(_ value: WireValue) -> PositionKey? {
    guard case .data(let data) = value else { return nil }
    return PositionKey(data: data)
  }
}
