import CairnModel
import Foundation

/// Everything one save writes to one store, atomically.
public struct SaveChangesRequest: Sendable {
  /// A new row, with its permanent ID and all its values.
  public struct Insertion: Sendable {
    public let snapshot: RowSnapshot
    public init(snapshot: RowSnapshot) { self.snapshot = snapshot }
  }

  /// A changed row.
  public struct Update: Sendable {
    /// The new values of all slots.
    ///
    /// Its version is the one the change was based on, or already the one after it: then a store
    /// whose versions grow by one may keep the snapshot itself.
    // The first, where RowSnapshot.fetchAhead(_:from:) looks for it.
    public let snapshot: RowSnapshot
    /// The version that the change was based on.
    public let version: Int64
    /// The slots that differ from the committed row.
    public let changedSlots: [Int]
    /// The to-many relationships (indexes in the layout's `toManys`) that changed; for history.
    public let changedToManys: [Int]
    /// Whether to write even when the stored version is another one (a merge policy decided so).
    public let overwritesConflicts: Bool
    public init(
      snapshot: RowSnapshot, changedSlots: [Int], changedToManys: [Int] = [],
      overwritesConflicts: Bool = false
    ) {
      self.init(
        snapshot: snapshot, basedOn: snapshot.version, changedSlots: changedSlots,
        changedToManys: changedToManys, overwritesConflicts: overwritesConflicts)
    }

    /// The same for a snapshot that may have the version after the one that was changed.
    public init(
      snapshot: RowSnapshot, basedOn version: Int64, changedSlots: [Int],
      changedToManys: [Int] = [], overwritesConflicts: Bool = false
    ) {
      self.snapshot = snapshot
      self.version = version
      self.changedSlots = changedSlots
      self.changedToManys = changedToManys
      self.overwritesConflicts = overwritesConflicts
    }
  }

  /// A deleted row.
  public struct Deletion: Sendable {
    public let objectID: ManagedObjectID
    /// The version the delete is based on.
    public let version: Int64
    /// The last known values; nil when they were not read, which only a store that promises
    /// ``MemberVersionReading`` meets.
    public let snapshot: RowSnapshot?
    public let overwritesConflicts: Bool
    public init(snapshot: RowSnapshot, overwritesConflicts: Bool = false) {
      objectID = snapshot.objectID
      version = snapshot.version
      self.snapshot = snapshot
      self.overwritesConflicts = overwritesConflicts
    }

    /// A row of which no more is known.
    public init(objectID: ManagedObjectID, version: Int64) {
      self.objectID = objectID
      self.version = version
      snapshot = nil
      overwritesConflicts = false
    }
  }

  /// A change of links that no to-one slot carries: many-to-many, a to-many without inverse, or
  /// the order of an ordered relationship.
  ///
  /// A many-to-many link is reported from one side only, whichever the context chose.
  public struct LinkChange: Sendable {
    public let relationship: RelationshipDescription
    public let owner: ManagedObjectID
    public let added: [ManagedObjectID]
    public let removed: [ManagedObjectID]
    /// All members in their new order, when the relationship is ordered.
    public let order: [ManagedObjectID]?
    public init(
      relationship: RelationshipDescription, owner: ManagedObjectID,
      added: [ManagedObjectID] = [], removed: [ManagedObjectID] = [],
      order: [ManagedObjectID]? = nil
    ) {
      self.relationship = relationship
      self.owner = owner
      self.added = added
      self.removed = removed
      self.order = order
    }
  }

  /// An unchanged row whose version must still be the known one.
  public struct Lock: Sendable {
    public let objectID: ManagedObjectID
    public let version: Int64
    public init(objectID: ManagedObjectID, version: Int64) {
      self.objectID = objectID
      self.version = version
    }
  }

  /// Keys of new rows that are taken with the save instead of being reserved before it.
  package var rowKeyClaims: [RowKeyClaim] = []
  public var insertions: [Insertion] = []
  public var updates: [Update] = []
  public var deletions: [Deletion] = []
  public var links: [LinkChange] = []
  public var locks: [Lock] = []
  /// Bookkeeping that commits with the rows.
  public var sidecar: [SidecarOperation] = []
  public var author: String?
  public var contextName: String?
  /// The time history records.
  public var date = Date()

  public init() {}

  public var isEmpty: Bool { isWithoutRows && locks.isEmpty && sidecar.isEmpty }

  /// Whether it changes nothing that a reader of rows would see.
  package var isWithoutRows: Bool {
    insertions.isEmpty && updates.isEmpty && deletions.isEmpty && links.isEmpty
  }
}
