import CairnModel
import Foundation

/// What programs that know nothing of sums have written since the sums were made.
enum SumNews {
  /// Nothing, as far as history tells.
  case none
  /// What history tells after a transaction.
  case told(after: Int64)
  /// Something of which history no longer tells everything.
  case untold
}

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
    transaction = Self.credible(Int64(littleEndian: bytes.number(at: 0)))
    commits = Self.credible(Int64(littleEndian: bytes.number(at: 8)))
  }

  /// A number out of a file; 0 for one that no store can have counted up to, and from which counting on
  /// would overflow.
  static func credible(_ number: Int64) -> Int64 {
    (0..<Int64.max - 1 << 32).contains(number) ? number : 0
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
