// Work that waits for a disk.

import Dispatch

enum BlockingRead {
  /// Runs the block where it keeps no thread of Swift's concurrency waiting: these are as few as there are
  /// processors.
  static func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
  }
}
