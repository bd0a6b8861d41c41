/// What sync throws and reports: a stable code, what happened and what to do about it.
public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong, as a word that programs may compare.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The store cannot keep history or bookkeeping.
    case unsupportedStore = "unsupported-store"
    /// The replica is a byte copy of the local store: both have one UUID.
    case sameStore = "same-store"
    /// The store could not be opened, or an operation on it failed.
    case storeUnavailable = "store-unavailable"
    /// The replica's file was removed, moved or replaced while it was open.
    case fileMoved = "file-moved"
    /// Another store lies where the replica was.
    case anotherStore = "another-store"
    /// The file is not SQLite's, or belongs to another application.
    case notAStore = "not-a-store"
    /// Another program keeps the store locked.
    case storeLocked = "store-locked"
    /// The store or its folder may not be written.
    case storeReadOnly = "store-read-only"
    /// The disk of the store is full.
    case diskFull = "disk-full"
    /// The disk of the store does not do what it is asked.
    case diskFailed = "disk-failed"
    /// The file's content is damaged.
    case storeDamaged = "store-damaged"
    /// The store's model cannot be brought to this one.
    case incompatibleModel = "incompatible-model"
    /// Another program has brought the store to another version of the model while it was open.
    case modelChanged = "model-changed"
    /// Sync's own tables hold something that cannot be read.
    case damagedBookkeeping = "damaged-bookkeeping"
    /// Other writers kept changing the same records for longer than the attempts allowed.
    case contention = "contention"
    /// The other side's clock is too far ahead.
    case clockSkew = "clock-skew"
    /// A merged record does not pass validation.
    case invalidRecord = "invalid-record"
    /// Everything arrived, but not everything is visible: see ``HeldRecords``.
    case recordsHeld = "records-held"
    /// Records stay in one of the stores, because the link goes in one direction only.
    case leftOut = "left-out"
    /// There is no replica of that name, or it was removed while a caller waited for it.
    case noSuchReplica = "no-such-replica"
    /// There is a replica of that name with other settings.
    case duplicateReplica = "duplicate-replica"
    /// The replica is not open, or has been away for too long.
    case notSyncing = "not-syncing"
    /// The link rests until it is resumed.
    case paused = "paused"
    /// A wait ended before its condition held.
    case timedOut = "timed-out"
    /// The work was stopped.
    case cancelled = "cancelled"
    /// The configuration does not fit the model.
    case invalidConfiguration = "invalid-configuration"
    /// There is no record with that ID, or it has no object where one is needed.
    case noSuchRecord = "no-such-record"
    /// The model has no such property in the record's entity.
    case noSuchProperty = "no-such-property"
    /// No journal has a conflict with that ID.
    case noSuchConflict = "no-such-conflict"
    /// Nothing with that name waits in quarantine.
    case notQuarantined = "not-quarantined"
    /// No reference waits for that record.
    case notAwaited = "not-awaited"
    /// The merge rules rule out what was asked for.
    case notAllowed = "not-allowed"
    /// Another record has the values of a uniqueness constraint.
    case valueTaken = "value-taken"
    /// What is there has changed since the plan was made.
    case planChanged = "plan-changed"
    /// A pass would delete more than is configured; see `SyncEngine.approve`.
    case awaitingApproval = "awaiting-approval"
    /// Nothing waits for an approval.
    case nothingToApprove = "nothing-to-approve"
    /// Something else failed while saving or reading.
    case failed = "failed"
  }

  /// Who has to do something.
  public enum Recovery: String, Sendable, Hashable {
    /// Trying again soon is right; the engine does so by itself.
    case retry
    /// It mends itself with time or when the other side comes back.
    case wait
    /// A person has to change something first.
    case person
  }

  public let code: Code
  /// What is wrong, where, and what would be right.
  public let message: String
  public let recovery: Recovery
  /// The replicas that it is about, by name; empty where the caller named the one.
  public let replicas: [String]
  /// The file that it is about, where that is known: the replica's, or the local store's.
  public let path: String?

  public init(
    _ code: Code, _ message: String, recovery: Recovery, replicas: [String] = [],
    path: String? = nil
  ) {
    self.path = path
    self.replicas = replicas
    self.code = code
    self.message = message
    self.recovery = recovery
  }

  public var description: String { "\(code.rawValue): \(message)" }
}
