import CairnPlatform
import CairnStore
import Foundation
import GRDB
import Synchronization

/// Notices that other connections, of this process or another one, committed to the database.
///
/// The kernel reports writes to the file or its log. The header of the WAL index then shows whether they have
/// become a commit, and SQLite's `data_version`, on the store's own writing connection, whether another
/// connection made it: the version does not change with this connection's commits. A commit counts only a
/// moment after its last bytes were written, while the disk takes its time, and the kernel does not report
/// that: the watch looks at the header again for a while. Where programs commit without pause it rests
/// up to 200 ms after each commit (``CommitRush``). Where the kernel cannot watch the files, or other machines write
/// them, it looks at the version every second.
// Unchecked: mutable state is `state`, inside a mutex. Handlers run on the watch's queue, or on
// `queue`; `check` is never run twice at a time.
final class CommitWatch: @unchecked Sendable {
  private struct State {
    var files: FileWatch?
    var timer: Timer?
    var version: Int64?
    var isStopped = false
    var noticesCommits = false
    var rush = CommitRush()
    /// What the last check was made for.
    var header: WALIndex.Header?
  }
  // Unchecked: only `cancel` is called through it, which Dispatch allows on any thread.
  private struct Timer: @unchecked Sendable {
    let source: any DispatchSourceTimer
  }
  private let state = Mutex(State())
  private let checking = Mutex<Void>(())
  private let queue = DispatchQueue(label: "cairn.sqlite.commit-watch", qos: .utility)
  private weak var database: (any DatabaseWriter)?
  /// Reads the header of the WAL index; gives nil where it cannot be read now.
  private let header: @Sendable () -> WALIndex.Header?
  private let onCommit: @Sendable () -> Void

  init(
    _ database: any DatabaseWriter, path: String,
    header: @escaping @Sendable () -> WALIndex.Header?, onCommit: @escaping @Sendable () -> Void
  ) throws {
    self.database = database
    self.header = header
    self.onCommit = onCommit
    let version = try Self.version(database)
    state.withLock { $0.version = version }
    let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let name = url.lastPathComponent
    let folder = url.deletingLastPathComponent().path
    let files = try? FileWatch(
      folder: folder, names: [name, name + "-wal"], debounce: .zero, isEager: true,
      laterReports: Self.laterLooks, hasNews: { [weak self] in self?.hasNewHeader() ?? false }
    ) { [weak self] in self?.check() }
    let noticesCommits = files != nil && !FileSystemKind.isShared(at: folder)
    state.withLock { state in
      state.files = files
      state.noticesCommits = noticesCommits
    }
    if !noticesCommits { poll() }
    // Commits between the first look at the version and the watch are not missed.
    queue.async { [weak self] in self?.check() }
  }

  /// Whether the kernel tells of all commits.
  var noticesCommits: Bool { state.withLock { $0.noticesCommits } }

  /// When the header is looked at again after the files were written, each time after the look before.
  private static let laterLooks: [Duration] = [
    .microseconds(300), .microseconds(700), .milliseconds(2), .milliseconds(7), .milliseconds(20),
    .milliseconds(70), .milliseconds(200), .milliseconds(700),
  ]

  /// The thread of the file watches asks this before it has the version looked at.
  private func hasNewHeader() -> Bool {
    // Without a header every look is worth it.
    guard let header = header() else { return true }
    return state.withLock { state in
      defer { state.header = header }
      return state.header != header
    }
  }

  deinit { stop() }

  /// No call begins afterwards; one that is under way may still finish.
  func stop() {
    let (files, timer) = state.withLock { state in
      state.isStopped = true
      defer { (state.files, state.timer) = (nil, nil) }
      return (state.files, state.timer)
    }
    files?.cancel()
    timer?.source.cancel()
  }

  private func poll() {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 1, repeating: 1)
    timer.setEventHandler { [weak self] in self?.check() }
    let handle = Timer(source: timer)
    state.withLock { $0.timer = handle }
    handle.source.resume()
  }

  /// - Returns: Whether another connection has committed.
  @discardableResult
  func check() -> Bool {
    let isNew = checking.withLock { _ in
      guard !state.withLock({ $0.isStopped }), let database,
        // A failure shows when the store is used; here it is no news.
        let version = try? Self.version(database)
      else { return false }
      return state.withLock { state in
        defer { state.version = version }
        return !state.isStopped && state.version != version
      }
    }
    if isNew {
      onCommit()
      rest()
    }
    return isNew
  }

  /// Listens to the files no more for a while, where commits come without pause.
  private func rest() {
    let now = MonotonicClock.nanoseconds
    let (files, nanoseconds) = state.withLock { state in
      (state.noticesCommits ? state.files : nil, state.rush.noticed(at: now))
    }
    if nanoseconds > 0 { files?.rest(until: now + nanoseconds) }
  }

  private static func version(_ database: any DatabaseWriter) throws -> Int64 {
    try database.unsafeReentrantWrite { database in
      try Int64.fetchOne(database, sql: "PRAGMA data_version") ?? 0
    }
  }
}

extension SQLiteStore: CommitWatching {
  public func watchCommits(_ onCommit: @escaping @Sendable () -> Void) throws {
    let watch: CommitWatch
    do {
      let held = try heldReader()
      watch = try CommitWatch(
        try database, path: path, header: { held?.headerIfFree() }, onCommit: onCommit)
    } catch {
      throw SQLiteResultCode.translate(error, path: path, doing: "be watched")
    }
    let old = state.withLock { state in
      defer { state.watch = watch }
      return state.watch
    }
    old?.stop()
  }

  public func stopWatchingCommits() {
    let watch = state.withLock { state in
      defer { state.watch = nil }
      return state.watch
    }
    watch?.stop()
  }

  public var noticesCommits: Bool { state.withLock { $0.watch }?.noticesCommits ?? false }

  public func lookForCommits() { state.withLock { $0.watch }?.check() }
}
