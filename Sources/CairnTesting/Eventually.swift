// Waiting for something that happens on another thread or in another process.

extension Duration {
  /// How long a test waits for what must come.
  ///
  /// It ends hangs only: asynchronous work shares the threads of a test run, as many as there are
  /// processors, with tests that keep one for minutes, and stands behind those.
  package static let patience = Duration.seconds(540)
}

/// Looks again and again until the condition holds or the time is over.
///
/// - Returns: Whether it holds.
package func eventually(
  within limit: Duration = .patience, _ condition: @Sendable () throws -> Bool
) async rethrows -> Bool {
  let deadline = ContinuousClock.now + limit
  while ContinuousClock.now < deadline {
    if try condition() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return try condition()
}
