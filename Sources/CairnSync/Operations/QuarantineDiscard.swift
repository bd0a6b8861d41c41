/// What becomes of a quarantined state that is discarded: the store's own state is written anew over
/// it, by a writer who had seen it, so that it wins in every store.
struct QuarantineDiscard {
  /// What the store has; nil when it never knew the record.
  let mine: RecordState?
  let held: RecordState
  let policy: DeleteConflictPolicy
  /// Whether the store shows the record, also in spite of a delete that is denied.
  let isThere: Bool

  private var isMineAlive: Bool { isThere || mine?.isAlive(under: policy) ?? false }

  /// The properties that the held state would change.
  private var news: [Registers.Element] {
    held.registers.filter { name, register in
      mine?.registers[name].map { $0.write.stamp < register.write.stamp } ?? true
    }
  }

  private var isDeleteNews: Bool {
    guard let deletion = held.deletion else { return false }
    if isThere, mine?.isAlive(under: policy) == false { return true }
    return mine?.deletion.map { $0.stamp < deletion.stamp } ?? true
  }

  /// Whether the delete that waits is given up with the rest; one that wins whatever is written stays, and only what
  /// came along with it is.
  private var takesDeleteBack: Bool {
    isDeleteNews && (held.deletion?.policy ?? policy) != .deleteWins
  }

  var effect: DiscardEffect {
    if held.survivor != nil, mine?.survivor == nil {
      return .impossible("the record was united with another, which cannot be taken back")
    }
    if mine?.survivor != nil { return .keepsValues([]) }
    guard isMineAlive else { return .deletesRecord }
    if takesDeleteBack { return .keepsRecord }
    let values = news.map(\.key).filter { mine?.registers[$0] != nil }.sorted()
    if isDeleteNews, values.isEmpty {
      return .impossible("deletes win for \(held.entity): the delete cannot be taken back")
    }
    return .keepsValues(values)
  }

  /// - Parameter stamp: When the operator discards it, by the store's clock.
  /// - Returns: The state that the store has from then on, and what is lost by that.
  func decide(at stamp: Stamp) -> (state: RecordState, lost: [Conflict]) {
    let joined = mine?.joined(with: held) ?? held
    let latest = (joined.registers.map(\.value.write.stamp) + [joined.deletion?.stamp])
      .compactMap { $0 }
      .reduce(stamp) { $0 > $1 ? $0 : Stamp(clock: $1.clock.next, store: stamp.store) }
    let (state, given) = isMineAlive ? keep(joined, at: latest) : delete(joined, at: latest)
    return (state, given + losersOfHeld(to: joined) + losersOfMine(to: state))
  }

  /// What the store's own values lose to a delete that is not taken back: once the store has it, no import finds any
  /// news in it.
  private func losersOfMine(to state: RecordState) -> [Conflict] {
    guard var mine, let deletion = state.deletion, mine.deletion != deletion,
      mine.isAlive(under: policy), !state.isAlive(under: policy)
    else { return [] }
    mine.deletion = deletion
    return Conflict.lost(mine)
  }

  /// What of the held state loses to the store's own values by its stamps, not because it is discarded: once the two
  /// are one state, nothing else tells of it.
  private func losersOfHeld(to joined: RecordState) -> [Conflict] {
    guard let mine else { return [] }
    let lost = Conflict.lostRegisters(mine: mine, theirs: held, merged: joined, rule: .lastWriter)
    return lost.filter { conflict in
      conflict.property.map { held.registers[$0]?.write.stamp == conflict.losingStamp } ?? false
    }
  }

  private func keep(_ joined: RecordState, at stamp: Stamp) -> (RecordState, [Conflict]) {
    var state = joined
    var lost: [Conflict] = []
    for (name, own) in mine?.registers ?? Registers() {
      guard let register = joined.registers[name] else { continue }
      let isNew = own.write.stamp < register.write.stamp
      guard isNew || takesDeleteBack else { continue }
      state.registers[name] = Register(
        value: own.value, write: register.write.overwritten(at: stamp))
      if isNew, !own.value.isSame(as: register.value) {
        lost.append(conflict(name, register, winner: own.value, at: stamp))
      }
    }
    if takesDeleteBack, let deletion = held.deletion {
      lost.append(
        Conflict(
          record: joined.id, entity: joined.entity, property: nil, losingValue: .null,
          losingStamp: deletion.stamp, winningValue: .null, winningStamp: stamp,
          rule: .discarded))
    }
    return (state, lost)
  }

  private func delete(_ joined: RecordState, at stamp: Stamp) -> (RecordState, [Conflict]) {
    var state = joined
    var seen = joined.deletion?.seen ?? SeenWrites()
    if let old = joined.deletion { seen.insert(old.stamp) }
    for (_, register) in joined.registers {
      seen.insert(register.write.stamp)
      seen.formUnion(register.write.seen)
    }
    seen.remove(stamp.store)
    state.deletion = Deletion(stamp: stamp, seen: seen, policy: policy)
    let lost = news.map { conflict($0.key, $0.value, winner: .null, at: stamp) }
    return (state, lost)
  }

  private func conflict(
    _ name: String, _ register: Register, winner: WireValue, at stamp: Stamp
  ) -> Conflict {
    Conflict(
      record: held.id, entity: held.entity, property: name, losingValue: register.value,
      losingStamp: register.write.stamp, winningValue: winner, winningStamp: stamp,
      rule: .discarded)
  }
}
