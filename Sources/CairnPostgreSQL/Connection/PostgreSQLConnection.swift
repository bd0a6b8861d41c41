import CLibPQ
import CairnPlatform
import CairnStore
import Foundation

/// One session of a PostgreSQL server.
///
/// Each wait for the server has an end: a network that is gone costs a thread as long as the settings say, not for
/// ever, while one that is only slow may take its time. What fails is thrown as ``PostgreSQLFailure``; after one that ends the connection, all
/// later calls throw the same.
// Unchecked: a connection is used by one thread at a time, which the pool sees to by lending each to one caller.
// `cancellation` alone goes to other threads, and has its own proof.
package final class PostgreSQLConnection: @unchecked Sendable {
  let libpq: LibPQ
  let settings: ConnectionParameters
  let handle: OpaquePointer
  /// What ended the connection.
  private(set) var end: PostgreSQLFailure?
  var statements = StatementCache()
  /// What goes to the server along with the next statements; nil once it has its answer.
  var companion: CompanionStatement?
  package private(set) var server = ServerFacts()

  /// Connects, and makes the session one in which the store's statements mean what they say.
  ///
  /// - Parameter setsUpPooled: Whether it does so behind a pooler, too; else ``setUp()`` follows.
  /// - Throws: `CoreDataError`, since it is known here what was opened.
  package init(_ settings: ConnectionParameters, setsUpPooled: Bool = true) throws {
    let libpq = try LibPQ.functions()
    self.libpq = libpq
    self.settings = settings
    let parameters = settings.parameters
    let connect = { @Sendable in
      TerminatedList.of(parameters.map(\.keyword)) { keywords in
        TerminatedList.of(parameters.map(\.value)) { values in
          Abandonment.Handle(connection: libpq.connect(keywords, values, 0))
        }
      }
    }
    let attempt = settings.abandonment.map { $0.connecting(libpq, connect) } ?? connect()
    guard let attempt else { throw Self.abandoned.error("open", settings.description) }
    guard let opened = attempt.connection else {
      throw PostgreSQLFailure(.client, "libpq has no memory for a connection")
        .error("open", settings.description)
    }
    handle = opened
    // They would go to standard error.
    _ = libpq.setNoticeReceiver(handle, { _, _ in }, nil)
    do {
      guard libpq.status(handle) == 0 else {
        throw PostgreSQLFailure(.connecting, settings.redacted(message))
      }
      guard libpq.setNonblocking(handle, 1) == 0 else {
        throw PostgreSQLFailure(.client, settings.redacted(message))
      }
      try checkVersion()
      (server, backendProcess) = try SessionSetup(settings: settings).run(
        on: self, setsUpPooled: setsUpPooled)
    } catch let failure as PostgreSQLFailure {
      throw failure.error("open", settings.description)
    }
  }

  /// Makes a session behind a pooler one in which the store's statements mean what they say.
  func setUp() throws {
    (server, backendProcess) = try SessionSetup(settings: settings).run(
      on: self, setsUpPooled: true)
  }

  deinit { libpq.finish(handle) }

  /// The version of the oldest server that has what the store's statements use, such as `xid8`.
  static let oldestServer: Int32 = 13_00_00

  private func checkVersion() throws {
    let version = libpq.serverVersion(handle)
    if version >= Self.oldestServer { return }
    throw CoreDataError(
      .persistentStoreOpen,
      "The server of \(settings.description) is PostgreSQL \(version / 10_000); stores need "
        + "\(Self.oldestServer / 10_000) or newer. Upgrade the server.")
  }

  // MARK: What is known

  /// libpq's last words about the connection, on one line.
  private var message: String {
    libpq.errorMessage(handle).map { String(cString: $0).trimmedLine } ?? "no reason given"
  }

  /// The number of the process that serves the session at the server.
  package private(set) var backendProcess: Int32 = 0

  /// Whether a pooler stands before the server: it gives its clients numbers of its own.
  var isPooled: Bool { backendProcess != libpq.backendProcess(handle) }

  /// The descriptor of the session's socket, to wait for what the server sends.
  var socket: Int32 { libpq.socket(handle) }

  var transactionStatus: TransactionStatus {
    TransactionStatus(rawValue: libpq.transactionStatus(handle)) ?? .unknown
  }

  /// Whether the connection may serve another caller: it works, and no transaction is open on it.
  var isReusable: Bool {
    end == nil && libpq.status(handle) == 0 && transactionStatus == .idle
  }

  /// Whether the server has not ended the session while it stood idle: its farewell would be there to read.
  var isAlive: Bool {
    let socket = libpq.socket(handle)
    guard isReusable, socket >= 0 else { return false }
    while true {
      let ready = try? DescriptorReadiness.reading.wait(
        on: socket, until: MonotonicClock.nanoseconds)
      if ready == [] { return true }
      // Reading it to its end tells a farewell from a notice.
      guard ready != nil, libpq.consumeInput(handle) == 1, libpq.isBusy(handle) == 0, isReusable
      else { return false }
    }
  }

  /// Where the session is, for messages.
  package var place: String { settings.description }

  // MARK: Waiting

  /// The moment until which the server has to take or give something.
  private func answerDeadline() -> UInt64? {
    settings.answerTimeout.map {
      MonotonicClock.nanoseconds &+ UInt64(max(0, $0.wholeNanoseconds))
    }
  }

  /// Notes that the connection is of no use any more.
  func lose(_ failure: PostgreSQLFailure) -> PostgreSQLFailure {
    if end == nil { end = failure }
    return failure
  }

  func checkIsUsable() throws {
    if let end { throw end }
  }

  /// The connection failed in libpq's hands.
  func lost() -> PostgreSQLFailure {
    lose(PostgreSQLFailure(.lost, settings.redacted(message)))
  }

  /// Waits for the socket.
  ///
  /// - Returns: What it is ready for; never empty.
  private func wait(
    for events: DescriptorReadiness
  ) throws -> DescriptorReadiness {
    let socket = libpq.socket(handle)
    guard socket >= 0 else { throw lost() }
    let deadline = answerDeadline()
    while true {
      let now = MonotonicClock.nanoseconds
      let interval = settings.abandonment == nil ? Self.lookInterval : Self.eagerInterval
      let look = min(deadline ?? .max, now &+ interval)
      do {
        let ready = try events.wait(on: socket, until: look)
        if !ready.isEmpty {
          QueueWork.gotOn()
          return ready
        }
      } catch {
        throw lose(PostgreSQLFailure(.lost, "\(error)"))
      }
      if settings.abandonment?.isOn == true { throw lose(Self.abandoned) }
      guard let deadline else { continue }
      if MonotonicClock.nanoseconds >= deadline {
        throw lose(PostgreSQLFailure(.lost, "the server gave no answer in time"))
      }
      // A wait that has an end is one that gets on.
      QueueWork.gotOn()
    }
  }

  /// In nanoseconds.
  private static let lookInterval: UInt64 = 1_000_000_000
  private static let eagerInterval = UInt64(Abandonment.look.wholeNanoseconds)
  private static let abandoned = PostgreSQLFailure(
    .lost, "the server gave no answer before the store was closed")

  /// Takes in what the server has sent.
  ///
  /// - Returns: false when the connection ended; the server's last words may be among what it took in.
  private func takeIn() throws -> Bool {
    if libpq.consumeInput(handle) == 1 { return true }
    // Without a socket libpq waits for nothing any more.
    guard libpq.socket(handle) < 0 else { throw lost() }
    return false
  }

  /// Sends what libpq holds back, and takes in what the server sends meanwhile: it may wait for that.
  func flush() throws {
    while true {
      switch libpq.flush(handle) {
      case 0: return
      case 1:
        let ready = try wait(for: [.reading, .writing])
        if ready.contains(.reading), try !takeIn() { return }
      default:
        // The server may have said why before it went.
        return
      }
    }
  }

  /// The next result, nil when there is none left of the statement.
  func nextResult() throws -> PostgreSQLRows? {
    try flush()
    while libpq.isBusy(handle) == 1 {
      _ = try wait(for: .reading)
      if try !takeIn() { break }
    }
    return libpq.nextResult(handle).map { PostgreSQLRows($0, libpq: libpq) }
  }

  /// Reads the results of one statement to the end.
  ///
  /// - Returns: The last one.
  func finishStatement() throws -> PostgreSQLRows {
    var last: PostgreSQLRows?
    var failure: PostgreSQLFailure?
    while let result = try nextResult() {
      if let problem = self.failure(in: result) {
        failure = failure ?? problem
      } else {
        last = result
      }
      // More comes only after the caller has sent data.
      if result.status == .copyIn || result.status == .copyOut { break }
    }
    if let failure { throw failure }
    guard let last else { throw lost() }
    return last
  }

  /// What a result says that failed, nil for one that did not.
  func failure(in result: PostgreSQLRows) -> PostgreSQLFailure? {
    switch result.status {
    case .commandOK, .rows, .singleRow, .copyIn, .copyOut, .copyBoth, .emptyQuery, .notice,
      .pipelineSync, .pipelineAborted:
      return nil
    case .failure, .badResponse, nil:
      let failure = PostgreSQLFailure(result.handle, libpq: libpq)
      if failure.endsConnection || libpq.status(handle) != 0 { return lose(failure) }
      return failure
    }
  }

  // MARK: Notifications

  /// Something that another session said with NOTIFY on a channel that this one listens on.
  package struct Notification: Sendable, Equatable {
    package let channel: String
    package let payload: String
    /// The session's ``PostgreSQLConnection/backendProcess``.
    package let process: Int32
  }

  /// The next notification.
  ///
  /// - Parameter deadline: A reading of `MonotonicClock.nanoseconds`, until which to wait for one.
  /// - Returns: nil when none came until then.
  package func notification(until deadline: UInt64) throws -> Notification? {
    try checkIsUsable()
    while true {
      if let found = libpq.nextNotification(handle) {
        defer { libpq.freeMemory(found) }
        return Notification(
          channel: found.pointee.channel.map { String(cString: $0) } ?? "",
          payload: found.pointee.payload.map { String(cString: $0) } ?? "",
          process: found.pointee.process)
      }
      let socket = libpq.socket(handle)
      guard socket >= 0, libpq.status(handle) == 0 else { throw lost() }
      // Silence is no failure here.
      let ready = try DescriptorReadiness.reading.wait(on: socket, until: deadline)
      if ready.isEmpty { return nil }
      guard try takeIn() else { throw lost() }
    }
  }
}
