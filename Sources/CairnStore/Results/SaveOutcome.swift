import CairnModel

/// How a save ended.
///
/// Conflicts are an expected result, not an error; after one nothing is written.
public enum SaveOutcome: Sendable {
  case saved(SaveReceipt)
  /// Rows that another writer changed or deleted since they were read.
  case conflicts([RowConflict])
  /// Uniqueness constraints that the save would violate.
  case constraintViolations([ConstraintViolation])
  /// A `require` of the sidecar did not hold.
  case sidecarChanged(SidecarKey)
  /// Keys that the request wanted for its new rows have been taken by another program's meanwhile.
  case rowKeysTaken
}

/// What a completed save tells.
public struct SaveReceipt: Sendable {
  /// The rows as they are stored now, with new versions and derived values: insertions, then
  /// updates, in the order of the request.
  public let snapshots: [RowSnapshot]
  /// The number of the history transaction, nil when history is off or nothing was recorded.
  public let transactionNumber: Int64?
  public init(snapshots: [RowSnapshot], transactionNumber: Int64?) {
    self.snapshots = snapshots
    self.transactionNumber = transactionNumber
  }
}

/// A row that is not at the version a change was based on.
public struct RowConflict: Sendable {
  public let objectID: ManagedObjectID
  /// The version the change was based on.
  public let expectedVersion: Int64
  /// The row as it is stored now, nil when it was deleted.
  public let persisted: RowSnapshot?
  public init(objectID: ManagedObjectID, expectedVersion: Int64, persisted: RowSnapshot?) {
    self.objectID = objectID
    self.expectedVersion = expectedVersion
    self.persisted = persisted
  }
}

/// A uniqueness constraint that two objects share the values of.
public struct ConstraintViolation: Sendable {
  public let entity: EntityDescription
  public let constraint: [String]
  /// The inserted or updated objects of the request that collide.
  public let objectIDs: [ManagedObjectID]
  /// The stored row they collide with, nil when they collide only with each other.
  public let persisted: RowSnapshot?
  public init(
    entity: EntityDescription, constraint: [String], objectIDs: [ManagedObjectID],
    persisted: RowSnapshot?
  ) {
    self.entity = entity
    self.constraint = constraint
    self.objectIDs = objectIDs
    self.persisted = persisted
  }
}
