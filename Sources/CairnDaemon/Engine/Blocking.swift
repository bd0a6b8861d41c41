// Work that may take long or hang, kept off Swift's few threads.

import Dispatch

/// Runs work that blocks on a thread of its own.
enum Blocking {
  private static let queue = DispatchQueue(label: "cairn.daemon.blocking", attributes: .concurrent)

  static func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }

  /// What work returns that is done within `limit`; nil when it fails or takes longer, and goes on then without
  /// a caller.
  static func value<T: Sendable>(
    atMost limit: Duration, _ work: @escaping @Sendable () throws -> T
  ) async -> T? {
    let (values, continuation) = AsyncStream.makeStream(of: T.self)
    await wait(atMost: limit) {
      if let value = try? await run(work) { continuation.yield(value) }
    }
    continuation.finish()
    for await value in values { return value }
    return nil
  }

  /// Waits for work, but not longer than `limit`, and no longer once the task is cancelled; the work
  /// goes on then without a caller.
  ///
  /// - Returns: whether it has ended.
  @discardableResult
  static func wait(atMost limit: Duration, for work: @escaping @Sendable () async -> Void) async
    -> Bool
  {
    let (ends, continuation) = AsyncStream.makeStream(of: Bool.self)
    Task {
      await work()
      continuation.yield(true)
      continuation.finish()
    }
    let timer = Task {
      try? await Task.sleep(for: limit)
      continuation.finish()
    }
    defer { timer.cancel() }
    for await hasEnded in ends { return hasEnded }
    return false
  }
}
