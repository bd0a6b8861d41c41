import GRDBSQLite

/// Reports, while one long statement of a migration runs, that it is getting on.
///
/// SQLite calls back after so many instructions of its own, so a report means that work was done;
/// a statement that hangs reports nothing. Used by the one thread that migrates.
final class MigrationPulse {
  private let report: @Sendable (Double) -> Void
  private let interval: Duration
  private var fraction = 0.0
  private var lastReport = ContinuousClock.now
  /// About a tenth of a second of SQLite's work.
  private static let instructions: Int32 = 1_000_000

  /// - Parameter interval: The least time between two reports of the same fraction.
  init(interval: Duration = .seconds(1), report: @escaping @Sendable (Double) -> Void) {
    self.interval = interval
    self.report = report
  }

  /// A stage has been reached.
  func advance(to fraction: Double) {
    self.fraction = fraction
    lastReport = .now
    report(fraction)
  }

  /// Runs the work with the pulse beating on its connection.
  func beat<T>(on connection: OpaquePointer, while work: () throws -> T) rethrows -> T {
    sqlite3_progress_handler(
      connection, Self.instructions,
      { pulse in
        CallbackContext.object(pulse, as: MigrationPulse.self)?.tick()
        return 0
      }, CallbackContext.unretained(self))
    // The handler must not outlive the pulse it points to.
    defer {
      sqlite3_progress_handler(connection, 0, nil, nil)
      withExtendedLifetime(self) {}
    }
    return try work()
  }

  private func tick() {
    guard ContinuousClock.now - lastReport >= interval else { return }
    advance(to: fraction)
  }
}
