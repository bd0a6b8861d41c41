import Foundation

/// How far the sums of a store go.
struct SumProgress: Equatable {
  /// The last history transaction that they know of.
  var transaction: Int64 = 0
  /// Commits since the store has sums.
  var commits: Int64 = 0

  init() {}

  /// From the bytes of ``withBytes(_:)``; nil for others.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    transaction = Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
    commits = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self))
  }

  /// The two numbers, low bytes first.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let words = InlineWords(transaction: transaction.littleEndian, commits: commits.littleEndian)
    return try withUnsafeBytes(of: words, body)
  }

  private struct InlineWords {
    let transaction, commits: Int64
  }
}
