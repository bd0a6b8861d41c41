import Synchronization

/// What waits for one queue or runs on it, and whether it gets on.
///
/// A queue that is stuck has work and gives no sign. Work gives a sign when its turn comes, when it ends, and in
/// between with each piece of what a store does for it: so many steps of a statement, one more look at a
/// lock that another program has; joining the line is none. The watchdog compares two looks at it.
package final class QueueWork: Sendable {
  private let begun = Atomic(0)
  private let ended = Atomic(0)
  private let given = Atomic(0)

  /// For what the calling thread is working, from the outside in.
  @TaskLocal private static var running: [QueueWork] = []

  package init() {}

  /// Grows with each sign.
  package var signs: Int { given.load(ordering: .relaxed) }

  /// Whether anything waits or runs.
  package var isPending: Bool {
    // What ends between the two loads makes it look idle, which is what it may be.
    let ended = ended.load(ordering: .acquiring)
    return begun.load(ordering: .acquiring) > ended
  }

  /// Tells that something is about to wait for the queue; ``end()`` must follow.
  package func begin() { begun.add(1, ordering: .acquiringAndReleasing) }

  package func end() {
    given.add(1, ordering: .relaxed)
    ended.add(1, ordering: .acquiringAndReleasing)
  }

  /// Runs work whose signs are the queue's.
  package func run<Result>(_ work: () throws -> Result) rethrows -> Result {
    given.add(1, ordering: .relaxed)
    return try Self.$running.withValue(Self.running + [self], operation: work)
  }

  /// A store calls this when what the calling thread has asked it to do got on.
  package static func gotOn() {
    for work in running { work.given.add(1, ordering: .relaxed) }
  }
}
