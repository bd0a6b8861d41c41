/// A capability of a store: it notices when another store object, in this process or another one,
/// commits to the same data.
public protocol CommitWatching: AnyObject, Sendable {
  /// Calls `onCommit` soon after commits that did not go through this store object, several as
  /// one, on a queue of its own, until ``stopWatchingCommits()`` or until the store is closed.
  func watchCommits(_ onCommit: @escaping @Sendable () -> Void) throws
  func stopWatchingCommits()
  /// Whether commits are noticed when they are made, by whatever machine; false for a store that is not
  /// watched, or where it takes a look at intervals.
  var noticesCommits: Bool { get }
  /// Looks now whether another connection committed.
  func lookForCommits()
}

extension CommitWatching {
  public var noticesCommits: Bool { false }
  public func lookForCommits() {}
}
