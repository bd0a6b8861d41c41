import Foundation

/// Who made a write, as far as history tells.
public enum Authorship: Sendable, Hashable {
  /// The transaction that made it.
  case transaction(
    number: Int64, author: String?, context: String?, process: String?, date: UInt64)
  /// The store that made it is not open in this group: its history is elsewhere.
  case elsewhere
  /// History does not tell any more: that of the time is purged, or the row is deleted by which the write is known.
  case gone
  /// No transaction of a program: the value was there before sync, or a migration or a repair made it.
  case nobody
}

/// One write: which store made it, when, and who.
public struct WriteExplanation: Sendable, Hashable {
  public let stamp: Stamp
  public let store: StoreReference
  public let authorship: Authorship
  /// Whether a delete rule made it, because what the reference led to was deleted.
  public let isByDeleteRule: Bool
  /// The last writes of other stores that the writer had seen and replaced.
  public let replaced: [Stamp]
  /// By the clock of the store that wrote, in milliseconds since 1970; nil for what was there before
  /// sync.
  public var time: UInt64? {
    stamp.clock.milliseconds > 1 ? stamp.clock.milliseconds : nil
  }
}

/// How a write came to be the one in force.
public enum WinningRule: Sendable, Hashable {
  /// Its writer had seen everything that it replaced.
  case unopposed
  /// It won against concurrent writes.
  ///
  /// `writeWon` also of what a record had before a delete that a write won over. What the deleter's store had written
  /// and not passed on went with the row, unless the model preserves the attribute's value on deletion.
  case conflict(Conflict.Rule)
}

/// How one store has a value, compared with the one that is explained.
public enum ValueStanding: Sendable, Hashable {
  /// It has the same write.
  case inStep
  /// It has an older write, or none; the next pass brings this one.
  case waiting(WireValue)
  /// It has a newer write, which the next pass brings.
  case newer(WireValue)
  /// The record waits there in quarantine; why.
  case quarantined(String)
  /// The record waits there because it was written in the future by the machine's clock.
  case held(String)
  /// The reference waits there for this record.
  case parked(RecordID)
  /// The reference is not shown there: only one record can have this one, and another has it.
  case taken(RecordID, by: RecordID)
  /// The record is deleted there.
  case deleted
  /// The record has not arrived there.
  case unknown
  /// The store's model does not have the property; the value is kept beside the row.
  case keptBeside
}

public struct StoreStanding: Sendable, Hashable {
  public let store: StoreReference
  public let standing: ValueStanding
}

/// Why one value, link or place is what it is.
public struct ValueExplanation: Sendable, Hashable {
  /// The record that has it: the one that was asked for, or a member whose reference makes it so.
  public let record: RecordID
  /// The attribute or relationship; a place in an ordered relationship ends with `#position`.
  public let property: String
  /// The other record of a link.
  public let member: RecordID?
  /// Of a link: a reference to the member, or null when it was removed.
  public let value: WireValue
  public let write: WriteExplanation
  public let rule: WinningRule
  /// What the journals know to have lost, oldest first.
  public let superseded: [JournaledConflict]
  /// How the stores that are open have it, the local one first.
  public let standings: [StoreStanding]
}

/// Why a record is as it is.
public struct Explanation: Sendable, Hashable {
  /// The record that was asked for.
  public let record: RecordID
  /// The one that stands for it after uniqueness collisions; the same one without any.
  public let survivor: RecordID
  public let entity: String
  /// The last delete; nil when there was none.
  ///
  /// The record may have come back since.
  public let deletion: WriteExplanation?
  public let isDeleted: Bool
  /// How the stores that are open have the record as a whole, the local one first.
  public let standings: [StoreStanding]
  public let values: [ValueExplanation]
  /// Whether the relationship has more members than were explained.
  public let hasMore: Bool
  /// The replicas that were not looked at.
  public let away: [AwayStore]
}
