import Synchronization

/// Watches a running fetch, and stops it: how an asynchronous fetch reports its progress and is
/// cancelled.
///
/// May be used from any thread.
public final class FetchMonitor: Sendable {
  private let rows = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)
  private let interval: Int
  private let report: (@Sendable (Int) -> Void)?

  /// - Parameters:
  ///   - interval: After how many rows `report` is called each time.
  ///   - report: Told how many rows were read, on the thread that reads them.
  public init(interval: Int = 256, report: (@Sendable (Int) -> Void)? = nil) {
    self.interval = max(interval, 1)
    self.report = report
  }

  /// How many rows the fetch has read so far.
  public var rowCount: Int { rows.load(ordering: .relaxed) }

  /// Whether the fetch is to stop.
  public var isCancelled: Bool { isStopped.load(ordering: .relaxed) }

  /// Makes the fetch stop at the next row.
  public func cancel() { isStopped.store(true, ordering: .relaxed) }

  /// A store's fetch calls this once for each row that it reads.
  ///
  /// - Throws: 3072, `userCancelled`, when the fetch is to stop.
  public func noteRow() throws {
    let count = rows.wrappingAdd(1, ordering: .relaxed).newValue
    if let report, count % interval == 0 { report(count) }
    try checkCancellation()
  }

  /// - Throws: 3072, `userCancelled`, when the fetch is to stop.
  public func checkCancellation() throws {
    if isCancelled {
      throw CoreDataError(.userCancelled, "The fetch was cancelled before it was done.")
    }
  }
}
