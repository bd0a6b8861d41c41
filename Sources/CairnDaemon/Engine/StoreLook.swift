// The one timer for all stores: whether their files are still there.

import CairnPlatform
import CairnSync
import Dispatch
import Synchronization

/// Looks at the files of all stores.
///
/// A daemon with nothing to do wakes for this alone. A timer of Dispatch wakes fewer threads for it than a task that
/// sleeps, has a thread that may block look, and goes on with what that found.
struct StoreLook: Sendable {
  let group: OpenGroup
  /// A look calls this when the local store could be opened anew after its disk failed.
  let onRecovery: @Sendable () -> Void

  private static let queue = DispatchQueue(
    label: "cairn.daemon.store-look", qos: .utility, attributes: .concurrent)

  /// Has it look in each interval, first after one, until the timer is cancelled; a look that is under way then may
  /// still finish.
  func timer(every interval: Duration) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: Self.queue)
    let milliseconds = Int(interval / .milliseconds(1))
    timer.schedule(
      deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds),
      leeway: .milliseconds(milliseconds / 10))
    let isFirst = Mutex(true)
    timer.setEventHandler { [self] in
      let first = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      // A file that hangs delays the next look by nothing.
      Self.queue.async { look(isFirst: first) }
    }
    return timer
  }

  private func look(isFirst: Bool) {
    let released = group.engine.lookAtStores()
    if group.needsReopening { onRecovery() }
    // What threads free stays with the part of the heap that each uses: without this, work without an end
    // takes as much for each of them as it has ever needed there. What starting took is over by the first look.
    if released != .nothing || isFirst { ProcessConduct.returnFreeMemory() }
    if released == .atRest || isFirst { ProcessConduct.releaseProgramPages() }
  }
}
