import Foundation

/// A change to a store's sidecar: ordered key-value maps that live in the store's database and
/// commit with its rows, for bookkeeping such as that of sync.
public enum SidecarOperation: Sendable {
  case put(SidecarKey, Data)
  /// Puts many entries at once, as ``put(_:_:)`` would one by one.
  case putAll(SidecarRun)
  case remove(SidecarKey)
  /// The save succeeds only if the entry has exactly this value now (nil: is absent).
  case require(SidecarKey, Data?)
  /// Adds to the numbers of an entry, each 64 bits in big-endian order, modulo 2⁶⁴.
  ///
  /// The writer need not know what is there, so that commits which add to the same entry do not disturb each
  /// other. An entry that is absent, or of another size, counts as zeros; one that becomes zeros is removed.
  case add(SidecarKey, [UInt64])
  /// Puts an entry under the number of the history transaction that the save writes, as 8 big-endian
  /// bytes; nothing where the save writes none.
  case putAtTransaction(map: String, Data)
}

extension SidecarOperation {
  /// What becomes of an entry by ``add(_:_:)``.
  ///
  /// - Returns: Nil when nothing but zeros is left.
  package static func sum(_ numbers: [UInt64], _ stored: Data?) -> Data? {
    let old = stored.flatMap { $0.count == numbers.count * 8 ? [UInt8]($0) : nil }
    var result: [UInt8] = []
    result.reserveCapacity(numbers.count * 8)
    for (index, number) in numbers.enumerated() {
      let before = old?[(index * 8)..<(index * 8 + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      withUnsafeBytes(of: ((before ?? 0) &+ number).bigEndian) { result.append(contentsOf: $0) }
    }
    return result.allSatisfy { $0 == 0 } ? nil : Data(result)
  }
}
