import CairnModel
import CairnStore
import Foundation

/// An asynchronous fetch whatever the type of its results, as a context begins it.
protocol AsynchronousFetching {
  /// Begins to read on another thread; called on the context's queue.
  func begin(in context: ManagedObjectContext) throws -> PersistentStoreAsynchronousResult
}

extension AsynchronousFetchRequest: AsynchronousFetching {
  func begin(in context: ManagedObjectContext) throws -> PersistentStoreAsynchronousResult {
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
    var question = try execution.question(of: request, plan)
    // What is unsaved when the answer is there is laid over it; nothing of the context goes along.
    question.overlay = nil
    let result = AsynchronousFetchResult(
      self, context: context, progress: progress, monitor: monitor)
    let handOver = HandOver(
      AsynchronousFetchWork(
        request: request, plan: plan, question: question, source: context.reading.source,
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
  let question: FetchQuestion
  let source: (any RowSource)?
  let result: AsynchronousFetchResult<ResultType>

  func read() throws -> StoreFetchResult {
    try result.monitor.checkCancellation()
    return try FetchAnswer(question.request, plan, source: source).whole()
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
      result.succeed(
        try FetchExecution(context: result.managedObjectContext).lateResults(
          of: request, plan, question, answer.get()))
    } catch {
      result.fail(error)
    }
    result.fetchRequest.complete(result)
  }
}
