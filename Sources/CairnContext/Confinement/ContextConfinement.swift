import Dispatch
import Foundation
import Synchronization

/// The queue of a context: runs its blocks, knows whether the caller is on it, and traps when not.
///
/// The check is on in debug builds. The launch argument `-com.apple.CoreData.ConcurrencyDebug 1`, or
/// the environment variable of that name or `CAIRN_CONCURRENCY_DEBUG`, turns it on in release
/// builds, where it covers the context's methods and the firing of faults; with 0 it is off.
// Unchecked: `queue` and `kind` are immutable, `owner` is atomic, `name` guards itself.
final class ContextConfinement: @unchecked Sendable {
  enum Kind {
    case thread
    case privateQueue
    case mainQueue
  }

  let kind: Kind
  private let queue: DispatchQueue
  /// The thread that runs a block of the context now, 0 when none does.
  private let owner = Atomic<Int>(0)
  private let name = ContextName()

  init(_ type: ManagedObjectContextConcurrencyType) {
    switch type {
    case .privateQueueConcurrencyType:
      kind = .privateQueue
      queue = DispatchQueue(label: "Cairn.ManagedObjectContext")
      queue.setSpecific(key: Self.queueNameKey, value: name)
    case .mainQueueConcurrencyType:
      kind = .mainQueue
      queue = .main
      _ = Self.markMainQueue
    case .confinementConcurrencyType:
      kind = .thread
      queue = DispatchQueue(label: "Cairn.ManagedObjectContext.unused")
      owner.store(Self.currentThread, ordering: .relaxed)
    }
  }

  private static let queueNameKey = DispatchSpecificKey<ContextName>()
  private static let mainQueueKey = DispatchSpecificKey<Bool>()
  private static let markMainQueue: Void = DispatchQueue.main.setSpecific(
    key: mainQueueKey, value: true)

  /// A number that tells threads apart while they run.
  private static var currentThread: Int {
    Int(bitPattern: ObjectIdentifier(Thread.current)) | 1
  }

  func setName(_ newName: String?) { name.set(newName) }

  // MARK: Running

  /// Whether the caller may use the context directly.
  var isCurrent: Bool {
    if owner.load(ordering: .acquiring) == Self.currentThread { return true }
    return kind == .mainQueue && Self.isOnMainQueue
  }

  /// Whether the caller is on the main thread or queue.
  ///
  /// With `dispatchMain()` the main queue has no thread of its own.
  static var isOnMainQueue: Bool {
    _ = markMainQueue
    return Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueKey) == true
  }

  /// Runs the block on the queue and waits; inline when the caller is there already.
  func sync<Result>(_ block: () throws -> Result) rethrows -> Result {
    if isCurrent { return try block() }
    // Which thread or queue runs a call is decided by the program's source.
    precondition(kind != .thread, "A confinement context can only be used by its own thread.")
    return try queue.sync { try owned(block) }
  }

  /// Runs the block on the queue some time later.
  func async(_ block: @escaping () -> Void) {
    // Which thread or queue runs a call is decided by the program's source.
    precondition(kind != .thread, "Can only use perform on a context with a queue.")
    let work = Transferred(value: block)
    queue.async { self.owned(work.value) }
  }

  private func owned<Result>(_ block: () throws -> Result) rethrows -> Result {
    let previous = owner.exchange(Self.currentThread, ordering: .acquiringAndReleasing)
    defer { owner.store(previous, ordering: .releasing) }
    return try block()
  }

  // MARK: Checking

  private static let switchName = "com.apple.CoreData.ConcurrencyDebug"

  static let isChecking: Bool = {
    let environment = ProcessInfo.processInfo.environment
    let arguments = ProcessInfo.processInfo.arguments
    for name in ["CAIRN_CONCURRENCY_DEBUG", switchName] {
      if let value = environment[name] { return value != "0" }
    }
    if let index = arguments.firstIndex(of: "-" + switchName),
      index + 1 < arguments.count
    {
      return arguments[index + 1] != "0"
    }
    #if DEBUG
      return true
    #else
      return false
    #endif
  }()

  /// Traps when the caller is not on the context's queue.
  @inline(__always)
  func check() {
    if Self.isChecking, !isCurrent { trap() }
  }

  /// Where the caller is, for people.
  private static var here: String {
    if let other = DispatchQueue.getSpecific(key: queueNameKey) {
      return "the private queue of\(other.quoted ?? " another") context"
    }
    if isOnMainQueue { return "the main queue" }
    return "another queue or thread (\(Thread.current))"
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
        + "context and its objects inside perform or performAndWait.")
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
