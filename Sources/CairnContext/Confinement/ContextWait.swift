import Dispatch
import Synchronization

/// A thread that waits for a context's queue.
///
/// Children read from their parents and save into them, so what runs on a child's queue waits for
/// the parent's. When the parent's thread waits for the child at the same time, in
/// `performAndWait`, neither could go on. So a thread that waits serves: when what it waits for
/// depends on a queue that it holds itself, it runs the block that is asked of that queue, and waits
/// on. Others, on which it does not depend, wait for their turn as always.
///
/// A block that another thread serves finds all queues of its caller current there: the caller
/// stands still until the block has ended.
// Unchecked: `isTaken`, `isGranted`, `isDone` and `visitors` are guarded by `lock`; `work` is used
// by one thread at a time, the one that set `isTaken`, or the waiting one, which otherwise stands
// still; the rest is immutable.
final class ContextWait: @unchecked Sendable {
  /// Why a thread waits; the most urgent request of those that wait for each other is served.
  enum Purpose: Int {
    /// The program's `performAndWait`.
    case program
    /// A merge that the library runs on another context's queue.
    case merge
    /// A child needs its parent.
    case ancestor
  }

  /// The threads that wait and do not run anything meanwhile.
  typealias Waiting = [UInt: ContextWait]
  /// Guards all lines and all waits; held for moments only.
  static let lock = Mutex<Waiting>([:])

  let thread: UInt
  private let target: ContextQueue
  private let purpose: Purpose
  /// Nil after it has run: the wait may stay in a line, and must not hold it there.
  private var work: (() -> Void)?
  /// The queues of the waiting thread.
  private let held: [ContextQueue]
  private let isOnMainQueue: Bool
  private let signal = DispatchSemaphore(value: 0)
  private(set) var isTaken = false
  private var isGranted = false
  private var isDone = false
  private var visitors: [ContextWait] = []

  init(target: ContextQueue, purpose: Purpose, work: @escaping () -> Void) {
    self.target = target
    self.purpose = purpose
    self.work = work
    thread = HeldQueues.currentThread
    isOnMainQueue = ContextQueue.isOnMainQueue
    var held = HeldQueues.current
    if isOnMainQueue, !held.contains(where: { $0 === ContextQueue.main }) {
      held.append(.main)
    }
    self.held = held
  }

  private enum Step {
    case wait
    case serve(ContextWait)
    case runOwn
    case done
  }

  /// Runs the work when its turn has come, or returns after another thread has run it.
  func run() {
    Self.lock.withLock { waiting in
      if target.enter(self) {
        isGranted = true
      } else {
        standStill(in: &waiting)
      }
    }
    while true {
      switch Self.lock.withLock({ nextStep(in: &$0) }) {
      case .wait: signal.wait()
      case .serve(let visitor):
        visitor.runForWaiter(isTakenAlready: true)
        Self.lock.withLock { if !isGranted, !isDone { standStill(in: &$0) } }
      case .runOwn:
        HeldQueues.adding(target, runWork)
        target.release()
        return
      case .done: return
      }
    }
  }

  private func runWork() {
    work?()
    work = nil
  }

  private func nextStep(in waiting: inout Waiting) -> Step {
    if !visitors.isEmpty { return .serve(visitors.removeFirst()) }
    guard isDone || isGranted else { return .wait }
    leave(&waiting)
    return isDone ? .done : .runOwn
  }

  // MARK: With the lock held

  private func standStill(in waiting: inout Waiting) {
    waiting[thread] = self
    if isOnMainQueue { ContextQueue.main.owner.store(thread, ordering: .releasing) }
    breakCycle(&waiting)
  }

  private func leave(_ waiting: inout Waiting) {
    if waiting[thread] === self { waiting[thread] = nil }
    // The next block of the main queue may run on another thread.
    if isOnMainQueue, ContextQueue.main.owner.load(ordering: .relaxed) == thread {
      ContextQueue.main.owner.store(0, ordering: .releasing)
    }
  }

  func grant(in waiting: inout Waiting) {
    isGranted = true
    leave(&waiting)
    signal.signal()
  }

  /// When this thread waits, through others, for itself, one of them has to serve.
  private func breakCycle(_ waiting: inout Waiting) {
    var cycle = [self]
    while let last = cycle.last {
      let holder = last.target.owner.load(ordering: .acquiring)
      if holder == thread { break }
      guard let next = waiting[holder], !cycle.contains(where: { $0 === next }) else { return }
      cycle.append(next)
    }
    var best: (visitor: ContextWait, server: ContextWait)?
    for (index, visitor) in cycle.enumerated() where !visitor.isTaken {
      let server = cycle[(index + 1) % cycle.count]
      // Its own request is being run: it is no longer at a place where it may serve.
      if server.isTaken { continue }
      let isBetter =
        best.map { best in
          visitor.urgency(servedBy: server) > best.visitor.urgency(servedBy: best.server)
        } ?? true
      if isBetter { best = (visitor, server) }
    }
    guard let best else { return }
    best.visitor.isTaken = true
    best.server.visitors.append(best.visitor)
    // It is about to run.
    waiting[best.server.thread] = nil
    best.server.signal.signal()
  }

  /// What the library asks goes before what the program asks; it is served, if possible, by a thread
  /// that waits in the program's code; and the main queue's blocks stay on the main thread.
  private func urgency(servedBy server: ContextWait) -> Int {
    purpose.rawValue * 8 + (2 - server.purpose.rawValue) * 2 + (target.isMain ? 1 : 0)
  }

  // MARK: On another thread

  /// Runs the work on the calling thread, which has the queue, while the waiting one stands still.
  func runForWaiter(isTakenAlready: Bool = false) {
    if !isTakenAlready {
      let isFree = Self.lock.withLock { _ in
        defer { isTaken = true }
        return !isTaken
      }
      guard isFree else { return }
    }
    let me = HeldQueues.currentThread
    let owners = held.map { $0.owner.exchange(me, ordering: .acquiringAndReleasing) }
    HeldQueues.adding(held[...], runWork)
    for (queue, owner) in zip(held, owners) { queue.owner.store(owner, ordering: .releasing) }
    // The waiting thread has yet to wake up, but from now on no cycle leads through it.
    Self.lock.withLock { waiting in
      isDone = true
      leave(&waiting)
    }
    signal.signal()
  }
}
