// Work that must not overlap.

/// Lets one piece of work run at a time, in the order of asking.
actor OneAtATime {
  private var isBusy = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func run<Value: Sendable>(_ work: @Sendable () async throws -> Value) async rethrows -> Value {
    if isBusy {
      await withCheckedContinuation { waiting.append($0) }
    } else {
      isBusy = true
    }
    defer {
      if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
    return try await work()
  }
}
