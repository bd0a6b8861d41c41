// Work that waits for a disk.

import Dispatch
import Synchronization

enum BlockingRead {
  /// Runs the block where it keeps no thread of Swift's concurrency waiting: these are as few as there are
  /// processors.
  static func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
  }

  /// Runs the block, and does not wait for it longer than `patience`; what it returns later is dropped.
  ///
  /// - Throws: what the block throws, or `error` when the time is over.
  static func run<T: Sendable>(
    within patience: Duration, otherwise error: PageError,
    _ body: @escaping @Sendable () throws -> T
  ) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      let first = FirstOf(continuation)
      DispatchQueue.global().async { first.resume(with: Result { try body() }) }
      let seconds = Int(patience.components.seconds)
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
        first.resume(with: .failure(error))
      }
    }
  }
}

/// Resumes a continuation with the first of several results.
///
/// Mutable state: the continuation, inside the mutex.
private final class FirstOf<T: Sendable>: Sendable {
  private let continuation: Mutex<CheckedContinuation<T, any Error>?>

  init(_ continuation: CheckedContinuation<T, any Error>) {
    self.continuation = Mutex(continuation)
  }

  func resume(with result: Result<T, any Error>) {
    continuation.withLock { $0.take() }?.resume(with: result)
  }
}
