/// One property of a record: its value and the write that put it there.
public struct Register: Hashable, Sendable {
  public let value: WireValue
  public let write: PropertyWrite
  public init(value: WireValue, write: PropertyWrite) {
    self.value = value
    self.write = write
  }
}

/// That a record was deleted: when, which writes the deleter had seen, and what wins against the others.
public struct Deletion: Hashable, Sendable {
  public let stamp: Stamp
  public let seen: SeenWrites
  /// The policy of the daemon that took the delete up, which holds for it in every store and for ever.
  ///
  /// So all stores decide alike while daemons are configured differently, or one after the other. Nil in what
  /// builds before this one wrote: each daemon goes by its own policy then.
  public let policy: DeleteConflictPolicy?
  public init(
    stamp: Stamp, seen: SeenWrites = SeenWrites(), policy: DeleteConflictPolicy? = nil
  ) {
    self.stamp = stamp
    self.seen = seen
    self.policy = policy
  }

  /// Whether the deleter knew of the write.
  public func hasSeen(_ write: Stamp) -> Bool {
    write.store == stamp.store ? write.clock <= stamp.clock : seen.covers(write)
  }

  /// Whether a write brings the record back.
  ///
  /// - Parameter standard: The policy of the record's entity here, for a delete that carries none.
  func isOutlived(by write: Stamp, under standard: DeleteConflictPolicy) -> Bool {
    switch policy ?? standard {
    case .deleteWins: false
    case .lastWriter: write > stamp
    case .writeWins: !hasSeen(write)
    }
  }
}

/// What wins when a record is deleted on one side and written on the other.
public enum DeleteConflictPolicy: String, Sendable, Hashable, CaseIterable {
  // The order of the cases is stored: see `policyNumber`.
  /// The later of the two; a write after the delete brings the whole record back.
  case lastWriter
  case deleteWins
  /// Only a delete whose author had seen every write is carried out.
  case writeWins
}

/// All that is known about one record: the registers of its properties and, when it was deleted or
/// united with another record, how.
///
/// A value of a join semilattice; see ``joined(with:)``.
public struct RecordState: Hashable, Sendable {
  public let id: RecordID
  public var entity: String
  /// The properties whose values are known.
  public var registers: Registers
  public var deletion: Deletion?
  /// The record that took this one's place after a uniqueness collision.
  public var survivor: RecordID?

  public init(
    id: RecordID, entity: String, registers: Registers = Registers(),
    deletion: Deletion? = nil, survivor: RecordID? = nil
  ) {
    self.id = id
    self.entity = entity
    self.registers = registers
    self.deletion = deletion
    self.survivor = survivor
  }

  /// Whether there is an object for the record.
  ///
  /// - Parameter policy: For a delete that carries none.
  public func isAlive(under policy: DeleteConflictPolicy) -> Bool {
    if survivor != nil || registers.isEmpty { return false }
    guard let deletion else { return true }
    return registers.hasWrite { deletion.isOutlived(by: $0.meant, under: policy) }
  }

  /// The greatest reading in the state.
  public var latestReading: ClockReading {
    let none = ClockReading(bits: 0)
    return max(registers.latestReading ?? none, deletion?.stamp.clock ?? none)
  }
}

/// A link of a many-to-many relationship (or of a to-many without inverse), named by the canonical
/// side of the relationship.
public struct LinkKey: Hashable, Sendable, Comparable {
  /// `Entity.relationship` of the canonical side.
  public let relationship: String
  public let owner: RecordID
  public let member: RecordID
  public init(relationship: String, owner: RecordID, member: RecordID) {
    self.relationship = relationship
    self.owner = owner
    self.member = member
  }
  public static func < (a: Self, b: Self) -> Bool {
    (a.relationship, a.owner, a.member) < (b.relationship, b.owner, b.member)
  }
}

/// The last add or remove of a link and, where a side is ordered, the places of the two records in
/// each other's lists.
public struct LinkState: Hashable, Sendable {
  public let write: PropertyWrite
  public let isMember: Bool
  /// The ``PositionKey`` of the member in the owner's list.
  public var memberPosition: Register?
  /// The ``PositionKey`` of the owner in the member's list.
  public var ownerPosition: Register?
  public var stamp: Stamp { write.stamp }

  public init(
    write: PropertyWrite, isMember: Bool, memberPosition: Register? = nil,
    ownerPosition: Register? = nil
  ) {
    self.write = write
    self.isMember = isMember
    self.memberPosition = memberPosition
    self.ownerPosition = ownerPosition
  }

  public init(stamp: Stamp, isMember: Bool) {
    self.init(write: PropertyWrite(stamp: stamp), isMember: isMember)
  }

  /// The greatest reading in the state.
  public var latestReading: ClockReading {
    let positions = [memberPosition, ownerPosition].compactMap { $0?.write.stamp.clock }
    return positions.reduce(stamp.clock, max)
  }
}

/// A link and its state, as it travels.
public struct LinkChange: Hashable, Sendable {
  public let key: LinkKey
  public let state: LinkState
  public init(key: LinkKey, state: LinkState) {
    self.key = key
    self.state = state
  }
}

/// The states of what changed in a source between two places of its change order.
///
/// Applied as a whole or not at all.
public struct ChangeSet: Hashable, Sendable {
  public let source: StoreID
  /// The cursor the destination must have for this set to follow.
  public let after: UInt64
  /// The cursor once it is applied.
  public let upTo: UInt64
  public var records: [RecordState]
  public var links: [LinkChange]
  /// How many values of its records the source could not read, so that they stay there; does not travel.
  var unreadable = 0
  /// Those of its records that the source does not have as they stand here; does not travel.
  var completed: Set<RecordID> = []
  public init(
    source: StoreID, after: UInt64, upTo: UInt64, records: [RecordState] = [],
    links: [LinkChange] = []
  ) {
    self.source = source
    self.after = after
    self.upTo = upTo
    self.records = records
    self.links = links
  }
  public var isEmpty: Bool { records.isEmpty && links.isEmpty }
}
