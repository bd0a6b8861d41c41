import CairnModel

/// A capability of a store: beyond naming the members of relationships, it reads their rows along, for little
/// more than the IDs alone, and deletes those of which it knows only the key and the version.
///
/// A store without it is asked for the members, and for their rows when they are used.
public protocol MemberReading: AnyObject, Sendable {
  /// The members of a to-many relationship of each owner, as ``PersistentStore/members(of:owners:)``
  /// gives them, with the rows of the first `rowLimit` of all.
  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], rowLimit: Int
  ) throws -> [[MemberRow]]
  /// The members of a to-many relationship of any of the owners, in no particular order, with the
  /// versions of their rows: a cascade that has them need not read the values of what it deletes.
  ///
  /// Nil when the store needs the values of such rows to delete them.
  func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [MemberVersion]?
}

/// A member of a relationship, with its row if that was read.
public struct MemberRow: Sendable {
  public let objectID: ManagedObjectID
  public var row: RowSnapshot?

  public init(objectID: ManagedObjectID, row: RowSnapshot?) {
    self.objectID = objectID
    self.row = row
  }
}

/// A member of a relationship with the version of its row.
public struct MemberVersion: Sendable {
  public let objectID: ManagedObjectID
  public let version: Int64

  public init(objectID: ManagedObjectID, version: Int64) {
    self.objectID = objectID
    self.version = version
  }
}
