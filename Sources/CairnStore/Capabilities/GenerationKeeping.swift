import CairnModel

/// One state of a store's committed rows, which stays readable whatever is committed after it.
///
/// It lasts as long as an object refers to it, unless the store has to give it up; then reading
/// throws. Any thread may read.
public protocol StoreGeneration: AnyObject, Sendable {
  /// Whether it can still be read.
  var isReadable: Bool { get }
  /// As ``PersistentStore/fetch(_:)``.
  func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult
  /// As ``PersistentStore/snapshots(for:)``.
  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?]
  /// As ``PersistentStore/members(of:owners:)``.
  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]]
}

/// A capability of a store: reads can be pinned to one state of it, while others write.
public protocol GenerationKeeping: AnyObject, Sendable {
  /// The state after the last commit; nil when the store as it was opened cannot keep one.
  func currentGeneration(lasting: GenerationLifetime) throws -> (any StoreGeneration)?
}

extension GenerationKeeping {
  /// The state after the last commit, for as long as the store's options allow.
  public func currentGeneration() throws -> (any StoreGeneration)? {
    try currentGeneration(lasting: .asConfigured)
  }
}

/// How long a store keeps a generation that an object refers to.
public enum GenerationLifetime: Sendable {
  /// As the store's options say, ``StoreOptionKey/queryGenerationMaximumAge`` among them: a program may forget what it
  /// has pinned.
  case asConfigured
  /// Until no object refers to it: for one piece of work that reads all of it, however long that takes.
  case untilReleased
}
