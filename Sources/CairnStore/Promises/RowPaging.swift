import CairnModel

/// An optional promise of a store: it goes through its rows by their keys, a page at a time, so that a
/// reader need not hold the objects of all of them.
public protocol RowPaging: AnyObject, Sendable {
  /// The objects of an entity and its subentities in the order of their row keys.
  ///
  /// - Parameters:
  ///   - root: An entity without a superentity.
  ///   - key: The rows follow this one.
  ///   - limit: How many there are at most.
  func objectIDs(
    of root: EntityDescription, after key: Int64, limit: Int
  ) throws -> [ManagedObjectID]
}
