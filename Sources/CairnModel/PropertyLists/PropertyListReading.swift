import Foundation

/// Reads property lists that may come from anywhere: from a damaged store, or a hostile one.
package enum PropertyListReading {
  /// The value of a property list in any format.
  ///
  /// A binary one is looked at first: Foundation on Linux crashes on the sets that the format
  /// allows, and that no property list has, because nothing writes them; and it makes a tree, in which
  /// an array that stands twice in each of forty others has a trillion places.
  ///
  /// - Throws: For data that is no property list.
  package static func value(in data: Data) throws -> Any {
    if data.starts(with: Data("bplist".utf8)) {
      try BinaryPropertyList(data).checkTree(depth: depth, count: count)
    }
    return try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
  }

  /// The binary property list of a value, which ``value(in:)`` reads.
  ///
  /// - Throws: For what is none, such as a date of no number.
  package static func data(of value: Any) throws -> Data {
    let data = try PropertyListSerialization.data(
      fromPropertyList: value, format: .binary, options: 0)
    try BinaryPropertyList(data).checkTree(depth: depth, count: count)
    return data
  }

  /// What the tree of a list may have at most.
  private static let depth = 128
  private static let count = 1_000_000
}
