// What is wrong with the local store although it is open.

import CairnControl
import CairnStore
import CairnSync
import Foundation
import Synchronization

/// Keeps the troubles of the local store from when something failed because of them until they are
/// known to be over.
///
/// What fails is noted from everywhere: calls, passes, verifications, the watchdog's probe. Troubles that
/// pass by themselves, such as a full disk, are over once something was written, or when a look every few
/// seconds, made only while there is one, finds that it can be. Damage is over when a verification has
/// found none.
///
/// Mutable state: the troubles and the task that looks, inside the mutex.
final class LocalHealth: Sendable {
  private struct State {
    var troubles: [StoreTrouble: String] = [:]
    var look: Task<Void, Never>?
    var isStopped = false
  }
  private let state = Mutex(State())
  private let path: String
  /// Yields when there is another trouble, or one less; for one listener.
  let changes: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  /// How often to look whether a trouble is over.
  private static let interval = Duration.seconds(5)

  init(path: String) {
    self.path = path
    (changes, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// The troubles, the worst first.
  var problems: [StatusProblem] {
    let troubles = state.withLock { $0.troubles }
    if troubles.isEmpty { return [] }
    return Self.severity.compactMap { trouble in
      troubles[trouble].map { StatusProblem(code: trouble.rawValue, message: $0) }
    }
  }

  /// The troubles that last, the worst first.
  ///
  /// A lock is none of them: a call that waited for it in vain says nothing of the next one.
  private static let severity: [StoreTrouble] = [
    .damaged, .notAStore, .diskFailed, .unavailable, .readOnly, .diskFull,
  ]
  /// The troubles that something else than a verification can end.
  private static let passing: Set<StoreTrouble> = [.unavailable, .readOnly, .diskFull]

  /// Notes what failed, if it is the local store's doing.
  func note(_ error: any Error) {
    switch error {
    case let error as CoreDataError where error.storePath == path:
      note(error.storeTrouble, error.message)
    case let error as SyncError where error.path == path:
      if let trouble = StoreTrouble(rawValue: error.code.rawValue) { note(trouble, error.message) }
    case ControlError.storeUnavailable(_, let code, let reason) where isNamed(in: reason):
      if let trouble = StoreTrouble(rawValue: code) { note(trouble, reason) }
    default: break
    }
  }

  /// Whether a message names the file, and not one whose name only begins in the same way.
  func isNamed(in message: String) -> Bool {
    message.ranges(of: path).contains { range in
      let next = message[range.upperBound...].drop { $0 == "." }.first
      return next.map { !($0.isLetter || $0.isNumber || "-_/".contains($0)) } ?? true
    }
  }

  private func note(_ trouble: StoreTrouble, _ message: String) {
    guard Self.severity.contains(trouble) else { return }
    change { state in
      // What is said once stays, so that the same trouble is no news each time something fails.
      if state.troubles[trouble] == nil { state.troubles[trouble] = message }
      guard Self.passing.contains(trouble), state.look == nil, !state.isStopped else { return }
      state.look = Task { [weak self] in
        while (try? await Task.sleep(for: Self.interval)) != nil {
          let isInTrouble = try? await Blocking.run { [weak self] in self?.lookAgain() }
          if isInTrouble != true { return }
        }
      }
    }
  }

  /// Notes what a verification of the whole file found.
  func noteVerified(_ findings: [String]) {
    change { state in
      for trouble in [StoreTrouble.damaged, .notAStore, .diskFailed] {
        state.troubles[trouble] = nil
      }
      guard let first = findings.first else { return }
      let more = findings.count > 1 ? " (and \(findings.count - 1) more)" : ""
      state.troubles[.damaged] = first.contains(path) ? first + more : "\(path): \(first)\(more)"
    }
  }

  /// Notes that something was committed to the file.
  func noteWritten() {
    if state.withLock({ $0.troubles.isEmpty }) { return }
    change { state in for trouble in Self.passing { state.troubles[trouble] = nil } }
  }

  /// Ends looking.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.look?.cancel()
    }
    continuation.finish()
  }

  private func change(_ body: (inout State) -> Void) {
    let isChanged = state.withLock { state in
      let before = state.troubles
      body(&state)
      return state.troubles != before
    }
    if isChanged { continuation.yield() }
  }

  /// Returns whether to look once more.
  private func lookAgain() -> Bool {
    let isWritable = canWrite
    var goesOn = false
    change { state in
      if isWritable { for trouble in Self.passing { state.troubles[trouble] = nil } }
      goesOn = !Self.passing.isDisjoint(with: state.troubles.keys)
      if !goesOn { state.look = nil }
    }
    return goesOn
  }

  /// Whether the file is there and its disk takes a megabyte, which is tried.
  var canWrite: Bool {
    let manager = FileManager.default
    guard manager.isWritableFile(atPath: path) else { return false }
    let trial = path + ".trial-of-room"
    guard manager.createFile(atPath: trial, contents: nil),
      let handle = FileHandle(forWritingAtPath: trial)
    else { return false }
    defer { try? handle.close() }
    do {
      // Without a name nothing of it stays when the daemon is killed meanwhile.
      try manager.removeItem(atPath: trial)
      try handle.write(contentsOf: Data(count: 1 << 20))
      try handle.synchronize()
      return true
    } catch {
      return false
    }
  }
}
