extension ImportPlanner {
  /// The state of a link before the plan; nil when it is unknown here.
  mutating func link(_ key: LinkKey) -> LinkState? {
    if known.hasNoLinks { return nil }
    if let state = known.links[key] { return state }
    needs.insert(.link(key))
    return nil
  }

  /// The links of a record on one side, those before the plan only.
  mutating func links(of id: RecordID, _ side: SyncSchema.LinkSide) -> [LinkKey] {
    if known.hasNoLinks { return [] }
    let end = LinkEnd(side, of: id)
    if let keys = known.linksOfRecords[end] { return keys }
    needs.insert(.links(end))
    return []
  }

  mutating func merge(_ incoming: LinkChange) {
    let key = resolved(incoming.key)
    merge(key, incoming.state, isIncoming: key == incoming.key)
  }

  private mutating func merge(_ key: LinkKey, _ state: LinkState, isIncoming: Bool) {
    let mine = links[key]?.state ?? link(key)
    let merged = mine?.joined(with: state) ?? state
    if isIncoming, let mine {
      noteConflicts(key, mine, state)
      if batch.journalsDeletes, mine.isMember, !merged.isMember { noteRemoval(key, mine, merged) }
    }
    if isIncoming { noteLostToDeletes(key, mine, merged) }
    // As with a record: the source has not heard that it was removed, or has forgotten it.
    let isSourceBehind =
      isIncoming && batch.isSent && mine == merged && !merged.isMember && state.isMember
    let isNews = merged != mine || isSourceBehind || (links[key]?.isNews ?? false)
    put(
      key,
      PlannedLink(state: merged, isNews: isNews, equalsIncoming: isIncoming && merged == state))
  }

  mutating func noteConflicts(
    _ key: LinkKey, _ mine: LinkState, _ theirs: LinkState,
    where isLost: (Conflict) -> Bool = { _ in true }
  ) {
    guard let relation = schema.links[key.relationship]?.relationship else { return }
    // What has not arrived is called as the relationship calls it.
    let (owner, member) = (relation.entity.name, relation.destinationEntity?.name)
    let entities = (
      owner: entity(of: key.owner) ?? owner ?? "", member: entity(of: key.member) ?? member ?? ""
    )
    conflicts += Conflict.find(
      key, mine: mine, theirs: theirs,
      names: (relation.name, relation.inverseRelationship?.name), entities: entities
    ).filter(isLost)
  }

  /// A member that is removed by a store which had seen that it was there.
  private mutating func noteRemoval(_ key: LinkKey, _ mine: LinkState, _ merged: LinkState) {
    guard let relation = schema.links[key.relationship]?.relationship else { return }
    conflicts.append(
      Conflict(
        record: key.owner, entity: entity(of: key.owner) ?? "", property: relation.name,
        losingValue: .reference(key.member), losingStamp: mine.write.stamp, winningValue: .null,
        winningStamp: merged.write.stamp, rule: .lastWriter, member: key.member))
  }

  /// Notes a link, or a place, that the delete of a record at one of its ends takes and that the deleter had not heard
  /// of: it does not bring the record back.
  private mutating func noteLostToDeletes(_ key: LinkKey, _ mine: LinkState?, _ merged: LinkState) {
    guard merged.isMember, let relation = schema.links[key.relationship]?.relationship else {
      return
    }
    func isNews(_ new: Register?, _ old: Register?, after deletion: Deletion) -> Bool {
      guard let stamp = new?.write.stamp,
        stamp > deletion.stamp || isUnseenHere(stamp, by: deletion)
      else { return false }
      return old.map { $0.write.stamp < stamp } ?? true
    }
    for isOwner in [true, false] {
      let (id, far) = isOwner ? (key.owner, key.member) : (key.member, key.owner)
      let place = isOwner ? merged.memberPosition : merged.ownerPosition
      let oldPlace = isOwner ? mine?.memberPosition : mine?.ownerPosition
      guard let name = isOwner ? relation.name : relation.inverseRelationship?.name,
        let entry = entry(id), entry.key == nil, entry.survivor == nil,
        let deletion = entry.deletion, !isPresent(id)
      else { continue }
      func note(_ lost: Register, _ property: String, _ value: WireValue) {
        conflicts.append(
          Conflict(
            record: id, entity: entry.entity, property: property, losingValue: value,
            losingStamp: lost.write.stamp, winningValue: .null, winningStamp: deletion.stamp,
            rule: .deleteWon, member: far))
      }
      if isNews(merged.membership, mine?.membership, after: deletion) {
        note(merged.membership, name, .reference(far))
      } else if let place, isNews(place, oldPlace, after: deletion) {
        note(place, name + SyncSchema.positionSuffix, place.value)
      }
    }
  }

  /// Whether a record was deleted here before the write of another store came, which may be older: a delete tells what
  /// it had seen of its record, and only its own store what it had of links.
  private func isUnseenHere(_ write: Stamp, by deletion: Deletion) -> Bool {
    guard let store = setting.store else { return false }
    return deletion.stamp.store.isEpoch(of: store) && !write.store.isEpoch(of: store)
  }

  private mutating func resolved(_ key: LinkKey) -> LinkKey {
    let owner = resolve(key.owner)
    let member = resolve(key.member)
    if schema.links[key.relationship]?.isSymmetric == true {
      return LinkKey(
        relationship: key.relationship, owner: min(owner, member), member: max(owner, member))
    }
    return LinkKey(relationship: key.relationship, owner: owner, member: member)
  }

  /// The survivor's links are those of both, and the other has none any more: a link that stayed there
  /// would bring the survivor's back, in a store that reads it, after a purge has forgotten that it was
  /// removed.
  mutating func moveLinks(of loser: RecordID, _ state: RecordState) {
    for side in schema.entities[state.entity]?.linkSides ?? [] {
      for (key, state) in currentLinks(of: loser, side) {
        let target = resolved(key)
        if target == key { continue }
        merge(target, state, isIncoming: false)
        leave(key)
      }
    }
  }

  private mutating func leave(_ key: LinkKey) {
    moved.insert(key)
    guard links.removeValue(forKey: key) != nil else { return }
    for end in ends(of: key) { linksByEnd[end]?.remove(key) }
  }

  /// Makes the links of a record part of the plan, so that its row shows them.
  mutating func lookAtLinks(of id: RecordID, _ state: RecordState) {
    for side in schema.entities[state.entity]?.linkSides ?? [] {
      for key in links(of: id, side) where links[key] == nil && !moved.contains(key) {
        guard let state = link(key) else { continue }
        put(key, PlannedLink(state: state, isNews: false, equalsIncoming: false))
      }
    }
  }

  private mutating func put(_ key: LinkKey, _ link: PlannedLink) {
    if links.updateValue(link, forKey: key) != nil { return }
    for end in ends(of: key) { linksByEnd[end, default: []].insert(key) }
  }

  private func ends(of key: LinkKey) -> [LinkEnd] {
    let isSymmetric = schema.links[key.relationship]?.isSymmetric == true
    return [(key.owner, LinkEnd.Role.owner), (key.member, .member)].map { id, role in
      LinkEnd(key.relationship, isSymmetric ? .either : role, id)
    }
  }

  /// All links of a record on one side with their states, the plan's decisions included.
  mutating func currentLinks(
    of id: RecordID, _ side: SyncSchema.LinkSide
  ) -> [(key: LinkKey, state: LinkState)] {
    var found: [LinkKey: LinkState] = [:]
    for key in links(of: id, side) where !moved.contains(key) {
      found[key] = links[key]?.state ?? link(key)
    }
    for key in linksByEnd[LinkEnd(side, of: id)] ?? [] { found[key] = links[key]?.state }
    return found.sorted { $0.key < $1.key }.map { (key: $0.key, state: $0.value) }
  }
}
