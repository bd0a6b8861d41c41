import CairnModel
import CairnStore
import Foundation

/// A fetch that does not keep the context's queue waiting, whatever it returns.
open class AnyAsynchronousFetchRequest: PersistentStoreRequest {
  /// How many results the caller expects; the total of the progress until they are counted.
  open var estimatedResultCount = 0

  func begin(in context: ManagedObjectContext) throws -> PersistentStoreAsynchronousResult {
    // A class of the program's own that inherits from the wrong one; no data decides that.
    fatalError("\(type(of: self)) must be an AsynchronousFetchRequest.")
  }
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
  private let completion: ((AsynchronousFetchResult<ResultType>) -> Void)?

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
        completion(unsafeDowncast(result, to: AsynchronousFetchResult<ResultType>.self))
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

  private static func copy(of request: FetchRequest<ResultType>) -> FetchRequest<ResultType> {
    let copy = FetchRequest<ResultType>()
    copy.copyValues(from: request)
    return copy
  }

  // MARK: Running

  override func begin(in context: ManagedObjectContext) throws -> PersistentStoreAsynchronousResult
  {
    guard context.concurrencyType != .confinementConcurrencyType else {
      throw CoreDataError(
        .coreData, "An asynchronous fetch needs a context with a queue, private or main.")
    }
    let request = Self.copy(of: fetchRequest)
    if let affectedStores { request.affectedStores = affectedStores }
    let execution = FetchExecution(context: context)
    var plan = try execution.plan(of: request)
    let progress = Progress.current() == nil ? nil : Progress(totalUnitCount: expectedCount)
    let monitor = FetchMonitor(report: Self.reporting(to: progress))
    progress?.isCancellable = true
    // Weakly: the monitor reports to the progress. The result holds both.
    progress?.cancellationHandler = { [weak monitor] in monitor?.cancel() }
    plan.monitor = monitor
    let storeRequest = try execution.storeRequest(for: plan, request)
    let result = AsynchronousFetchResult(
      self, context: context, progress: progress, monitor: monitor)
    let handOver = HandOver(
      AsynchronousFetchWork(
        request: request, plan: plan, storeRequest: storeRequest, source: context.rowSource,
        result: result))
    let confinement = context.confinement
    DispatchQueue.global(qos: .userInitiated).async {
      let answer = handOver.read()
      confinement.async { handOver.take()?.finish(answer) }
    }
    return result
  }

  private var expectedCount: Int64 { estimatedResultCount > 0 ? Int64(estimatedResultCount) : -1 }

  private static func reporting(to progress: Progress?) -> (@Sendable (Int) -> Void)? {
    guard let progress else { return nil }
    let carried = Transferred(value: progress)
    return { carried.value.completedUnitCount = Int64($0) }
  }

  /// Tells the caller, on the context's queue.
  fileprivate func complete(_ result: AsynchronousFetchResult<ResultType>) { completion?(result) }
}

/// Lets a thread read for a context that only the context's queue holds: the last reference to a
/// context, and to its parent, is given up where objects are used.
// Unchecked: `work` is set by `init`, used by the one thread that reads, and taken by the queue after
// that.
private final class HandOver<ResultType: FetchRequestResult>: @unchecked Sendable {
  private var work: AsynchronousFetchWork<ResultType>?

  init(_ work: AsynchronousFetchWork<ResultType>) { self.work = work }

  /// Not inlined, so that whatever it has retained is released when it returns.
  @inline(never)
  func read() -> Result<StoreFetchResult, any Error> {
    guard let work else { return .success(.snapshots([])) }
    return Result { try work.read() }
  }

  func take() -> AsynchronousFetchWork<ResultType>? {
    defer { work = nil }
    return work
  }
}

/// One asynchronous fetch on its way: read on any thread, finished on the context's queue.
private struct AsynchronousFetchWork<ResultType: FetchRequestResult> {
  let request: FetchRequest<ResultType>
  let plan: FetchPlan
  let storeRequest: StoreFetchRequest
  let source: (any RowSource)?
  let result: AsynchronousFetchResult<ResultType>

  func read() throws -> StoreFetchResult {
    try result.monitor.checkCancellation()
    guard let source else { return .snapshots([]) }
    return try source.fetch(
      storeRequest, in: plan.stores, includingPending: plan.includesPendingChanges)
  }

  /// As a block of the context.
  func finish(_ answer: Result<StoreFetchResult, any Error>) {
    let context = result.managedObjectContext
    CurrentContext.$context.withValue(context) { complete(answer) }
    context.endEvent()
  }

  private func complete(_ answer: Result<StoreFetchResult, any Error>) {
    do {
      // A progress may tell its handler later than those who ask it.
      if result.progress?.isCancelled == true { result.monitor.cancel() }
      try result.monitor.checkCancellation()
      let isWindowed = storeRequest.limit == plan.limit && storeRequest.offset == plan.offset
      result.succeed(
        try FetchExecution(context: result.managedObjectContext).results(
          of: request, plan, from: answer.get(), isWindowed: isWindowed))
    } catch {
      result.fail(error)
    }
    result.fetchRequest.complete(result)
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
