import Foundation
import Synchronization

/// What stands at the head of a store's bookkeeping, as a step of a pass has read it.
///
/// A step asks for it a dozen times before it decides anything: for who the store is, how far it is captured, what it
/// has purged. It is read once a step, and again after each commit of the step. What others commit meanwhile is as if
/// it came after the step: a commit requires the head that its ledger has read, and what has to be sure that nothing
/// came in between reads it afresh (``StoreAccess/freshLedger()``).
///
/// Mutable state: the values, in the mutex. The step's thread uses it, and the one that reads ahead for it.
final class HeadCache: Sendable {
  private let values = Mutex<[Data?]?>(nil)

  /// Forgets what was read; a pass does so before each step, and each commit of sync does.
  func forget() { values.withLock { $0 = nil } }

  func values(reading read: () throws -> [Data?]) rethrows -> [Data?] {
    if let known = values.withLock({ $0 }) { return known }
    let found = try read()
    values.withLock { $0 = found }
    return found
  }
}
