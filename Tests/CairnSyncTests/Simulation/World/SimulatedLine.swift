import Foundation
import Synchronization

@testable import CairnSync

/// The way to another machine's daemon: questions and answers that get lost or come twice, and a daemon that is not
/// there.
///
/// Mutable state: `state`, in its mutex.
final class SimulatedLine: PeerChannel {
  enum Trouble: String, CaseIterable, Sendable {
    case cut, questionLost, answerLost, repeated, whole
  }
  private struct State {
    /// Of the daemon that runs.
    var service: PeerService?
    var isCut = false
    /// What happens to a question after so many.
    var next: (left: Int, trouble: Trouble)?
  }
  private let state = Mutex(State())
  /// The machine that answers.
  let machine: String
  private let scheduler: Scheduler

  init(to machine: String, _ scheduler: Scheduler) {
    self.machine = machine
    self.scheduler = scheduler
  }

  /// - Parameter service: Of the daemon that has started; nil for one that has ended.
  func lead(to service: PeerService?) { state.withLock { $0.service = service } }

  func begin(_ trouble: Trouble, _ generator: inout SeededGenerator) {
    let number = Int.random(in: 1...8, using: &generator)
    state.withLock { state in
      switch trouble {
      case .cut: state.isCut = true
      case .whole: (state.isCut, state.next) = (false, nil)
      case .questionLost, .answerLost, .repeated: state.next = (number, trouble)
      }
    }
  }

  func ask(_ question: Data) throws -> Data {
    let (service, trouble) = state.withLock { state -> (PeerService?, Trouble?) in
      guard !state.isCut, let next = state.next else {
        return (state.isCut ? nil : state.service, nil)
      }
      state.next = next.left > 1 ? (next.left - 1, next.trouble) : nil
      return (state.service, next.left > 1 ? nil : next.trouble)
    }
    guard let service, scheduler.whereDied(machine) == nil, trouble != .questionLost else {
      throw gone
    }
    var answer = service.answer(question)
    if trouble == .repeated { answer = service.answer(question) }
    // It has died with the answer.
    if trouble == .answerLost || scheduler.whereDied(machine) != nil { throw gone }
    return answer
  }

  private var gone: SyncError {
    SyncError(.storeUnavailable, "the daemon on \(machine) does not answer", recovery: .wait)
  }
}
