import Synchronization

/// Work that ends by calling back, and that a caller need not wait for when its task is cancelled.
enum Abandonable {
  private enum State<Value: Sendable> {
    case beginning
    case waiting(CheckedContinuation<Value, any Error>)
    case ended
  }

  /// - Parameter begin: Begins the work; the function that it is given returns false when no caller waits
  ///   for the result any more.
  /// - Throws: What the work ends with, or `CancellationError`.
  static func run<Value: Sendable>(
    _ begin: (@escaping @Sendable (Result<Value, any Error>) -> Bool) -> Void
  ) async throws -> Value {
    let state = SharedState<Value>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard state.wait(continuation) else { return }
        begin { state.end($0) }
      }
    } onCancel: {
      _ = state.end(.failure(CancellationError()))
    }
  }

  private final class SharedState<Value: Sendable>: Sendable {
    private let state = Mutex(State<Value>.beginning)

    /// False when it has been cancelled before it began.
    func wait(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
      let isCancelled = state.withLock { state in
        if case .ended = state { return true }
        state = .waiting(continuation)
        return false
      }
      if isCancelled { continuation.resume(throwing: CancellationError()) }
      return !isCancelled
    }

    /// False when it has ended before.
    func end(_ result: Result<Value, any Error>) -> Bool {
      let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
        defer { state = .ended }
        if case .waiting(let continuation) = state { return continuation }
        return nil
      }
      continuation?.resume(with: result)
      return continuation != nil
    }
  }
}
