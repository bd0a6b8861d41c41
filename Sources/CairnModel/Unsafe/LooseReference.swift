import CRuntime
import Synchronization

/// A reference that does not keep its target alive, as `weak` does, but costs the target nothing.
///
/// The first `weak` reference to an object gives it a side table, and from then on everything that
/// retains or releases it takes the slow way through that table. Entities and contexts are retained
/// several times for each object that is read or saved, so what refers to them back does it with
/// one of these. The target calls ``clear()`` in its `deinit`.
package final class LooseReference<Target: AnyObject>: Sendable {
  /// 0 for none.
  private let address = Mutex<UInt>(0)

  package init() {}

  package func set(_ target: Target) {
    address.withLock { $0 = UInt(bitPattern: Unmanaged.passUnretained(target).toOpaque()) }
  }

  /// Has to be called before the target's memory is given back.
  package func clear() { address.withLock { $0 = 0 } }

  /// The target; nil once it is being freed.
  package var target: Target? {
    retained().map { Unmanaged<Target>.fromOpaque($0).takeRetainedValue() }
  }

  /// Whether an object is the target.
  package func refers(to object: Target) -> Bool {
    address.withLock { $0 } == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  /// The target with one reference more.
  ///
  /// Not of the type `Target?`, which would be looked up in the runtime each time.
  private func retained() -> UnsafeMutableRawPointer? {
    address.withLock { address in
      // While the lock is held the target cannot get past its `deinit`.
      guard let pointer = UnsafeMutableRawPointer(bitPattern: address),
        cairn_try_retain(pointer) != nil
      else { return nil }
      return pointer
    }
  }
}
