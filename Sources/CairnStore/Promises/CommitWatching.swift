/// An optional promise of a store: it notices when somebody else, in this process or another one,
/// commits to the same data.
public protocol CommitWatching: AnyObject, Sendable {
  /// Calls `onCommit` soon after commits that did not go through this store object, several as
  /// one, on a queue of its own, until ``stopWatchingCommits()`` or until the store is closed.
  func watchCommits(_ onCommit: @escaping @Sendable () -> Void) throws
  func stopWatchingCommits()
}
