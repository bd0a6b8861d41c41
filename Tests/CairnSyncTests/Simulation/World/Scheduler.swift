import CairnSync
import Foundation
import Synchronization

@testable import CairnSync

/// Owns the time, the randomness and the order of all that engines do in one simulation: each of their
/// tasks waits until it is granted a turn, and one goes on at a time.
///
/// Mutable state: `state`, in its mutex. The simulation itself is one task; it calls ``settle()`` after
/// whatever sets an engine's task going.
final class Scheduler: Sendable {
  /// The task that runs, such as the link `a/hub` or `wait 3`; its timers inherit it.
  @TaskLocal static var actor: String?

  /// What a failpoint throws where a machine is to die.
  struct Died: Error {}

  private enum Place {
    case running
    case atGate(CheckedContinuation<Void, Never>)
    case resting(needsTimer: Bool)
  }
  private struct Sleeper {
    let id: Int
    let due: UInt64
    let actor: String
    let continuation: CheckedContinuation<Void, any Error>
  }
  private struct State {
    var now: UInt64 = 1_600_000_000_000
    var clocks: [String: Int64] = [:]
    var random: [String: SeededGenerator] = [:]
    var places: [String: Place] = [:]
    var sleepers: [Int: Sleeper] = [:]
    var nextSleeper = 0
    /// Calls that found a link awake: its next rest ends at once.
    var called: Set<String> = []
    /// Of machines that are to die, after how many failpoints.
    var deaths: [String: Int] = [:]
    var died: [String: SyncEnvironment.Failpoint] = [:]
    /// What happens in the middle of a machine's step, after how many failpoints.
    var interruptions: [String: (left: Int, work: @Sendable (SyncEnvironment.Failpoint) -> Void)] =
      [:]
    /// The failpoints that were reached since the last question.
    var reached: [SyncEnvironment.Failpoint] = []
    /// How many records went by the run since the last question.
    var runs: [SyncEnvironment.Run: Int] = [:]
    var isWakingAllowed = false
    var settled: CheckedContinuation<Void, Never>?
    var claims: [String: Claim] = [:]
  }
  /// The task of a wait or verify, which does nothing of its own but at its gate.
  private struct Claim {
    var timers = 0
    var calls = 0
    var isDue = false
    var isDone = false
  }
  private let state: Mutex<State>
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    state = Mutex(State())
  }

  // MARK: What engines see

  /// The outside world as one machine sees it.
  func environment(of machine: String) -> SyncEnvironment {
    state.withLock { state in
      // It goes on after a restart: nothing random comes twice.
      state.random[machine] =
        state.random[machine]
        ?? SeededGenerator(seed: machine.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) })
    }
    var environment = SyncEnvironment(
      now: { [self] in now(of: machine) },
      random: { [self] in state.withLock { $0.random[machine]?.next() ?? 0 } },
      sleep: { [self] in try await sleep($0) },
      reach: { [self] in try reach($0, machine) })
    environment.turn = { [self] replica, turn in
      await take(turn, as: Self.actor ?? "\(machine)/\(replica)")
    }
    environment.noteRun = { [self] run, count in
      state.withLock { $0.runs[run, default: 0] += count }
    }
    environment.wake = { [self] replica, call in
      // What the stores themselves notice comes when it likes: the simulation tells of commits.
      let isWanted = state.withLock { $0.isWakingAllowed || Self.actor != nil }
      guard isWanted else { return }
      note(callTo: "\(machine)/\(replica)")
      call()
      state.withLock { state in
        if let actor = Self.actor { state.claims[actor]?.calls += 1 }
      }
    }
    return environment
  }

  private func sleep(_ duration: Duration) async throws {
    let actor = Self.actor ?? "?"
    let id = state.withLock { state in
      state.nextSleeper += 1
      return state.nextSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = Task.isCancelled
        state.withLock { state in
          if case .resting = state.places[actor] {
            state.places[actor] = .resting(needsTimer: false)
          }
          state.claims[actor]?.timers += 1
          guard !isCancelled else { return }
          let due = state.now + UInt64(max(1, duration / .milliseconds(1)))
          state.sleepers[id] = Sleeper(
            id: id, due: due, actor: actor, continuation: continuation)
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        // Cancelled in between.
        if !isCancelled, Task.isCancelled { cancel(id) }
        check()
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func cancel(_ id: Int) {
    let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
    sleeper?.continuation.resume(throwing: CancellationError())
  }

  private func take(_ turn: SyncEnvironment.Turn, as actor: String) async {
    switch turn {
    case .rest(let limit):
      state.withLock { state in
        let isCalled = state.called.remove(actor) != nil
        state.places[actor] = isCalled ? .running : .resting(needsTimer: limit != nil)
      }
      check()
    case .step:
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isCancelled = Task.isCancelled
          state.withLock { state in
            state.places[actor] = .atGate(continuation)
            if isCancelled { state.places[actor] = state.claims[actor] == nil ? .running : nil }
          }
          if isCancelled { continuation.resume() }
          if !isCancelled, Task.isCancelled { release(actor) }
          check()
        }
      } onCancel: {
        release(actor)
      }
    }
  }

  private func release(_ actor: String) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard case .atGate(let continuation) = state.places[actor] else { return nil }
      state.places[actor] = state.claims[actor] == nil ? .running : nil
      return continuation
    }
    continuation?.resume()
  }

  private func reach(_ failpoint: SyncEnvironment.Failpoint, _ machine: String) throws {
    let work = state.withLock { state -> (@Sendable (SyncEnvironment.Failpoint) -> Void)? in
      guard state.died[machine] == nil, let next = state.interruptions[machine] else { return nil }
      state.interruptions[machine] = next.left > 1 ? (next.left - 1, next.work) : nil
      return next.left > 1 ? nil : next.work
    }
    work?(failpoint)
    let dies = state.withLock { state -> Bool in
      state.reached.append(failpoint)
      if state.died[machine] != nil { return true }
      guard let left = state.deaths[machine] else { return false }
      state.deaths[machine] = left > 1 ? left - 1 : nil
      if left > 1 { return false }
      state.died[machine] = failpoint
      return true
    }
    if dies { throw Died() }
  }

  /// Whether every task waits for its turn, for time or for a call.
  private static func isSettled(_ state: State) -> Bool {
    state.places.values.allSatisfy {
      switch $0 {
      case .running, .resting(needsTimer: true): return false
      case .atGate, .resting(needsTimer: false): return true
      }
    }
  }

  private func check() {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard Self.isSettled(state) else { return nil }
      defer { state.settled = nil }
      return state.settled
    }
    waiting?.resume()
  }

  // MARK: What the simulation does

  /// Returns when every task waits.
  func settle() async {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if Self.isSettled(state) { return true }
        state.settled = continuation
        return false
      }
      if isSettled { continuation.resume() }
    }
  }

  /// Expects a task to begin.
  func expect(_ actor: String) { state.withLock { $0.places[actor] = .running } }

  /// A task has ended.
  func forget(_ actor: String) {
    state.withLock { state in
      state.places[actor] = nil
      state.called.remove(actor)
    }
    check()
  }

  // MARK: Waits and verifies

  func beginClaim(_ actor: String) { state.withLock { $0.claims[actor] = Claim() } }
  func endClaim(_ actor: String) { state.withLock { $0.claims[actor]?.isDone = true } }
  func isDone(_ actor: String) -> Bool { state.withLock { $0.claims[actor]?.isDone ?? true } }
  /// How often the task has begun to wait.
  func calls(of actor: String) -> Int { state.withLock { $0.claims[actor]?.calls ?? 0 } }

  /// Returns when the task of a claim has ended, is at its gate, or waits for the nth time.
  ///
  /// - Parameter patience: For how many milliseconds at most, where nothing tells whether it goes on.
  func settleClaim(_ actor: String, waits count: Int, patience: Int = 5000) async {
    for _ in 0..<(patience * 5) {
      let isSettled = state.withLock { state in
        if case .atGate = state.places[actor] { return true }
        guard let claim = state.claims[actor] else { return true }
        return claim.isDone || claim.calls >= count && claim.timers >= count && !claim.isDue
      }
      if isSettled { return }
      // Polls: the task that is waited for knows nothing of the simulation.
      try? await Task.sleep(for: .microseconds(200))
    }
  }

  /// Takes note that a link is about to be called by the engine itself.
  func note(callTo link: String) {
    state.withLock { state in
      if case .resting = state.places[link] {
        state.places[link] = .running
      } else {
        state.called.insert(link)
      }
    }
  }

  /// Lets notices through while `body` runs.
  func waking<Value>(_ body: () throws -> Value) rethrows -> Value {
    state.withLock { $0.isWakingAllowed = true }
    defer { state.withLock { $0.isWakingAllowed = false } }
    return try body()
  }

  var waitingForTurns: [String] {
    state.withLock { state in
      state.places.compactMap { name, place in
        if case .atGate = place { return name }
        return nil
      }.sorted()
    }
  }

  func isAtGate(_ actor: String) -> Bool {
    state.withLock { state in
      if case .atGate = state.places[actor] { return true }
      return false
    }
  }

  /// Grants a turn; returns when all wait again.
  func grant(_ actor: String) async {
    release(actor)
    await settle()
  }

  /// Lets a time pass, and everything happen that is due by then.
  func advance(_ milliseconds: UInt64) async {
    let end = now + milliseconds
    while await fire(before: end) {}
    state.withLock { $0.now = max($0.now, end) }
  }

  /// Ends the sleep that ends first, when it is due by then.
  func fire(before end: UInt64 = .max) async -> Bool {
    let sleeper = state.withLock { state -> Sleeper? in
      let first = state.sleepers.values.min { ($0.due, $0.id) < ($1.due, $1.id) }
      guard let first, first.due <= end else { return nil }
      state.sleepers[first.id] = nil
      state.now = max(state.now, first.due)
      if case .resting = state.places[first.actor] { state.places[first.actor] = .running }
      state.claims[first.actor]?.isDue = true
      return first
    }
    guard let sleeper else { return false }
    sleeper.continuation.resume()
    await settle()
    return true
  }

  var nextDue: UInt64? { state.withLock { $0.sleepers.values.map(\.due).min() } }
  var now: UInt64 { state.withLock { $0.now } }
  func now(of machine: String) -> UInt64 {
    state.withLock { UInt64(Int64($0.now) + ($0.clocks[machine] ?? 0)) }
  }
  func setClock(of machine: String, to offset: Int64) {
    state.withLock { $0.clocks[machine] = offset }
  }

  /// Lets a machine die at the nth failpoint from now; nil for never.
  func kill(_ machine: String, after count: Int?) {
    state.withLock { state in
      state.deaths[machine] = count
      state.died[machine] = nil
    }
  }
  /// Runs work in the middle of a machine's step, at the nth failpoint from now.
  func interrupt(
    _ machine: String, after count: Int,
    _ work: @escaping @Sendable (SyncEnvironment.Failpoint) -> Void
  ) {
    state.withLock { $0.interruptions[machine] = (count, work) }
  }
  func whereDied(_ machine: String) -> SyncEnvironment.Failpoint? {
    state.withLock { $0.died[machine] }
  }
  func takeRuns() -> [SyncEnvironment.Run: Int] {
    state.withLock { state in
      defer { state.runs = [:] }
      return state.runs
    }
  }
  func takeReached() -> [SyncEnvironment.Failpoint] {
    state.withLock { state in
      defer { state.reached = [] }
      return state.reached
    }
  }
}
