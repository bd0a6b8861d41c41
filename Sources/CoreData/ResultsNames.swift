// Apple's names of fetched results and query generations.
import CairnStack

// Fetched results.
public typealias NSFetchedResultsController = FetchedResultsController
public typealias NSFetchedResultsControllerDelegate = FetchedResultsControllerDelegate
public typealias NSFetchedResultsSectionInfo = FetchedResultsSectionInfo
public typealias NSFetchedResultsChangeType = FetchedResultsChangeType
public typealias NSQueryGenerationToken = QueryGenerationToken
public typealias NSDiffableDataSourceSnapshotReference = DiffableDataSourceSnapshotReference

// Delegates compare the controller that they are given, which is of another type. The standard operator
// is preferred whenever both sides would be converted alike, hence one for each way to be optional.

/// Whether two controllers are the same one: a delegate is given one of another type.
public func === <A, B>(
  first: NSFetchedResultsController<A>, second: NSFetchedResultsController<B>
) -> Bool { first.isEqual(second) }

/// Whether two controllers are the same one.
public func === <A, B>(
  first: NSFetchedResultsController<A>, second: NSFetchedResultsController<B>?
) -> Bool { first.isEqual(second) }

/// Whether two controllers are the same one.
public func === <A, B>(
  first: NSFetchedResultsController<A>?, second: NSFetchedResultsController<B>
) -> Bool { second.isEqual(first) }

/// Whether two controllers are not the same one.
public func !== <A, B>(
  first: NSFetchedResultsController<A>, second: NSFetchedResultsController<B>
) -> Bool { !first.isEqual(second) }

/// Whether two controllers are not the same one.
public func !== <A, B>(
  first: NSFetchedResultsController<A>, second: NSFetchedResultsController<B>?
) -> Bool { !first.isEqual(second) }

/// Whether two controllers are not the same one.
public func !== <A, B>(
  first: NSFetchedResultsController<A>?, second: NSFetchedResultsController<B>
) -> Bool { !second.isEqual(first) }
