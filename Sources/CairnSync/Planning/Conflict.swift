/// A concurrent value that lost: neither writer had seen the other.
public struct Conflict: Hashable, Sendable {
  /// Why it lost.
  public enum Rule: String, Sendable, Hashable, CaseIterable {
    case lastWriter, deleteWon, writeWon, united
    /// Both are values of one write, as SQL past history and damage make them: the greater bytes were taken.
    case contradiction
    /// An operator discarded what was quarantined.
    case discarded
    /// An operator took a write back.
    case reverted
  }

  public let record: RecordID
  public let entity: String
  /// Nil when a delete lost.
  public let property: String?
  public let losingValue: WireValue
  public let losingStamp: Stamp
  /// Null when a delete won; of a reference to what only one record can have, a reference to the record that has it.
  public internal(set) var winningValue: WireValue
  public let winningStamp: Stamp
  public internal(set) var rule: Rule
  /// For a link or a place in an ordered relationship: the other record.
  ///
  /// A link that was added has a reference to it as its value, one that was removed null.
  public let member: RecordID?

  public init(
    record: RecordID, entity: String, property: String?, losingValue: WireValue,
    losingStamp: Stamp, winningValue: WireValue, winningStamp: Stamp, rule: Rule,
    member: RecordID? = nil
  ) {
    self.member = member
    self.record = record
    self.entity = entity
    self.property = property
    self.losingValue = losingValue
    self.losingStamp = losingStamp
    self.winningValue = winningValue
    self.winningStamp = winningStamp
    self.rule = rule
  }

  /// Whether both values are of the same write: nothing but their bytes decided between them.
  var isOfOneWrite: Bool { losingStamp == winningStamp }

  /// The same, lost by another rule.
  func lost(by rule: Rule) -> Conflict {
    var other = self
    other.rule = rule
    return other
  }

  /// The same, lost to another value.
  func won(by value: WireValue) -> Conflict {
    var other = self
    other.winningValue = value
    return other
  }

  static func find(
    mine: RecordState, theirs: RecordState, merged: RecordState, policy: DeleteConflictPolicy
  ) -> [Conflict] {
    var found: [Conflict] = []
    if merged.isAlive(under: policy) {
      found = lostRegisters(mine: mine, theirs: theirs, merged: merged, rule: .lastWriter)
    }
    found += lostToDelete(mine, theirs, merged: merged, policy: policy)
    found += lostToDelete(theirs, mine, merged: merged, policy: policy)
    return found.sorted { ($0.property ?? "") < ($1.property ?? "") }
  }

  /// Of two values of one write, too: one of them was changed past history, or is damaged.
  static func lostRegisters(
    mine: RecordState, theirs: RecordState, merged: RecordState, rule: Rule
  ) -> [Conflict] {
    mine.registers.compactMap { name, old in
      guard let new = theirs.registers[name], let winner = merged.registers[name],
        !old.value.isSame(as: new.value),
        old.write.isConcurrent(with: new.write) || old.write.isWritten(with: new.write)
      else { return nil }
      let loser = winner.value.isSame(as: old.value) ? new : old
      return Conflict(
        record: mine.id, entity: merged.entity, property: name, losingValue: loser.value,
        losingStamp: loser.write.stamp, winningValue: winner.value,
        winningStamp: winner.write.stamp, rule: rule)
    }
  }

  /// The delete of one side against the writes of the other that it had not seen.
  private static func lostToDelete(
    _ writer: RecordState, _ deleter: RecordState, merged: RecordState,
    policy: DeleteConflictPolicy
  ) -> [Conflict] {
    guard let deletion = deleter.deletion, writer.deletion != deletion, writer.survivor == nil
    else { return [] }
    let unseen = writer.registers.filter { !deletion.hasSeen($0.value.write.meant) }
    guard let latest = unseen.map(\.value).max(by: { $0.write.stamp < $1.write.stamp }) else {
      return []
    }
    if merged.isAlive(under: policy) {
      return [
        Conflict(
          record: merged.id, entity: merged.entity, property: nil, losingValue: .null,
          losingStamp: deletion.stamp, winningValue: latest.value,
          winningStamp: latest.write.stamp, rule: .writeWon)
      ]
    }
    return lost(merged, unseen, to: deletion)
  }

  /// What a record's delete had not seen and takes with it.
  static func lost(_ state: RecordState) -> [Conflict] {
    guard let deletion = state.deletion else { return [] }
    let unseen = state.registers.filter { !deletion.hasSeen($0.value.write.meant) }
    return lost(state, unseen, to: deletion)
  }

  /// What an object showed that became a deleted record by a union: its deleter deleted another object, whatever
  /// writes it had seen.
  static func lost(_ registers: Registers, with survivor: RecordState) -> [Conflict] {
    guard let deletion = survivor.deletion else { return [] }
    return lost(survivor, Array(registers), to: deletion)
  }

  /// What a delete takes from a record, also what the deleter had seen; `besides` what is noted already.
  static func taken(
    from state: RecordState, by merged: RecordState, besides noted: [Conflict]
  ) -> [Conflict] {
    guard let deletion = merged.deletion, state.deletion != deletion else { return [] }
    let names = Set(noted.filter { $0.rule == .deleteWon }.compactMap(\.property))
    return lost(state, state.registers.filter { !names.contains($0.key) }, to: deletion)
  }

  private static func lost(
    _ state: RecordState, _ unseen: [Registers.Element], to deletion: Deletion
  ) -> [Conflict] {
    unseen.sorted { $0.key < $1.key }.map { name, register in
      Conflict(
        record: state.id, entity: state.entity, property: name, losingValue: register.value,
        losingStamp: register.write.stamp, winningValue: .null, winningStamp: deletion.stamp,
        rule: .deleteWon)
    }
  }
}

extension Conflict {
  /// What is lost when two states of a link are joined.
  ///
  /// - Parameters:
  ///   - names: The relationship of the owner and, where it has one, its inverse.
  ///   - entities: The entities of the owner and of the member.
  static func find(
    _ key: LinkKey, mine: LinkState, theirs: LinkState, names: (owner: String, member: String?),
    entities: (owner: String, member: String)
  ) -> [Conflict] {
    func value(_ register: Register) -> WireValue {
      register.value == .boolean(true) ? .reference(key.member) : .null
    }
    func lost(
      _ mine: Register?, _ theirs: Register?, isOfOwner: Bool, suffix: String = "",
      value: (Register) -> WireValue
    ) -> Conflict? {
      guard let name = isOfOwner ? names.owner : names.member, let mine, let theirs,
        mine.write.isConcurrent(with: theirs.write), !mine.value.isSame(as: theirs.value)
      else { return nil }
      let winner = mine.joined(with: theirs)
      let loser = winner == mine ? theirs : mine
      return Conflict(
        record: isOfOwner ? key.owner : key.member,
        entity: isOfOwner ? entities.owner : entities.member, property: name + suffix,
        losingValue: value(loser), losingStamp: loser.write.stamp, winningValue: value(winner),
        winningStamp: winner.write.stamp, rule: .lastWriter,
        member: isOfOwner ? key.member : key.owner)
    }
    let position = SyncSchema.positionSuffix
    return [
      lost(mine.membership, theirs.membership, isOfOwner: true, value: value),
      lost(
        mine.memberPosition, theirs.memberPosition, isOfOwner: true, suffix: position,
        value: \.value),
      lost(
        mine.ownerPosition, theirs.ownerPosition, isOfOwner: false, suffix: position,
        value: \.value),
    ].compactMap { $0 }
  }
}
