import Foundation

/// What the next pass of a link would do, in each of its directions; nothing is written for it.
public struct PassPlan: Sendable, Hashable {
  public let replica: String
  /// What the local store would get; nil for a link that only pushes.
  public let pull: DirectionPlan?
  /// What the replica would get, given what both stores hold now; nil for a link that only pulls.
  public let push: DirectionPlan?

  public var isEmpty: Bool { (pull?.isEmpty ?? true) && (push?.isEmpty ?? true) }
}

/// What one store would get from another.
public struct DirectionPlan: Sendable, Hashable {
  public let source: StoreReference
  public let destination: StoreReference
  /// By name, entities of which something would change.
  public let entities: [EntityPlanCounts]
  /// The first records that would change, in the order of their IDs.
  public let records: [PlannedRecord]
  /// Links that would be added or removed.
  public let links: Int
  /// The first concurrent values that would lose and go into the journal.
  public let conflicts: [Conflict]
  public let conflictCount: Int
  /// The first that would wait instead of becoming visible.
  public let quarantined: [PlannedQuarantine]
  public let quarantinedCount: Int
  /// What would stop the pass until it is approved.
  public let awaitingApproval: DeletionPlan?
  /// Rows of the source that sync has not taken up yet, as before its first pass: they would travel, too.
  public let rowsNotTakenUp: Int
  /// Whether all that waits was looked at; otherwise the numbers are those of the first part of it.
  public let isComplete: Bool

  public var isEmpty: Bool {
    entities.isEmpty && links == 0 && quarantinedCount == 0 && rowsNotTakenUp == 0
  }
}

/// How many records of an entity would change.
public struct EntityPlanCounts: Sendable, Hashable {
  public let entity: String
  public var inserted = 0
  public var updated = 0
  /// By deletes that travel, and by those of records that are united with others.
  public var deleted = 0
  /// Along with others, by the delete rules of the destination.
  public var cascaded = 0

  public init(entity: String) { self.entity = entity }
}

/// What would happen to one record.
public struct PlannedRecord: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case insert, update, delete
    /// It gives way to a record with the same values of a uniqueness constraint.
    case unite(RecordID)
    /// It is deleted along with others by the destination's delete rules.
    case cascade
  }
  public let record: RecordID
  public let entity: String
  public let kind: Kind
  /// By name, the properties that get another value; of a record that comes or goes all that are
  /// known.
  public let properties: [PlannedProperty]
}

public struct PlannedProperty: Sendable, Hashable {
  public let name: String
  /// Nil where there is none.
  public let before: WireValue?
  public let after: WireValue?
}

/// What would wait in quarantine.
public struct PlannedQuarantine: Sendable, Hashable {
  public let subject: QuarantineID.Subject
  public let entity: String
  public let reason: QuarantineEntry.Reason
  public let message: String
}
