import Synchronization

/// The `userInfo` of a model element, which may change while the model is in use on many threads.
// Unchecked: the one property is used under the mutex; what the values themselves are is up to the
// program that puts them there, as for all that it shares.
final class Annotations: @unchecked Sendable {
  private let mutex = Mutex<Void>(())
  private var current: [AnyHashable: Any]? = [:]

  var values: [AnyHashable: Any]? {
    get { mutex.withLock { _ in current } }
    set {
      // Given up outside of the lock: whatever is freed then may ask for annotations.
      var old: [AnyHashable: Any]?
      mutex.withLock { _ in (old, current) = (current, newValue) }
      withExtendedLifetime(old) {}
    }
  }
}
