// Notices changes of files in a folder, through inotify.
import Dispatch
import Synchronization

/// Reports that files in a folder changed, soon after, several changes as one.
///
/// The folder is watched, not the files, so a file that is removed and made again keeps being
/// noticed. A folder that vanishes is looked for every second and watched again.
/// Memory-mapped writes are not visible to the kernel's watch. Thread-safe.
public final class FileWatch: Sendable {
  private struct State {
    /// Nil before the first and after the last.
    var subscription: UInt64?
    var isReportPending = false
    var isCancelled = false
  }
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "cairn.file-watch")
  private let onChange: @Sendable () -> Void

  private static let retryInterval = DispatchTimeInterval.seconds(1)

  /// Watches `names` in `folder` (all files when nil).
  ///
  /// - Parameters:
  ///   - debounce: How long after the first change the report comes; changes in between join it.
  ///     Steady writing is still reported once per interval.
  ///   - isEager: Whether the first change after such a time without any is reported at once.
  ///   - laterReports: When to report once more after a change, each counted from the report before, for what
  ///     counts only a moment after it was written. Changes meanwhile begin anew.
  ///   - hasNews: Asked before each report, on a thread that all watches share, so it must not wait; false
  ///     leaves the report out.
  ///   - onChange: Called on a private queue, never twice at a time.
  /// - Throws: ``PlatformError`` when the folder cannot be watched now.
  public init(
    folder: String, names: Set<String>? = nil, debounce: Duration = .milliseconds(20),
    isEager: Bool = false, laterReports: [Duration] = [],
    hasNews: @escaping @Sendable () -> Bool = { true }, onChange: @escaping @Sendable () -> Void
  ) throws {
    self.onChange = onChange
    let schedule = ReportSchedule(
      debounce: UInt64(max(0, debounce.wholeNanoseconds)), isEager: isEager,
      laterReports: laterReports.map { UInt64(max(0, $0.wholeNanoseconds)) })
    let subscription = InotifyReader.Subscription(
      folder: folder, names: names, schedule: schedule, hasNews: hasNews
    ) { [weak self] in
      self?.scheduleReport()
    } folderIsGone: { [weak self] in
      self?.queue.async { [weak self] in self?.watchAgain() }
    }
    let id = try InotifyReader.shared.subscribe(subscription)
    state.withLock { $0.subscription = id }
  }

  deinit { cancel() }

  /// Stops watching.
  ///
  /// A report that is under way may still finish; no new one begins.
  public func cancel() {
    let subscription = state.withLock { state -> UInt64? in
      state.isCancelled = true
      defer { state.subscription = nil }
      return state.subscription
    }
    if let subscription { InotifyReader.shared.unsubscribe(subscription) }
  }

  /// Listens to nothing until a time of ``MonotonicClock``, and then takes it that the files have changed.
  ///
  /// Meanwhile programs that write the files do not pay for what the kernel reports of each write. Other
  /// watches of the same folder rest, too. Not for folders of other machines: the thread that all watches share asks
  /// the file system for the folder afterwards.
  public func rest(until time: UInt64) {
    guard let id = state.withLock({ $0.subscription }) else { return }
    InotifyReader.shared.rest(id, until: time)
  }

  /// The changes as a stream that ends when its consumer stops; unread reports become one.
  public static func changes(
    inFolder folder: String, names: Set<String>? = nil, debounce: Duration = .milliseconds(20)
  ) throws -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let watch = try FileWatch(folder: folder, names: names, debounce: debounce) {
      continuation.yield()
    }
    continuation.onTermination = { _ in watch.cancel() }
    return stream
  }

  private func scheduleReport() {
    let isFirst = state.withLock { state in
      defer { state.isReportPending = true }
      return !state.isReportPending
    }
    if isFirst { queue.async { [weak self] in self?.report() } }
  }

  private func report() {
    let isWanted = state.withLock { state in
      state.isReportPending = false
      return !state.isCancelled
    }
    if isWanted { onChange() }
  }

  private func watchAgain() {
    guard let id = state.withLock({ $0.subscription }),
      let isBack = InotifyReader.shared.watchAgain(id)
    else { return }
    // Anything may have been written to a folder that was away.
    if isBack { return report() }
    queue.asyncAfter(deadline: .now() + Self.retryInterval) { [weak self] in self?.watchAgain() }
  }
}
