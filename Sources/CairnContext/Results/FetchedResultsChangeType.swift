/// What happened to an object or a section of fetched results, with Core Data's raw values.
///
/// Source: `NSFetchedResultsChangeType`.
public enum FetchedResultsChangeType: UInt, Sendable {
  case insert = 1
  case delete = 2
  /// The object is elsewhere now; it may have changed too.
  case move = 3
  /// The object changed and stayed where it was.
  case update = 4
}
