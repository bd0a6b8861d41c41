import Dispatch
import Foundation
import Synchronization

/// The queues that the calling thread holds, innermost first.
typealias HeldQueues = ThreadFrames<ContextQueue>

/// Where the blocks of a context run one after another: a queue of its own, or the main queue, which
/// all main-queue contexts share.
///
/// A private queue belongs to one thread at a time. A thread that waits for its turn runs its block
/// itself when the turn comes; blocks that no thread waits for run on a Dispatch queue. Meanwhile the
/// waiting thread can run what the queues that it holds are asked for: see ``ContextWait``.
// Unchecked: `owner` and `state` are atomic, `line` is guarded by `ContextWait.lock`, `name` guards
// itself, the rest is immutable.
final class ContextQueue: @unchecked Sendable {
  static let main = ContextQueue(isMain: true)

  let isMain: Bool
  let name = ContextName()
  /// The thread that may use what belongs to the queue, 0 when none does.
  ///
  /// For the main queue only while its thread waits, or while another thread acts for it.
  let owner = Atomic<UInt>(0)

  private static let idle = 0
  private static let held = 1
  /// Held, and who leaves has to look at the line.
  private static let contended = 2
  private let state = Atomic<Int>(idle)
  private var line = ContextLine()
  private let dispatch: DispatchQueue

  init() {
    isMain = false
    dispatch = DispatchQueue(label: "Cairn.ManagedObjectContext")
  }

  private init(isMain: Bool) {
    self.isMain = isMain
    dispatch = .main
  }

  private static let mainQueueKey = DispatchSpecificKey<Bool>()
  private static let markMainQueue: Void = DispatchQueue.main.setSpecific(
    key: mainQueueKey, value: true)

  /// Whether the caller is on the main thread or queue.
  ///
  /// With `dispatchMain()` the main queue has no thread of its own.
  static var isOnMainQueue: Bool {
    _ = markMainQueue
    return Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueKey) == true
  }

  /// Whether the calling thread has the queue, so that blocks may run inline.
  @inline(__always)
  var isCurrent: Bool {
    if owner.load(ordering: .acquiring) == HeldQueues.currentThread { return true }
    return isMain && Self.isOnMainQueue
  }

  // MARK: Running

  /// Runs the block, and waits when others are before it; the caller does not have the queue.
  func sync<Result>(
    _ purpose: ContextWait.Purpose, _ block: () throws -> Result
  ) rethrows -> Result {
    if takeIfIdle() {
      defer { release() }
      return try HeldQueues.adding(self, block)
    }
    return try Self.carrying(block, rethrowing: { throw $0 }) { work in
      ContextWait(target: self, purpose: purpose, work: work).run()
    }
  }

  /// Gives a block that returns a value to what takes one that does not.
  private static func carrying<Result>(
    _ block: () throws -> Result, rethrowing: (any Error) throws -> Result,
    _ body: (@escaping () -> Void) -> Void
  ) rethrows -> Result {
    var outcome: Swift.Result<Result, any Error>?
    withoutActuallyEscaping(block) { block in
      body { outcome = Swift.Result { try block() } }
    }
    switch outcome {
    case .success(let value): return value
    case .failure(let error): return try rethrowing(error)
    // `run` returns only after the work is done.
    case nil: preconditionFailure("a context's block did not run")
    }
  }

  /// Runs the block some time later.
  func async(_ block: @escaping () -> Void) {
    let work = ContextWork(block)
    if isMain {
      dispatch.async { work.run() }
      return
    }
    let isFree = ContextWait.lock.withLock { _ in
      if state.exchange(Self.contended, ordering: .acquiringAndReleasing) == Self.idle {
        return true
      }
      line.append(.block(work))
      return false
    }
    if isFree { start(work) }
  }

  /// Runs a block that has the queue already.
  private func start(_ work: ContextWork) {
    dispatch.async { [self] in
      owner.store(HeldQueues.currentThread, ordering: .releasing)
      HeldQueues.adding(self, work.run)
      release()
    }
  }

  // MARK: Turns

  private func takeIfIdle() -> Bool {
    guard !isMain,
      state.compareExchange(
        expected: Self.idle, desired: Self.held, ordering: .acquiringAndReleasing
      ).exchanged
    else { return false }
    owner.store(HeldQueues.currentThread, ordering: .releasing)
    return true
  }

  /// Puts a waiting thread into the line; with the lock held.
  ///
  /// - Returns: Whether it has the queue at once.
  func enter(_ wait: ContextWait) -> Bool {
    if isMain {
      dispatch.async { wait.runForWaiter() }
      return false
    }
    if state.exchange(Self.contended, ordering: .acquiringAndReleasing) == Self.idle {
      owner.store(wait.thread, ordering: .releasing)
      return true
    }
    line.append(.wait(wait))
    return false
  }

  /// Gives the queue to the next in the line.
  func release() {
    owner.store(0, ordering: .releasing)
    if state.compareExchange(
      expected: Self.held, desired: Self.idle, ordering: .acquiringAndReleasing
    ).exchanged {
      return
    }
    let next: ContextWork? = ContextWait.lock.withLock { waiting in
      while let entry = line.popFirst() {
        switch entry {
        case .block(let work): return work
        case .wait(let wait):
          // Another thread has run it.
          if wait.isTaken { continue }
          owner.store(wait.thread, ordering: .releasing)
          wait.grant(in: &waiting)
          return nil
        }
      }
      state.store(Self.idle, ordering: .releasing)
      return nil
    }
    if let next { start(next) }
  }
}

/// A block that runs once on a context's queue, and is given up there.
// Unchecked: `async` gives the block up, and the queue that takes it over runs it once.
final class ContextWork: @unchecked Sendable {
  private var block: (() -> Void)?

  init(_ block: @escaping () -> Void) { self.block = block }

  /// What the block holds may be the last reference to a context: it goes while the queue is held.
  func run() {
    block?()
    block = nil
  }
}

/// What waits for a queue, first come first served.
struct ContextLine {
  enum Entry {
    case block(ContextWork)
    case wait(ContextWait)
  }
  private var entries: [Entry?] = []
  private var first = 0

  mutating func append(_ entry: Entry) { entries.append(entry) }

  mutating func popFirst() -> Entry? {
    guard first < entries.count else { return nil }
    let entry = entries[first]
    entries[first] = nil
    first += 1
    if first == entries.count {
      entries.removeAll(keepingCapacity: first < 64)
      first = 0
    } else if first >= 64, first * 2 >= entries.count {
      entries.removeFirst(first)
      first = 0
    }
    return entry
  }
}
