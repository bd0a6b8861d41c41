import Foundation
import Synchronization

/// Keeps a version hash once the element it belongs to can no longer change.
///
/// State: the hash, inside the mutex. It is computed outside, so that a hash may ask for others;
/// two threads may compute it at once and then store the same bytes.
package final class VersionHashCache: Sendable {
  private let stored = Mutex<Data?>(nil)

  package init() {}

  package func value(isFrozen: Bool, compute: () -> Data) -> Data {
    guard isFrozen else { return compute() }
    if let known = stored.withLock({ $0 }) { return known }
    let hash = compute()
    stored.withLock { $0 = hash }
    return hash
  }
}
