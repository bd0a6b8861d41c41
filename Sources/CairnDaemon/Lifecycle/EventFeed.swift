// What has happened lately, for callers that look on.
import CairnControl
import Synchronization

/// Keeps the last events with their numbers, and wakes those who wait for more.
///
/// Outlives engines. Mutable state: the events and the listeners, inside the mutex.
final class EventFeed: Sendable {
  private struct State {
    var events: [MonitorDaemon.Event] = []
    /// The number of the newest event.
    var last: Int
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextListener = 0
  }
  private let state: Mutex<State>
  private let capacity: Int

  /// - Parameter start: Below all numbers; the microseconds since 1970 are above those of any daemon
  ///   before that had fewer events than microseconds.
  init(
    start: Int = Int(WireDate.now.date.timeIntervalSince1970 * 1_000_000), capacity: Int = 1024
  ) {
    state = Mutex(State(last: start))
    self.capacity = capacity
  }

  /// The number of the newest event.
  var last: Int { state.withLock { $0.last } }

  func add(_ event: MonitorDaemon.Event) {
    let listeners = state.withLock { state in
      state.events.append(event)
      state.last += 1
      // In strides, so that not every event moves all.
      if state.events.count > 2 * capacity { state.events.removeFirst(capacity) }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.yield() }
  }

  /// The events behind a number; nil where they are not all here, or the number was never given.
  func events(after number: Int) -> [(sequence: Int, event: MonitorDaemon.Event)]? {
    state.withLock { state in
      let first = state.last - state.events.count
      guard number >= first, number <= state.last else { return nil }
      return state.events.suffix(state.last - number).enumerated().map {
        (number + 1 + $0.offset, $0.element)
      }
    }
  }

  /// Yields after events, several as one.
  func listen() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = state.withLock { state in
      state.nextListener += 1
      state.listeners[state.nextListener] = continuation
      return state.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.listeners[id] = nil }
    }
    return stream
  }

  /// Ends all that listen, as the daemon does.
  func end() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
  }
}
