import CairnModel

/// An optional promise of a store: it deletes rows of which only the key and the version are known,
/// and finds those of a relationship's members.
///
/// A cascade then need not read the values of what it deletes. A store without it is asked for whole
/// rows.
public protocol MemberVersionReading: AnyObject, Sendable {
  /// The members of a to-many relationship of any of the owners, in no particular order, with the
  /// versions of their rows.
  ///
  /// Nil when the store needs the values of such rows to delete them.
  func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [MemberVersion]?
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
