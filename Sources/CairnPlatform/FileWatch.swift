// Notices changes of files in a folder, through inotify.
import Dispatch
import Glibc
import Synchronization

/// Reports that files in a folder changed, soon after, several changes as one.
///
/// The folder is watched, not the files, so a file that is removed and made again keeps being
/// noticed. A folder that vanishes is looked for every second and watched again.
/// Memory-mapped writes are not visible to the kernel's watch. Thread-safe.
public final class FileWatch: Sendable {
  private struct State {
    var source: SourceHandle?
    var descriptor: Int32 = -1
    var watch: Int32 = -1
    var isReportPending = false
    var lastReport: DispatchTime?
    var isCancelled = false
  }

  /// Guards the watch itself; reports are made outside of it, on `queue`.
  private let state = Mutex(State())
  private let folder: String
  private let names: Set<String>?
  private let debounce: DispatchTimeInterval
  private let isEager: Bool
  private let queue = DispatchQueue(label: "cairn.file-watch")
  private let onChange: @Sendable () -> Void

  private static let retryInterval = DispatchTimeInterval.seconds(1)
  private static let mask =
    UInt32(IN_CREATE) | UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO)
    | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
    | UInt32(IN_ATTRIB)

  /// Watches `names` in `folder` (all files when nil).
  ///
  /// - Parameters:
  ///   - debounce: How long after the first change the report comes; changes in between join it.
  ///     Steady writing is still reported once per interval.
  ///   - isEager: Whether the first change after such a time without any is reported at once.
  ///   - onChange: Called on a private queue, never twice at a time.
  /// - Throws: ``PlatformError`` when the folder cannot be watched now.
  public init(
    folder: String, names: Set<String>? = nil, debounce: Duration = .milliseconds(20),
    isEager: Bool = false, onChange: @escaping @Sendable () -> Void
  ) throws {
    self.isEager = isEager
    self.folder = folder
    self.names = names
    self.debounce = .nanoseconds(Int(clamping: debounce.wholeNanoseconds))
    self.onChange = onChange
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw PlatformError("watch files in", path: folder, code: .current)
    }
    let watch = inotify_add_watch(descriptor, folder, Self.mask)
    guard watch >= 0 else {
      let code = ErrnoCode.current
      _ = close(descriptor)
      throw PlatformError("watch files in", path: folder, code: code)
    }
    start(descriptor: descriptor, watch: watch)
  }

  deinit { cancel() }

  /// Stops watching.
  ///
  /// A report that is under way may still finish; no new one begins.
  public func cancel() {
    let handle = state.withLock { state -> SourceHandle? in
      state.isCancelled = true
      defer { state.source = nil }
      return state.source
    }
    handle?.source.cancel()
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

  private func start(descriptor: Int32, watch: Int32) {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [weak self] in self?.drain(descriptor) }
    source.setCancelHandler { _ = close(descriptor) }
    let handle = SourceHandle(source: source)
    state.withLock {
      $0.descriptor = descriptor
      $0.watch = watch
      $0.source = handle
    }
    handle.source.resume()
  }

  /// Reads all waiting events and decides whether any concerns us.
  ///
  /// Runs on `queue`.
  private func drain(_ descriptor: Int32) {
    var isConcerned = false
    var isFolderGone = false
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      for event in InotifyEvents(bytes: buffer[..<count]) {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isConcerned = true }
        if event.mask & (UInt32(IN_IGNORED) | UInt32(IN_MOVE_SELF)) != 0 { isFolderGone = true }
        guard let name = event.name else { continue }
        if names?.contains(name) ?? true { isConcerned = true }
      }
    }
    if isConcerned { scheduleReport() }
    if isFolderGone { watchAgain() }
  }

  private func scheduleReport() {
    let now = DispatchTime.now()
    let time = state.withLock { state -> DispatchTime? in
      guard !state.isReportPending, !state.isCancelled else { return nil }
      state.isReportPending = true
      guard isEager else { return now + debounce }
      return max(now, state.lastReport.map { $0 + debounce } ?? now)
    }
    guard let time else { return }
    // The events are read on the queue, so that this is its turn.
    if time <= now { return report() }
    queue.asyncAfter(deadline: time) { [weak self] in self?.report() }
  }

  private func report() {
    let isWanted = state.withLock { state in
      state.isReportPending = false
      state.lastReport = .now()
      return !state.isCancelled
    }
    if isWanted { onChange() }
  }

  private func watchAgain() {
    let isBack = state.withLock { state -> Bool? in
      guard !state.isCancelled else { return nil }
      if state.watch >= 0 { _ = inotify_rm_watch(state.descriptor, state.watch) }
      state.watch = inotify_add_watch(state.descriptor, folder, Self.mask)
      return state.watch >= 0
    }
    switch isBack {
    case .some(true): scheduleReport()
    case .some(false):
      queue.asyncAfter(deadline: .now() + Self.retryInterval) { [weak self] in self?.watchAgain() }
    case .none: break
    }
  }
}

// Proof: only `resume` and `cancel` are called through it, which Dispatch allows on any thread;
// the handlers are set before it is shared.
private struct SourceHandle: @unchecked Sendable {
  let source: any DispatchSourceRead
}

/// Walks the events of one read from an inotify descriptor.
struct InotifyEvents: Sequence, IteratorProtocol {
  private var bytes: ArraySlice<UInt8>
  private static let headerSize = 16

  init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  mutating func next() -> (mask: UInt32, name: String?)? {
    guard bytes.count >= Self.headerSize else { return nil }
    let start = bytes.startIndex
    let mask = word(at: start + 4)
    let nameLength = Int(word(at: start + 12))
    let nameStart = start + Self.headerSize
    let name = bytes[nameStart..<Swift.min(nameStart + nameLength, bytes.endIndex)]
    bytes = bytes.dropFirst(Self.headerSize + nameLength)
    let text = name.prefix { $0 != 0 }
    return (mask, text.isEmpty ? nil : String(decoding: text, as: UTF8.self))
  }

  private func word(at index: Int) -> UInt32 {
    bytes[index..<index + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
  }
}
