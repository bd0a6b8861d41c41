// Counts under a contended mutex and, when asked to, without it: Tests/sanitize.sh sees by this that
// ThreadSanitizer reports races, and none where there is a mutex.
import Dispatch
import Synchronization

// Unchecked: `count` is guarded by `mutex`, except in the race that is wanted.
final class Counter: @unchecked Sendable {
  let mutex = Mutex<Void>(())
  var count = 0
}

let counter = Counter()
let races = CommandLine.arguments.contains("race")
// Long enough that a second thread takes part on a busy machine, too.
let rounds = races ? 2_000_000 : 20_000
DispatchQueue.concurrentPerform(iterations: 8) { _ in
  for _ in 0..<rounds {
    if races { counter.count += 1 } else { counter.mutex.withLock { _ in counter.count += 1 } }
  }
}
print(counter.count)
