import CairnModel

/// An optional promise of a store: it tells how large rows are without reading their values.
public protocol RowMeasuring: AnyObject, Sendable {
  /// The bytes of the strings and data in each of the rows, about; 0 where there is no row.
  func rowSizes(of objectIDs: [ManagedObjectID]) throws -> [Int]
  /// The same of all rows together.
  func totalRowSize(of objectIDs: [ManagedObjectID]) throws -> Int
}
