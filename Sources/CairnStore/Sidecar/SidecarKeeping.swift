import Foundation

/// A capability of a store: it keeps a sidecar.
///
/// Reads see the last commit. Writes go through ``SaveChangesRequest/sidecar``; a request with
/// nothing else records no history.
public protocol SidecarKeeping: AnyObject, Sendable {
  /// The values of the keys, in their order; nil where there is none.
  func sidecarValues(for keys: [SidecarKey]) throws -> [Data?]
  /// Entries of a map in ascending key order, from `lower` (inclusive; nil: the first) up to
  /// `upper` (exclusive; nil: the last), at most `limit` (0: all), without those of one value.
  func sidecarEntries(
    of map: String, from lower: Data?, to upper: Data?, limit: Int, except value: Data?
  ) throws -> [(key: Data, value: Data)]
}

extension SidecarKeeping {
  /// The same, whatever the values are.
  public func sidecarEntries(
    of map: String, from lower: Data?, to upper: Data?, limit: Int
  ) throws -> [(key: Data, value: Data)] {
    try sidecarEntries(of: map, from: lower, to: upper, limit: limit, except: nil)
  }
}
