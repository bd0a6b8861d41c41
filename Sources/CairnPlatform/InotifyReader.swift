import Foundation
import Glibc
import Synchronization

/// The one thread that reads the kernel's file events, for all watches of the process.
///
/// A store that is written makes an event of each page. The thread sleeps a little after each look, so that
/// what is written at a stretch wakes it once or twice, where a source of Dispatch would wake its manager
/// and a worker each time. It begins with the first watch and never waits for what it reports to.
// Unchecked: mutable state is `state`, inside a mutex; the thread holds it only to look and to mark.
final class InotifyReader: @unchecked Sendable {
  static let shared = InotifyReader()

  /// What a watch wants to hear.
  struct Subscription: Sendable {
    let folder: String
    /// Nil for all files.
    let names: Set<String>?
    var schedule: ReportSchedule
    /// Whether there is something to report; asked on the thread, so it must not wait.
    let hasNews: @Sendable () -> Bool
    /// Called on the thread.
    let report: @Sendable () -> Void
    /// Called on the thread once the folder no longer is what it was.
    let folderIsGone: @Sendable () -> Void
  }

  fileprivate struct Entry {
    var subscription: Subscription
    /// The kernel's number for the folder; nil while it is not there, or the watch rests.
    var watch: Int32?
    /// When the rest is over.
    var restsUntil: UInt64?
  }

  private struct State {
    var descriptor: Int32 = -1
    var entries: [UInt64: Entry] = [:]
    var lastID: UInt64 = 0
  }
  private let state = Mutex(State())

  private static let mask =
    UInt32(IN_CREATE) | UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO)
    | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
    | UInt32(IN_ATTRIB)
  /// How long events gather after a look, in nanoseconds.
  private static let gathering: UInt64 = 250_000

  // MARK: Subscriptions

  /// - Returns: The number by which the subscription is ended.
  /// - Throws: ``PlatformError`` when the folder cannot be watched now.
  func subscribe(_ subscription: Subscription) throws -> UInt64 {
    let descriptor = try state.withLock { state in
      try start(&state, folder: subscription.folder)
      return state.descriptor
    }
    // The file system may make this call wait, so it holds no lock that other callers need.
    let watch = inotify_add_watch(descriptor, subscription.folder, Self.mask)
    guard watch >= 0 else {
      throw PlatformError("watch files in", path: subscription.folder, code: .current)
    }
    let id = state.withLock { state in
      state.lastID += 1
      state.entries[state.lastID] = Entry(subscription: subscription, watch: watch)
      return state.lastID
    }
    // The last other subscription of the folder may have ended in between, and the kernel's watch with it.
    _ = watchAgain(id)
    return id
  }

  func unsubscribe(_ id: UInt64) {
    state.withLock { state in
      guard let entry = state.entries.removeValue(forKey: id) else { return }
      Self.leave(entry.watch, &state)
    }
  }

  /// Watches the folder of a subscription anew; asks the file system, so it may wait.
  ///
  /// - Returns: Whether it is there; nil for a subscription that has ended.
  func watchAgain(_ id: UInt64) -> Bool? {
    let (descriptor, folder) = state.withLock { state in
      (state.descriptor, state.entries[id]?.subscription.folder)
    }
    guard let folder else { return nil }
    let watch = inotify_add_watch(descriptor, folder, Self.mask)
    return state.withLock { state -> Bool? in
      let found = watch >= 0 ? watch : nil
      let old = state.entries[id]?.watch
      // A subscription that has ended meanwhile leaves what was just found.
      guard state.entries[id] != nil else {
        Self.leave(found, &state)
        return nil
      }
      state.entries[id]?.watch = found
      state.entries[id]?.restsUntil = nil
      if old != found { Self.leave(old, &state) }
      return found != nil
    }
  }

  /// Leaves the folder of a subscription until a time, for all subscriptions of the folder, which then take it
  /// that it has changed.
  ///
  /// That the kernel's watch has ended is an event, which makes the thread look at the time.
  func rest(_ id: UInt64, until time: UInt64) {
    state.withLock { state in
      guard let watch = state.entries[id]?.watch else { return }
      for (other, entry) in state.entries where entry.watch == watch {
        state.entries[other]?.watch = nil
        state.entries[other]?.restsUntil = time
        state.entries[other]?.subscription.schedule.forget()
      }
      _ = inotify_rm_watch(state.descriptor, watch)
    }
  }

  /// The kernel gives each folder one number, so the last subscription to leave ends its watch.
  private static func leave(_ watch: Int32?, _ state: inout State) {
    guard let watch, !state.entries.values.contains(where: { $0.watch == watch }) else { return }
    _ = inotify_rm_watch(state.descriptor, watch)
  }

  private func start(_ state: inout State, folder: String) throws {
    guard state.descriptor < 0 else { return }
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw PlatformError("watch files in", path: folder, code: .current)
    }
    state.descriptor = descriptor
    let thread = Thread { self.run(descriptor) }
    thread.name = "cairn.files"
    thread.start()
  }

  // MARK: The thread

  private func run(_ descriptor: Int32) {
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      wait(descriptor)
      takeEvents(descriptor, &buffer)
      endRests(descriptor)
      makeReports()
      sleep(Self.gathering)
    }
  }

  private func sleep(_ nanoseconds: UInt64) {
    var pause = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
    nanosleep(&pause, nil)
  }

  /// Until there are events, or a report is due.
  private func wait(_ descriptor: Int32) {
    let next = state.withLock { state in
      state.entries.values.compactMap { $0.restsUntil ?? $0.subscription.schedule.next }.min()
    }
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let now = MonotonicClock.nanoseconds
    let left = next.map { $0 > now ? $0 - now : 0 }
    // Events of less than a millisecond wait for its end.
    if let left, left < 1_000_000 {
      sleep(left)
    } else {
      _ = Glibc.poll(&poll, 1, left.map { Int32(clamping: $0 / 1_000_000) } ?? -1)
    }
  }

  private func takeEvents(_ descriptor: Int32, _ buffer: inout [UInt8]) {
    var gone: [@Sendable () -> Void] = []
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      state.withLock { state in
        let now = MonotonicClock.nanoseconds
        for event in InotifyEvents(bytes: buffer[..<count]) {
          for (id, entry) in state.entries where entry.isConcerned(by: event) {
            if event.isEndOfFolder {
              gone.append(entry.subscription.folderIsGone)
            } else {
              state.entries[id]?.subscription.schedule.changed(at: now)
            }
          }
        }
      }
    }
    for report in gone { report() }
  }

  /// Watches the folders again whose rest is over.
  private func endRests(_ descriptor: Int32) {
    let now = MonotonicClock.nanoseconds
    let rested = state.withLock { state in
      state.entries.filter { $0.value.restsUntil.map { $0 <= now } ?? false }
    }
    for (id, entry) in rested {
      let watch = inotify_add_watch(descriptor, entry.subscription.folder, Self.mask)
      let isThere = state.withLock { state in
        let found = watch >= 0 ? watch : nil
        guard state.entries[id] != nil else {
          Self.leave(found, &state)
          return true
        }
        state.entries[id]?.watch = found
        state.entries[id]?.restsUntil = nil
        state.entries[id]?.subscription.schedule.changed(at: MonotonicClock.nanoseconds)
        return found != nil
      }
      if !isThere { entry.subscription.folderIsGone() }
    }
  }

  private func makeReports() {
    let due = state.withLock { state -> [Subscription] in
      let now = MonotonicClock.nanoseconds
      return state.entries.keys.compactMap { id in
        guard state.entries[id]?.subscription.schedule.takeReport(at: now) ?? false else {
          return nil
        }
        return state.entries[id]?.subscription
      }
    }
    for subscription in due where subscription.hasNews() { subscription.report() }
  }
}

extension InotifyReader.Entry {
  /// Whether a subscription is about what an event tells of.
  fileprivate func isConcerned(by event: InotifyEvents.Element) -> Bool {
    // Events were lost: anything may have changed.
    if event.isOverflow { return true }
    guard event.watch == watch else { return false }
    if event.isEndOfFolder { return true }
    return event.name.map { subscription.names?.contains($0) ?? true } ?? false
  }
}
