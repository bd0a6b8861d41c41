import Foundation
import Synchronization

/// The queue of a context: runs its blocks, knows whether the caller is on it, and traps when not.
///
/// The check is off unless ``ConcurrencyDebug`` says otherwise. It covers the context's methods, the
/// firing of faults and changes of objects that have rows, in debug builds each change of an object.
/// Without it contexts take the caller's word: what several threads do to one context at a time is
/// not defined, while what they do one after the other works.
/// Object IDs, rows, models, coordinators and stores guard themselves, and so do the tables that
/// contexts share with others, so nothing that other contexts have is concerned.
// Unchecked: everything is immutable but `thread`, which is written by `init`; `queue` guards itself.
final class ContextConfinement: @unchecked Sendable {
  enum Kind {
    case thread
    case privateQueue
    case mainQueue
  }

  let kind: Kind
  private let queue: ContextQueue
  /// The thread of a confinement context.
  private let thread: UInt
  private let isChecking: Bool
  private let name: ContextName
  /// Keeps other threads out of a confinement context, where the program asks for it.
  let threadLock = NSRecursiveLock()

  init(_ type: ManagedObjectContextConcurrencyType) {
    var thread: UInt = 0
    switch type {
    case .privateQueueConcurrencyType:
      kind = .privateQueue
      queue = ContextQueue()
    case .mainQueueConcurrencyType:
      kind = .mainQueue
      queue = .main
    case .confinementConcurrencyType:
      kind = .thread
      queue = ContextQueue()
      thread = HeldQueues.currentThread
    }
    self.thread = thread
    // The main queue has many contexts.
    name = kind == .mainQueue ? ContextName() : queue.name
    isChecking = ConcurrencyDebug.isOn
  }

  func setName(_ newName: String?) { name.set(newName) }

  // MARK: Running

  /// Whether the caller may use the context directly.
  @inline(__always)
  var isCurrent: Bool {
    queue.isCurrent || (thread != 0 && thread == HeldQueues.currentThread)
  }

  /// Runs the block on the queue and waits; inline when the caller is there already.
  ///
  /// While the caller waits it serves its own queues, as ``ContextWait`` says.
  func sync<Result>(
    for purpose: ContextWait.Purpose = .program, _ block: () throws -> Result
  ) rethrows -> Result {
    if isCurrent { return try block() }
    // Which thread or queue runs a call is decided by the program's source.
    precondition(kind != .thread, "A confinement context can only be used by its own thread.")
    return try queue.sync(purpose, block)
  }

  /// Runs the block on the queue some time later.
  func async(_ block: @escaping () -> Void) {
    requireQueue()
    queue.async(block)
  }

  /// Traps when the context has no queue that a block could be brought to.
  func requireQueue() {
    guard kind != .thread else {
      // The program made the context with that type itself; no archive of a context has it.
      fatalError(
        "Can only use -performBlock: on an NSManagedObjectContext that was created with a queue.")
    }
  }

  // MARK: Checking

  /// Traps when the caller is not on the context's queue.
  @inline(__always)
  func check() {
    if isChecking, !isCurrent { trap() }
  }

  /// Where the caller is, for people.
  private static var here: String {
    if let other = HeldQueues.current.first(where: { !$0.isMain }) {
      return "the private queue of\(other.name.quoted ?? " another") context"
    }
    if ContextQueue.isOnMainQueue { return "the main queue" }
    return "another queue or thread"
  }

  private func trap() -> Never {
    let own: String
    switch kind {
    case .thread: own = "the thread that made it"
    case .privateQueue: own = "its private queue"
    case .mainQueue: own = "the main queue"
    }
    // Which thread or queue runs a call is decided by the program's source.
    fatalError(
      "Managed object context\(name.quoted ?? "") belongs to \(own) and was used from \(Self.here). Use the "
        + "context and its objects inside perform or performAndWait. (Checked because of "
        + "-\(ConcurrencyDebug.name) 1.)")
  }
}

/// A context's name, for messages from other queues.
final class ContextName: Sendable {
  private let name = Mutex<String?>(nil)
  func set(_ newName: String?) { name.withLock { $0 = newName } }
  /// With a space before it.
  var quoted: String? { name.withLock { $0 }.map { " \"\($0)\"" } }
}

/// Carries a value to a context's queue.
// Unchecked: used only where the sender gives the value up and the queue takes it over.
struct Transferred<Value>: @unchecked Sendable {
  let value: Value
}
