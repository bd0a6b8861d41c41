import CairnModel

/// An optional promise of a store: it hands over what a fetch finds while it reads.
///
/// Rows are then used while the processor has them at hand; looking at a hundred thousand of them
/// again costs as much as reading them did.
package protocol PortionFetching: AnyObject {
  /// Runs a fetch for rows or object IDs and gives what it finds, in order and in portions of at
  /// most so many, or all at once where the store cannot do better.
  ///
  /// - Parameter take: Called while the store reads; it must not use the store. When the fetch
  ///   throws, it may have been given some of the result.
  func fetch(
    _ request: StoreFetchRequest, portion: Int, _ take: (StoreFetchResult) -> Void) throws
}
