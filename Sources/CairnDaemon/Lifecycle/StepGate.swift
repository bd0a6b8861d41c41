// Steps of sync that another program lets go on, one by one.
import CairnPlatform
import CairnSync
import Foundation

/// Names each step that sync reaches on standard output, and waits there for a byte on standard input.
///
/// `cairnctl self-test` kills the daemon at the step that it wants. When standard input ends, so does the
/// process: it must not outlive the program that drives it.
///
/// Mutable state: none; the semaphores order the links' queues and the thread that reads.
final class StepGate: Sendable {
  /// One step at a time is named and answered.
  private let turn = DispatchSemaphore(value: 1)
  private let answers = DispatchSemaphore(value: 0)

  init() {
    let answers = answers
    let thread = Thread {
      while true {
        let bytes = StandardStream.input.read(limit: 64)
        if bytes.isEmpty { ProcessConduct.exitNow(ExitStatus.software.rawValue) }
        for _ in bytes { answers.signal() }
      }
    }
    thread.name = "cairn.steps"
    thread.start()
  }

  /// The real world, but for the waiting at steps.
  var environment: SyncEnvironment {
    var environment = SyncEnvironment.live
    environment.reach = { self.wait(at: $0.rawValue) }
    return environment
  }

  private func wait(at step: String) {
    turn.wait()
    defer { turn.signal() }
    if !StandardStream.output.write(Array("\(step)\n".utf8)) {
      ProcessConduct.exitNow(ExitStatus.software.rawValue)
    }
    answers.wait()
  }
}
