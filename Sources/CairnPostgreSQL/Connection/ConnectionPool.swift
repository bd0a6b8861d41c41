import CairnPlatform
import CairnStore
import Foundation

/// The connections of a store: at most so many, each lent to one caller at a time.
// Unchecked: `idle`, `lent` and `isClosed` are read and changed under `condition` alone; connections in `idle` are
// lent to no caller.
package final class ConnectionPool: @unchecked Sendable {
  package let settings: ConnectionParameters
  package let limit: Int
  /// How long a caller waits for a connection that others have.
  private let patience: Duration

  private let condition = NSCondition()
  private var idle: [(connection: PostgreSQLConnection, since: UInt64)]
  private var lent = 0
  private var isClosed = false

  /// What was not used for so long is closed when another connection comes back: the server has better uses for
  /// its processes.
  private static let longestIdle = Duration.seconds(300)

  package init(
    _ settings: ConnectionParameters, limit: Int = 4, patience: Duration = .seconds(30),
    first: PostgreSQLConnection? = nil
  ) {
    idle = first.map { [($0, MonotonicClock.nanoseconds)] } ?? []
    self.settings = settings
    self.limit = max(1, limit)
    self.patience = patience
  }

  /// Lends a connection for as long as the closure runs.
  ///
  /// One that has failed, or has a transaction open when the closure ends, is closed instead of lent again.
  package func withConnection<Result>(
    _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    let connection = try borrow()
    defer { giveBack(connection) }
    return try body(connection)
  }

  /// Opens a connection beside the pool, for one that waits for notifications or for asking after a lost commit.
  package func separateConnection() throws -> PostgreSQLConnection {
    try PostgreSQLConnection(settings)
  }

  /// Closes the idle connections: of those that rest the server has a process each.
  package func closeIdle() { dropIdle() }

  /// Closes the idle connections, and those that are lent when they come back.
  package func close() {
    condition.lock()
    let closing = idle
    idle = []
    isClosed = true
    condition.broadcast()
    condition.unlock()
    // Ending a connection writes to the network, so it happens after the lock is released.
    withExtendedLifetime(closing) {}
  }

  private func borrow() throws -> PostgreSQLConnection {
    let deadline = Date(timeIntervalSinceNow: patience.inSeconds)
    condition.lock()
    while idle.isEmpty, lent >= limit, !isClosed {
      guard condition.wait(until: deadline) else {
        condition.unlock()
        throw CoreDataError(
          .persistentStoreTimeout,
          "All \(limit) connections to \(settings.description) were in use for longer than "
            + "\(Int(patience.inSeconds)) s; try again, or allow more.")
      }
    }
    if isClosed {
      condition.unlock()
      throw CoreDataError(
        .persistentStoreOperation, "The store on \(settings.description) is closed; open it again.")
    }
    lent += 1
    let found = idle.popLast()?.connection
    condition.unlock()
    if let found {
      if found.isAlive { return found }
      // The server ended it meanwhile, and those that waited with it.
      dropIdle()
    }
    do {
      return try PostgreSQLConnection(settings)
    } catch {
      condition.lock()
      lent -= 1
      condition.signal()
      condition.unlock()
      throw error
    }
  }

  private func giveBack(_ connection: PostgreSQLConnection) {
    let longest = UInt64(max(0, Self.longestIdle.wholeNanoseconds))
    var closing: [PostgreSQLConnection] = []
    condition.lock()
    // Read under the lock: what another caller has given back is never of a later moment.
    let now = MonotonicClock.nanoseconds
    lent -= 1
    if connection.isReusable, !isClosed { idle.append((connection, now)) }
    while let first = idle.first, now - first.since > longest {
      closing.append(first.connection)
      idle.removeFirst()
    }
    condition.signal()
    condition.unlock()
    withExtendedLifetime(closing) {}
  }

  private func dropIdle() {
    condition.lock()
    let closing = idle
    idle = []
    condition.unlock()
    withExtendedLifetime(closing) {}
  }
}
