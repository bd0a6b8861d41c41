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
DispatchQueue.concurrentPerform(iterations: 8) { _ in
  for _ in 0..<20_000 {
    if races { counter.count += 1 } else { counter.mutex.withLock { _ in counter.count += 1 } }
  }
}
print(counter.count)
