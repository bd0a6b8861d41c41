// The merge rules as joins: commutative, associative and idempotent, so that the order and the
// number of deliveries cannot matter.

extension Register {
  /// The greater stamp wins.
  ///
  /// Equal stamps carry equal values, except when a writer was overtaken while it was read; then
  /// the greater bytes win until the overtaking write arrives, see ``WireValue/outranks(_:)``.
  public func joined(with other: Register) -> Register {
    if write.stamp != other.write.stamp {
      let (winner, loser) = write.stamp > other.write.stamp ? (self, other) : (other, self)
      // The winner keeps what a writer meant before a delete rule wrote, whichever rule wrote last.
      guard let meant = winner.write.lastMeant, loser.write.meant > meant else { return winner }
      let write = PropertyWrite(
        stamp: winner.write.stamp, seen: winner.write.seen, lastMeant: loser.write.meant)
      return Register(value: winner.value, write: write)
    }
    if self == other { return self }
    var seen = write.seen
    seen.formUnion(other.write.seen)
    let meant = max(write.meant, other.write.meant)
    let winner = other.value.outranks(value) ? other.value : value
    return Register(
      value: winner,
      write: PropertyWrite(
        stamp: write.stamp, seen: seen, lastMeant: meant == write.stamp ? nil : meant))
  }
}

extension Deletion {
  /// The later delete, with its policy, knowing all that either deleter knew.
  public func joined(with other: Deletion) -> Deletion {
    var seen = self.seen
    seen.formUnion(other.seen)
    // Each deleter knew its own store's writes up to its stamp.
    seen.insert(stamp)
    seen.insert(other.stamp)
    let later = max(stamp, other.stamp)
    if self == other { return self }
    return Deletion(
      stamp: later, seen: seen.without(later), policy: other.isAfter(self) ? other.policy : policy)
  }

  /// Whether the policy of this delete holds and not that of the other.
  ///
  /// Of one delete that carries a policy in one place alone, that one.
  private func isAfter(_ other: Deletion) -> Bool {
    (stamp, policyNumber) > (other.stamp, other.policyNumber)
  }
}

extension SeenWrites {
  /// Without what the given stamp implies by itself.
  fileprivate func without(_ stamp: Stamp) -> SeenWrites {
    guard let clock = readings[stamp.store], clock <= stamp.clock else { return self }
    var copy = self
    copy.remove(stamp.store)
    return copy
  }
}

extension RecordState {
  /// What is known of the record when both states are.
  public func joined(with other: RecordState) -> RecordState {
    var result = self
    // One record has one entity; should two stores disagree, both settle on the same.
    result.entity = min(entity, other.entity)
    result.registers.merge(other.registers) { $0.joined(with: $1) }
    result.deletion = Self.either(deletion, other.deletion) { $0.joined(with: $1) }
    result.survivor = Self.either(survivor, other.survivor, min)
    return result
  }

  private static func either<Value>(
    _ a: Value?, _ b: Value?, _ combine: (Value, Value) -> Value
  ) -> Value? {
    guard let a else { return b }
    guard let b else { return a }
    return combine(a, b)
  }
}

extension RecordState {
  /// The record with the values of another one that is united with it.
  ///
  /// One that is alive stays alive. Where its delete has seen all that the other brings, as what was inserted
  /// by the save that deleted it, one of these values is written once more, just after the delete. By whom
  /// follows from the other's ID, so that every store writes the same.
  func united(
    with other: Registers, of loser: RecordID, under policy: DeleteConflictPolicy
  ) -> RecordState {
    var result = self
    result.registers.merge(other) { $0.joined(with: $1) }
    guard isAlive(under: policy), !result.isAlive(under: policy), let deletion else {
      return result
    }
    let brought = result.registers.filter { registers[$0.key] != $0.value }
    guard let (name, register) = brought.min(by: { $0.key < $1.key }) else { return result }
    let union = Stamp(
      clock: deletion.stamp.clock.next, store: StoreID(high: loser.high, low: loser.low))
    result.registers[name] = Register(
      value: register.value, write: register.write.overwritten(at: union))
    return result
  }
}

extension LinkState {
  /// The greater stamp wins; of equal ones the add.
  ///
  /// The positions are registers of their own.
  public func joined(with other: LinkState) -> LinkState {
    let (first, second) = (membership, other.membership)
    let winner = first.joined(with: second)
    return LinkState(
      write: winner.write, isMember: winner.value == .boolean(true),
      memberPosition: Self.either(memberPosition, other.memberPosition),
      ownerPosition: Self.either(ownerPosition, other.ownerPosition))
  }

  /// The membership as a register; of equal stamps the greater bytes win, which are those of true.
  var membership: Register { Register(value: .boolean(isMember), write: write) }

  private static func either(_ a: Register?, _ b: Register?) -> Register? {
    guard let a, let b else { return a ?? b }
    return a.joined(with: b)
  }
}
