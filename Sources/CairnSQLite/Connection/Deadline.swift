import CairnStore
import GRDBSQLite

/// Tells, while a long statement of a connection runs, that it gets on; ends one whose time is over.
enum StatementProgress {
  /// SQLite calls back after so many of its instructions, every few milliseconds.
  static let instructions: Int32 = 100_000

  /// Makes a connection tell from now on.
  static func install(on connection: OpaquePointer?) {
    let handler: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { _ in
      QueueWork.gotOn()
      return ReadLimit.isOver ? 1 : 0
    }
    sqlite3_progress_handler(connection, instructions, handler, nil)
  }
}

/// Ends what a connection does when it takes too long: a trigger in a file can do anything, without
/// end too.
// Used by the one thread that has the connection.
final class Deadline {
  private let end: ContinuousClock.Instant

  private init(in limit: Duration) { end = ContinuousClock.now + limit }

  /// Runs work on a connection; after the limit, if there is one, it fails as interrupted.
  static func holding<Result>(
    _ limit: Duration?, on connection: OpaquePointer?, _ work: () throws -> Result
  ) rethrows -> Result {
    guard let limit, let connection else { return try work() }
    let deadline = Deadline(in: limit)
    sqlite3_progress_handler(
      connection, StatementProgress.instructions,
      { context in
        QueueWork.gotOn()
        guard let deadline: Deadline = CallbackContext.object(context) else { return 0 }
        return ContinuousClock.now > deadline.end ? 1 : 0
      }, CallbackContext.unretained(deadline))
    defer {
      StatementProgress.install(on: connection)
      withExtendedLifetime(deadline) {}
    }
    return try work()
  }
}
