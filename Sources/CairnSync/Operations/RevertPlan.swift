import Crypto
import Foundation

/// Whose writes to take back, and of what time.
public struct RevertRequest: Sendable, Hashable {
  public enum Origin: Sendable, Hashable {
    /// A program's or person's name in history, in whichever store that is open it wrote.
    case author(String)
    /// All that a store wrote.
    case store(StoreID)
  }
  public var origin: Origin
  /// Written at this time or later, in milliseconds since 1970.
  public var since: UInt64
  /// Written before this time, in milliseconds since 1970.
  public var until: UInt64

  public init(_ origin: Origin, since: UInt64, until: UInt64 = .max) {
    self.origin = origin
    self.since = since
    self.until = until
  }

  func includes(_ time: UInt64) -> Bool { time >= since && time < until }
}

/// One thing that taking writes back does.
public struct RevertStep: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// The property gets the value back that it had.
    case set(property: String, from: WireValue, to: WireValue)
    /// The record is no member any more, or one again.
    case link(relationship: String, member: RecordID, isMember: Bool)
    /// The record, which was inserted, is deleted.
    case delete
    /// The record, which was deleted, comes back; by name, the values that are known, and the properties
    /// of which none is.
    case bringBack(values: [String: WireValue], missing: [String])
  }
  public let record: RecordID
  public let entity: String
  public let kind: Kind
}

extension RevertStep {
  /// Equal for equal steps.
  fileprivate var encoded: Data {
    var writer = ByteWriter()
    writer.identity(record)
    switch kind {
    case .set(let property, let from, let to):
      writer.byte(1)
      writer.string(property)
      writer.value(from)
      writer.value(to)
    case .link(let relationship, let member, let isMember):
      writer.byte(isMember ? 2 : 3)
      writer.string(relationship)
      writer.identity(member)
    case .delete: writer.byte(4)
    case .bringBack(let values, _):
      writer.byte(5)
      writer.count(values.count)
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        writer.string(name)
        writer.value(value)
      }
    }
    return writer.data
  }
}

/// A write that stays, and why.
public struct KeptWrite: Sendable, Hashable {
  public enum Reason: Sendable, Hashable {
    /// Others wrote it later.
    case superseded
    /// The record was inserted, and others wrote to it since.
    case writtenByOthers
    /// The record was inserted, and these of others would be deleted with it, or not be valid without
    /// it.
    case neededByOthers([RecordID])
    /// No store that is open knows what was there before.
    case formerValueUnknown
    /// What the value referred to is deleted.
    case targetGone(RecordID)
    /// The record was deleted; these properties must have a value and none is known.
    case valuesUnknown([String])
    /// Deletes win for the entity: a deleted record cannot come back.
    case deleteWins
    /// A place in an ordered relationship: what order there was is not known.
    case order
    /// The local store has not got it yet.
    case notHere
    /// The local store's model does not have it.
    case notInModel
    /// The local store refuses the change; why.
    case refused(String)
  }
  public let record: RecordID
  public let entity: String
  /// Nil for the record as a whole.
  public let property: String?
  public let reason: Reason
}

/// What taking writes back would do.
public struct RevertPlan: Sendable, Hashable, Identifiable {
  public let request: RevertRequest
  /// By record.
  public let steps: [RevertStep]
  public let kept: [KeptWrite]
  /// Stores whose history does not reach back to the beginning of the time: what was written there
  /// before is not found.
  public let withoutHistory: [StoreReference]
  /// The replicas that were not looked at.
  public let away: [AwayStore]

  /// Another for every other plan.
  public var id: String {
    var hash = SHA256()
    for step in steps { hash.update(data: step.encoded) }
    return hash.finalize().prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// What taking writes back did.
public struct RevertOutcome: Sendable, Hashable {
  /// What was done, in one transaction.
  public let done: [RevertStep]
  /// What was not, and why.
  public let kept: [KeptWrite]
  /// The author in history of the transaction, under which it can be taken back.
  public let author: String
}
