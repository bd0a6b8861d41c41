import CairnPlatform
import CairnStore
import Foundation
import Synchronization

/// Notices commits of other programs: the server tells each session that listens, and a slow look is the net.
///
/// It has a connection of its own. When that ends, it makes another one, and takes it that there were commits meanwhile.
/// Those who listen are called when it ends, too: they look at the store, and find out that the server is gone.
// Unchecked: mutable state is `state`, inside a mutex; the connection in it is used on `queue` alone.
final class CommitListening: @unchecked Sendable {
  /// The connection, with the source that tells when there is something to read.
  // Unchecked: used on `queue` alone; of the source other threads only call `cancel`, which Dispatch allows.
  private struct Session: @unchecked Sendable {
    let connection: PostgreSQLConnection
    let source: any DispatchSourceRead
  }
  // Unchecked: only `cancel` is called through it, which Dispatch allows on any thread.
  private struct Timer: @unchecked Sendable {
    let source: any DispatchSourceTimer
  }
  private struct State {
    var session: Session?
    var timer: Timer?
    var isStopped = false
    /// The newest commit with a number that was seen; nil after one that was told of, its own included: the next
    /// look begins from there.
    var last: Int64?
    /// Attempts to connect in a row that failed.
    var failures = 0
    /// Whether those who listen were called because the server cannot be reached, which happens once.
    var isCutOff = false
  }
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "cairn.postgresql.commits", qos: .utility)
  private let channel: String
  /// What this store object says with its own commits, which are no news to it.
  private let ownPayload: String
  private let connect: @Sendable () throws -> PostgreSQLConnection
  /// Reads the number of the newest commit.
  private let newest: @Sendable () throws -> Int64
  private let onCommit: @Sendable () -> Void

  /// How often it looks by itself.
  private static let slowLook = 60.0

  init(
    channel: String, ownPayload: String,
    connect: @escaping @Sendable () throws -> PostgreSQLConnection,
    newest: @escaping @Sendable () throws -> Int64, onCommit: @escaping @Sendable () -> Void
  ) throws {
    self.channel = channel
    self.ownPayload = ownPayload
    self.connect = connect
    self.newest = newest
    self.onCommit = onCommit
    try queue.sync { try begin() }
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + Self.slowLook, repeating: Self.slowLook)
    timer.setEventHandler { [weak self] in self?.look() }
    let handle = Timer(source: timer)
    state.withLock { $0.timer = handle }
    handle.source.resume()
  }

  deinit { stop() }

  /// The channel of a store, whatever its schema is called.
  static func channel(of schema: SchemaName) -> String {
    var allocator = NameAllocator()
    return allocator.unique("cairn \(schema.text)")
  }

  /// Tells those who listen, when the transaction commits.
  static func announcement(in schema: SchemaName, _ payload: String) -> Statement {
    var parameters = ParameterList()
    parameters.append(channel(of: schema))
    parameters.append(payload)
    return Statement("SELECT pg_notify($1, $2)", parameters)
  }

  /// No call begins afterwards; one that is under way may still finish.
  func stop() {
    let (session, timer) = state.withLock { state in
      state.isStopped = true
      defer { (state.session, state.timer) = (nil, nil) }
      return (state.session, state.timer)
    }
    timer?.source.cancel()
    session?.source.cancel()
  }

  var isListening: Bool { state.withLock { $0.session != nil } }

  // MARK: On the queue

  private func begin() throws {
    let connection = try connect()
    try connection.run("LISTEN \(SQLText.name(channel))", isKept: false)
    let number = try newest()
    let source = DispatchSource.makeReadSource(
      fileDescriptor: connection.socket, queue: queue)
    source.setEventHandler { [weak self] in self?.take() }
    // The descriptor must not be closed before the source has ended.
    source.setCancelHandler { withExtendedLifetime(connection) {} }
    let session = Session(connection: connection, source: source)
    let isStopped = state.withLock { state in
      if !state.isStopped { state.session = session }
      state.last = number
      state.failures = 0
      state.isCutOff = false
      return state.isStopped
    }
    source.resume()
    if isStopped { source.cancel() }
  }

  private func take() {
    guard let session = state.withLock({ $0.session }) else { return }
    var isNews = false
    do {
      let now = MonotonicClock.nanoseconds
      while let found = try session.connection.notification(until: now) {
        guard found.channel == channel else { continue }
        state.withLock { $0.last = nil }
        if found.payload != ownPayload { isNews = true }
      }
    } catch {
      lose(session)
      return
    }
    if isNews { onCommit() }
  }

  private func lose(_ session: Session) {
    state.withLock { $0.session = nil }
    session.source.cancel()
    noteCutOff()
    connectAgain()
  }

  private func noteCutOff() {
    let isNews = state.withLock { state in
      defer { state.isCutOff = true }
      return !state.isStopped && !state.isCutOff
    }
    if isNews { onCommit() }
  }

  private func connectAgain() {
    let failures = state.withLock { $0.isStopped ? nil : $0.failures }
    guard let failures else { return }
    let pause = min(30, 0.1 * Double(1 << min(failures, 9)))
    queue.asyncAfter(deadline: .now() + pause) { [weak self] in
      guard let self, !state.withLock({ $0.isStopped }) else { return }
      do {
        try begin()
        onCommit()
      } catch {
        state.withLock { $0.failures += 1 }
        connectAgain()
      }
    }
  }

  /// Looks whether there are commits that no notification has announced.
  func look() {
    guard let number = try? newest() else { return noteCutOff() }
    let isNews = state.withLock { state in
      defer { (state.last, state.isCutOff) = (number, false) }
      return !state.isStopped && state.last != nil && state.last != number
    }
    if isNews { onCommit() }
  }
}
