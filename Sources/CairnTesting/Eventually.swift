// Waiting for something that happens on another thread or in another process.

/// Looks again and again until the condition holds or the time is over.
///
/// - Returns: Whether it holds.
package func eventually(
  within limit: Duration = .seconds(60), _ condition: @Sendable () throws -> Bool
) async rethrows -> Bool {
  let deadline = ContinuousClock.now + limit
  while ContinuousClock.now < deadline {
    if try condition() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return try condition()
}
