import CairnPlatform
import CairnStore
import Foundation
import GRDB
import Synchronization

/// Notices that other connections, of this process or another one, committed to the database.
///
/// The kernel tells when the file or its log was written; then SQLite's `data_version` on the
/// store's own writing connection tells whether somebody else committed: it does not change with
/// the commits of that connection. A commit counts only a moment after its last bytes were written,
/// which may take a disk its time and which the kernel does not tell of: the version is looked at again
/// for a while. Where files cannot be watched, or other machines write, it is looked at every second.
// Unchecked: mutable state is `state`, inside a mutex. Handlers run on the watch's queue, or on
// `queue`; `check` is never run twice at a time.
final class CommitWatch: @unchecked Sendable {
  private struct State {
    var files: FileWatch?
    var timer: Timer?
    var version: Int64?
    var isStopped = false
    var noticesCommits = false
    /// How often the files were written.
    var writes = 0
  }
  // Unchecked: only `cancel` is called through it, which Dispatch allows on any thread.
  private struct Timer: @unchecked Sendable {
    let source: any DispatchSourceTimer
  }
  private let state = Mutex(State())
  private let checking = Mutex<Void>(())
  private let queue = DispatchQueue(label: "cairn.sqlite.commit-watch", qos: .utility)
  private weak var database: (any DatabaseWriter)?
  private let onCommit: @Sendable () -> Void

  init(
    _ database: any DatabaseWriter, path: String, onCommit: @escaping @Sendable () -> Void
  ) throws {
    self.database = database
    self.onCommit = onCommit
    let version = try Self.version(database)
    state.withLock { $0.version = version }
    let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let name = url.lastPathComponent
    let folder = url.deletingLastPathComponent().path
    let files = try? FileWatch(
      folder: folder, names: [name, name + "-wal"], debounce: .milliseconds(2), isEager: true
    ) { [weak self] in self?.filesWereWritten() }
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

  /// When the version is looked at again after the files were written, in milliseconds after the look
  /// before.
  private static let laterLooks = [1, 2, 7, 20, 70, 200, 700]

  private func filesWereWritten() {
    let writes = state.withLock { state in
      state.writes += 1
      return state.writes
    }
    look(Self.laterLooks[...], at: writes)
  }

  private func look(_ later: ArraySlice<Int>, at writes: Int) {
    if check() { return }
    guard let pause = later.first else { return }
    queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [weak self] in
      // What is written meanwhile begins anew.
      guard let self, state.withLock({ $0.writes == writes && !$0.isStopped }) else { return }
      look(later.dropFirst(), at: writes)
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
    if isNew { onCommit() }
    return isNew
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
      watch = try CommitWatch(try database, path: path, onCommit: onCommit)
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
