/// A capability of a store: when writing has failed in a way that leaves it in doubt what the
/// file holds, it is read-only from then on and says why.
///
/// A failed sync is never tried again: the kernel may have dropped what it could not write, and the
/// next sync would succeed without it. The store is to be opened again, which reads what is there.
public protocol FailureReporting: AnyObject, Sendable {
  /// Why nothing is written any more; nil while all is well.
  var failure: CoreDataError? { get }
  /// What was found to be wrong when the store was opened, one sentence each.
  var findings: [String] { get }
}
