import Foundation

/// What Core Data kept for old programs.
extension ManagedObjectContext: NSLocking {
  /// A context of the thread that makes it, as Objective-C's `new` makes one.
  @available(*, deprecated, message: "Use init(concurrencyType:).")
  public class func new() -> ManagedObjectContext {
    ManagedObjectContext(concurrencyType: .confinementConcurrencyType)
  }

  /// Keeps other threads out of a confinement context until ``unlock()``.
  ///
  /// May be nested. Contexts with a queue need no lock.
  @available(*, deprecated, message: "Use perform or performAndWait.")
  public func lock() { confinement.threadLock.lock() }

  /// Lets other threads in again.
  @available(*, deprecated, message: "Use perform or performAndWait.")
  public func unlock() { confinement.threadLock.unlock() }

  /// Locks unless another thread has the lock.
  ///
  /// - Returns: Whether the lock was taken.
  @available(*, deprecated, message: "Use perform or performAndWait.")
  public func tryLock() -> Bool { confinement.threadLock.try() }
}
