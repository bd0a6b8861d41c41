/// How long reading may take that another program asks for.
///
/// A condition that comes over a wire can be cheap to write and take hours. A store ends a statement that runs
/// when the time is over; what has been read until then is dropped.
package enum ReadLimit {
  @TaskLocal private static var end: ContinuousClock.Instant?

  /// Whether the time is over that the calling thread has for what it reads.
  package static var isOver: Bool { end.map { ContinuousClock.now > $0 } ?? false }

  /// Runs work that reads stores on the calling thread, for a limited time; nil limits nothing.
  package static func holding<Result>(
    _ limit: Duration?, _ work: () throws -> Result
  ) rethrows -> Result {
    guard let limit else { return try work() }
    return try $end.withValue(.now + limit, operation: work)
  }
}
