import CairnModel

/// An optional promise of a store: it reads the rows of a relationship's members along with their
/// IDs, for little more than the IDs alone.
///
/// A store without it is asked for the members, and for their rows when they are used.
public protocol MemberReading: AnyObject, Sendable {
  /// The members of a to-many relationship of each owner, as ``PersistentStore/members(of:owners:)``
  /// gives them, with the rows of the first `rowLimit` of all.
  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], rowLimit: Int
  ) throws -> [[MemberRow]]
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
