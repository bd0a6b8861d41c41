// Work of tests that blocks its thread.

import Foundation

/// Runs blocking work on a thread of its own: the few threads of Swift's pool are for the servers.
package func offPool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws
  -> Value
{
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
  }
}
