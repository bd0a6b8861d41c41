import CairnModel

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

/// An optional promise of a store: it counts its rows without making anything of them.
public protocol RowCensusTaking: AnyObject, Sendable {
  /// The rows of an entity and its subentities.
  ///
  /// - Parameter root: An entity without a superentity.
  func census(of root: EntityDescription) throws -> RowCensus
}
