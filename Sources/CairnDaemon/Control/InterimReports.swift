// What blocking work tells of itself, on its way to the caller.

/// Sends how far a piece of work is, a few times a second at most.
enum InterimReports {
  /// Runs work that reports, and returns once the last report is on its way: none follows the answer.
  ///
  /// A caller that has hung up does not end the work, which goes on without reports.
  static func sending<Report: Sendable, Value: Sendable>(
    _ send: @escaping @Sendable (Report) async throws -> Void,
    from work: (@escaping @Sendable (Report) -> Void) async throws -> Value
  ) async throws -> Value {
    let (reports, continuation) = AsyncStream.makeStream(
      of: Report.self, bufferingPolicy: .bufferingNewest(1))
    let sending = Task {
      for await report in reports {
        try? await send(report)
        try? await Task.sleep(for: .milliseconds(200))
      }
    }
    let result: Result<Value, any Error>
    do {
      result = .success(try await work { continuation.yield($0) })
    } catch {
      result = .failure(error)
    }
    continuation.finish()
    sending.cancel()
    await sending.value
    return try result.get()
  }
}
