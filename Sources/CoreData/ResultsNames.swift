// Apple's names of fetched results and query generations.
import Cairn

// The user info key of the state that a pinned context has gone on to.
public let NSManagedObjectContextQueryGenerationKey =
  NSManagedObjectContext.NotificationKey.queryGeneration.rawValue

// Fetched results.
public typealias NSFetchedResultsController = FetchedResultsController
public typealias NSFetchedResultsControllerDelegate = FetchedResultsControllerDelegate
public typealias NSFetchedResultsSectionInfo = FetchedResultsSectionInfo
public typealias NSFetchedResultsChangeType = FetchedResultsChangeType
public typealias NSQueryGenerationToken = QueryGenerationToken
public typealias NSDiffableDataSourceSnapshotReference = DiffableDataSourceSnapshotReference
