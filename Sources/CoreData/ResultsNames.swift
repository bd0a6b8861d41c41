// Apple's names of fetched results and query generations.
import CairnStack

// Fetched results.
public typealias NSFetchedResultsController = FetchedResultsController
public typealias NSFetchedResultsControllerDelegate = FetchedResultsControllerDelegate
public typealias NSFetchedResultsSectionInfo = FetchedResultsSectionInfo
public typealias NSFetchedResultsChangeType = FetchedResultsChangeType
public typealias NSQueryGenerationToken = QueryGenerationToken
public typealias NSDiffableDataSourceSnapshotReference = DiffableDataSourceSnapshotReference
