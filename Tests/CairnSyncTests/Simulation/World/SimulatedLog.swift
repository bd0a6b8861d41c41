import Foundation
import Synchronization

@testable import CairnSync

/// A log in memory on a medium that can go wrong, as each machine sees it: what others append may come late.
///
/// Mutable state: all of it, in `state`.
final class SimulatedLog: Sendable {
  private struct Entry {
    let data: Data
    let machine: String
    /// When other machines see it.
    let due: UInt64
  }
  private struct Stream {
    var header: LogStream
    var entries: [UInt64: Entry] = [:]
  }
  /// What a backup has.
  private struct Content {
    var identifier: StoreID
    var lives: [StoreID]
    var streams: [StoreID: Stream] = [:]
    var names: [UInt64: Data] = [:]
  }
  private struct State {
    var content: Content
    var backup: Content?
    var isGone = false
    var isFull = false
    /// After so many appends or reads one fails; an append before it is done, or after.
    var failure: (left: Int, isAfter: Bool)?
    /// How long what is appended takes to be seen by others.
    var delay: UInt64 = 0
  }
  private let state: Mutex<State>
  private let now: @Sendable () -> UInt64

  init(_ generator: inout SeededGenerator, now: @escaping @Sendable () -> UInt64) {
    self.now = now
    state = Mutex(State(content: Self.empty(&generator)))
  }

  private static func empty(_ generator: inout SeededGenerator) -> Content {
    Content(
      identifier: StoreID(high: generator.next(), low: generator.next()),
      lives: [StoreID(high: generator.next(), low: generator.next())])
  }

  // MARK: Faults

  enum Trouble: String, CaseIterable, Sendable {
    case gone, full, failing, slow, well, backedUp, restored, cut, streamLost, lost
  }

  /// - Returns: Whether there was something to happen to.
  func begin(_ trouble: Trouble, _ generator: inout SeededGenerator) -> Bool {
    let (number, delay, fresh) = (
      Int.random(in: 1...20, using: &generator), UInt64.random(in: 1...3000, using: &generator),
      Self.empty(&generator)
    )
    let isAfter = generator.chance(50)
    return state.withLock { state in
      switch trouble {
      case .gone: state.isGone = true
      case .full: state.isFull = true
      case .failing: state.failure = (number, isAfter)
      case .slow: state.delay = delay
      case .well:
        (state.isGone, state.isFull, state.failure, state.delay) = (false, false, nil, 0)
      case .backedUp: state.backup = state.content
      case .restored:
        guard let backup = state.backup else { return false }
        state.content = backup
      case .cut, .streamLost:
        let streams = state.content.streams.keys.sorted()
        guard !streams.isEmpty else { return false }
        let id = streams[number % streams.count]
        guard var stream = state.content.streams[id], stream.header.last > 0 else { return false }
        if trouble == .streamLost {
          state.content.streams[id] = nil
          return true
        }
        let first = stream.header.first + UInt64(number) % stream.header.last
        guard first > stream.header.first, first <= stream.header.last else { return false }
        stream.header.first = first
        stream.entries = stream.entries.filter { $0.key >= first }
        state.content.streams[id] = stream
      case .lost:
        state.content = fresh
        state.backup = nil
      }
      return true
    }
  }

  var isWell: Bool {
    state.withLock { !$0.isGone && !$0.isFull && $0.failure == nil && $0.delay == 0 }
  }

  /// How many streams and entries there are, and how many lives there have been.
  var size: (streams: Int, entries: Int, lives: Int) {
    state.withLock { state in
      (
        state.content.streams.count,
        state.content.streams.values.reduce(0) { $0 + $1.entries.count },
        state.content.lives.count
      )
    }
  }

  /// The strings and numbers in what a machine can see of the log; nil for all there is.
  func values(seenBy machine: String?) -> Set<String> {
    let now = now()
    let entries = state.withLock { state in
      state.content.streams.values.flatMap { stream in
        stream.entries.values.filter { entry in
          machine.map { $0 == entry.machine || entry.due <= now } ?? true
        }.map(\.data)
      }
    }
    var found: Set<String> = []
    for data in entries {
      guard let entry = try? LogEntry(decoding: data) else { continue }
      for record in entry.set.records {
        record.registers.visit { _, value, _ in
          if case .string(let text) = value { found.insert(text) }
          if case .double(let number) = value { found.insert("\(number)") }
        }
      }
    }
    return found
  }

  func view(of machine: String) -> View { View(log: self, machine: machine) }

  /// The log as a machine sees it.
  struct View: ChangeLog {
    let log: SimulatedLog
    let machine: String

    private func reach<Value: Sendable>(_ work: (inout Content) throws -> Value) throws -> Value {
      try log.state.withLock { state in
        try Self.check(&state)
        return try work(&state.content)
      }
    }

    private static func check(_ state: inout State) throws {
      if state.isGone { throw Self.error(.storeUnavailable, "is not there") }
      guard let failure = state.failure, !failure.isAfter else { return }
      state.failure = failure.left > 1 ? (failure.left - 1, false) : nil
      if failure.left <= 1 { throw Self.error(.diskFailed, "fails") }
    }

    private static func error(_ code: SyncError.Code, _ what: String) -> SyncError {
      SyncError(code, "the log \(what)", recovery: .wait)
    }

    func identifier() throws -> StoreID { try reach { $0.identifier } }
    func lives() throws -> [StoreID] { try reach { $0.lives } }

    func beginLife(_ new: StoreID, after old: StoreID) throws {
      try reach { if $0.lives.last == old { $0.lives.append(new) } }
    }

    func streams() throws -> [LogStream] {
      let now = log.now()
      return try reach { content in
        content.streams.values.map { stream in
          var header = stream.header
          while header.last >= header.first, let entry = stream.entries[header.last],
            entry.machine != machine, entry.due > now
          {
            header.last -= 1
          }
          return header
        }.sorted { $0.id < $1.id }
      }
    }

    func begin(_ stream: LogStream) throws {
      try reach { content in
        if content.streams[stream.id] == nil { content.streams[stream.id] = Stream(header: stream) }
      }
    }

    func entry(_ number: UInt64, of stream: StoreID) throws -> Data? {
      let now = log.now()
      return try reach { content in
        guard let entry = content.streams[stream]?.entries[number],
          entry.machine == machine || entry.due <= now
        else { return nil }
        return entry.data
      }
    }

    func append(_ entry: Data, as number: UInt64, to stream: StoreID) throws -> Bool {
      let now = log.now()
      return try log.state.withLock { state in
        try Self.check(&state)
        if state.isFull { throw Self.error(.diskFull, "has no room") }
        guard var there = state.content.streams[stream] else {
          throw Self.error(.storeUnavailable, "has lost a stream")
        }
        guard there.header.last + 1 == number else { return false }
        let before = there.entries[there.header.last]?.due ?? 0
        there.entries[number] = Entry(
          data: entry, machine: machine, due: max(before, now + state.delay))
        there.header.last = number
        state.content.streams[stream] = there
        if let failure = state.failure, failure.isAfter {
          state.failure = failure.left > 1 ? (failure.left - 1, true) : nil
          if failure.left <= 1 { throw Self.error(.diskFailed, "does not answer") }
        }
        return true
      }
    }

    func names(_ digest: UInt64) throws -> Data? { try reach { $0.names[digest] } }
    func keep(names: Data, as digest: UInt64) throws { try reach { $0.names[digest] = names } }
  }
}
