import CairnModel
import CairnStore
import Foundation

/// A fetch that does not keep the context's queue waiting, whatever it returns.
open class AnyAsynchronousFetchRequest: PersistentStoreRequest {
  /// How many results the caller expects; the total of the progress until they are counted.
  open var estimatedResultCount = 0
}

/// Called on the context's queue when an asynchronous fetch is done, failed or cancelled.
public typealias PersistentStoreAsynchronousFetchResultCompletionBlock =
  (AsynchronousFetchResult<any FetchRequestResult>) -> Void

/// A fetch request that reads on another thread: `execute(_:)` returns at once, and the results
/// come to the completion block on the context's queue.
///
/// When `Progress.current()` is set while it is executed, the result has a progress below it, which
/// counts rows and can be cancelled. Source: `NSAsynchronousFetchRequest`.
open class AsynchronousFetchRequest<ResultType: FetchRequestResult>: AnyAsynchronousFetchRequest {
  /// What to fetch, as it was given; its values count when the request is executed.
  public let fetchRequest: FetchRequest<ResultType>
  let completion: ((AsynchronousFetchResult<ResultType>) -> Void)?

  public init(
    fetchRequest request: FetchRequest<ResultType>,
    completionBlock blk: ((AsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    fetchRequest = request
    completion = blk
    super.init()
    affectedStores = request.affectedStores
  }

  open override var requestType: PersistentStoreRequestType { .fetchRequestType }

  /// What is called at the end.
  open var completionBlock: PersistentStoreAsynchronousFetchResultCompletionBlock? {
    guard let completion else { return nil }
    return { result in
      if ResultType.self == (any FetchRequestResult).self {
        // The same class, as was just asked. The compiler takes no type that stands for another one to
        // be a protocol's, and would have a cast fail.
        completion(CertainCast.object(result, as: AsynchronousFetchResult<ResultType>.self))
      } else {
        completion(AsynchronousFetchResult(self, viewing: result))
      }
    }
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let request = AsynchronousFetchRequest(
      fetchRequest: Self.copy(of: fetchRequest), completionBlock: completion)
    request.estimatedResultCount = estimatedResultCount
    request.affectedStores = affectedStores
    return request
  }

  static func copy(of request: FetchRequest<ResultType>) -> FetchRequest<ResultType> {
    let copy = FetchRequest<ResultType>()
    copy.copyValues(from: request)
    return copy
  }
}

/// What comes of a request that a store works on in the background.
///
/// Everything but ``cancel()`` is to be used on the context's queue. Source:
/// `NSPersistentStoreAsynchronousResult`.
open class PersistentStoreAsynchronousResult: PersistentStoreResult {
  /// The context that the request was given to.
  public let managedObjectContext: ManagedObjectContext
  /// What went wrong; nil until the request has failed, 3072 when it was cancelled.
  open internal(set) var operationError: (any Error)?
  /// How far the request is; nil when there was no current progress when it was executed.
  public let progress: Progress?
  let monitor: FetchMonitor

  init(context: ManagedObjectContext, progress: Progress?, monitor: FetchMonitor) {
    managedObjectContext = context
    self.progress = progress
    self.monitor = monitor
  }

  /// The results whatever their type; nil while there are none.
  var anyResults: [Any]? { nil }

  /// Stops the work as soon as possible; the request then ends without results.
  ///
  /// May be called from any thread.
  open func cancel() {
    monitor.cancel()
    if let progress, !progress.isCancelled { progress.cancel() }
  }
}

/// What comes of an asynchronous fetch, and of a fetch request that is given to `execute(_:)`; the
/// results of the latter are there at once.
///
/// Source: `NSAsynchronousFetchResult`.
open class AsynchronousFetchResult<ResultType: FetchRequestResult>:
  PersistentStoreAsynchronousResult
{
  public let fetchRequest: AsynchronousFetchRequest<ResultType>
  /// The results; nil until they are there, and when there will be none.
  open internal(set) var finalResult: [ResultType]?

  init(
    _ request: AsynchronousFetchRequest<ResultType>, context: ManagedObjectContext,
    progress: Progress?, monitor: FetchMonitor
  ) {
    fetchRequest = request
    super.init(context: context, progress: progress, monitor: monitor)
  }

  /// The same result under another type.
  init(
    _ request: AsynchronousFetchRequest<ResultType>,
    viewing other: AsynchronousFetchResult<any FetchRequestResult>
  ) {
    fetchRequest = request
    finalResult = other.finalResult?.compactMap { $0 as? ResultType }
    super.init(
      context: other.managedObjectContext, progress: other.progress, monitor: other.monitor)
    operationError = other.operationError
  }

  /// The results of a fetch that is done.
  init(
    _ results: [ResultType], of request: FetchRequest<ResultType>, in context: ManagedObjectContext
  ) {
    fetchRequest = AsynchronousFetchRequest(fetchRequest: request)
    finalResult = results
    super.init(context: context, progress: nil, monitor: FetchMonitor())
  }

  override var anyResults: [Any]? { finalResult }

  func succeed(_ results: [ResultType]) {
    finalResult = results
    // Unknown totals are known now.
    progress?.totalUnitCount = Int64(results.count)
    progress?.completedUnitCount = Int64(results.count)
  }

  func fail(_ error: any Error) { operationError = error }
}
