import CairnModel

/// A capability of a store, for readers that go through all its rows as sync's comparisons do: pages by their keys,
/// sizes, counts, and values that are none.
///
/// A reader then need not hold the objects of all rows, nor make anything of what it only counts.
public protocol RowScanning: AnyObject, Sendable {
  /// The objects of an entity and its subentities in the order of their row keys.
  ///
  /// - Parameters:
  ///   - root: An entity without a superentity.
  ///   - key: The rows follow this one.
  ///   - limit: How many there are at most.
  func objectIDs(
    of root: EntityDescription, after key: Int64, limit: Int
  ) throws -> [ManagedObjectID]
  /// How many rows an entity and its subentities have.
  ///
  /// - Parameter root: An entity without a superentity.
  func census(of root: EntityDescription) throws -> RowCensus
  /// The bytes of the strings and data in each of the rows, about; 0 where there is no row. Values are not read.
  func rowSizes(of objectIDs: [ManagedObjectID]) throws -> [Int]
  /// The same of all rows together.
  func totalRowSize(of objectIDs: [ManagedObjectID]) throws -> Int
  /// By object, the slots of its row that hold a value that is none of its attribute's type, put there by a program
  /// that does not know the model.
  ///
  /// Reading makes something of such a value, as Core Data does: a text in the column of a number is 0. Sync, which
  /// hands values on to other stores, asks here, so that it sends none that no program wrote. A value that is in a
  /// file of its own is none, too, where the file is not there: reading makes null of it.
  ///
  /// - Parameter objectIDs: Whose rows to look at; nil for all there are.
  func strayValues(in objectIDs: [ManagedObjectID]?) throws -> [ManagedObjectID: Set<Int>]
}

/// How many rows there are and, of their keys, the sum modulo 2⁶⁴: other rows practically never have
/// both.
public struct RowCensus: Hashable, Sendable {
  public let count: UInt64
  public let keys: UInt64

  public init(count: UInt64, keys: UInt64) {
    self.count = count
    self.keys = keys
  }
}
