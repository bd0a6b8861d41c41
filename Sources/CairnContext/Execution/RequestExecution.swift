import CairnCoordinator
import CairnModel
import CairnStore

/// Runs the requests that `execute(_:)` takes.
struct RequestExecution {
  let context: ManagedObjectContext

  func execute(_ request: PersistentStoreRequest) throws -> PersistentStoreResult {
    context.confinement.check()
    switch request {
    case let request as PersistentHistoryChangeRequest:
      if let parent = context.parent {
        return try parent.serve { try parent.execute(request) }
      }
      guard let coordinator = context.persistentStoreCoordinator else {
        throw CoreDataError(
          .coreData, "The context has no persistent store coordinator; set one first.")
      }
      return try HistoryExecution(coordinator: coordinator).execute(request)
    case let request as BatchInsertRequest:
      return try BatchExecution(context: context).insert(request)
    case let request as BatchUpdateRequest:
      return try BatchExecution(context: context).update(request)
    case let request as BatchDeleteRequest:
      return try BatchExecution(context: context).delete(request)
    case let request as any AsynchronousFetching: return try request.begin(in: context)
    case is AnyAsynchronousFetchRequest:
      // A class of the program's own that inherits from the wrong one; no data decides that.
      fatalError("\(type(of: request)) must be an AsynchronousFetchRequest.")
    case let request as AnyFetchRequest: return try request.result(in: context)
    default:
      throw CoreDataError(
        .persistentStoreUnsupportedRequestType,
        "\(type(of: request)) is no request that a context can execute.")
    }
  }
}

extension PersistentStoreCoordinator {
  /// Runs a request for a context of this coordinator.
  ///
  /// Call it on the context's queue.
  ///
  /// - Returns: What the context's `execute(_:)` returns; for a fetch request its results, as an
  ///   array.
  /// - Throws: 134060 for a context of another coordinator, and what `execute(_:)` throws.
  @discardableResult
  public func execute(
    _ request: PersistentStoreRequest, with context: ManagedObjectContext
  ) throws -> Any {
    guard context.persistentStoreCoordinator === self else {
      throw CoreDataError(
        .coreData, "The context belongs to another coordinator than the one asked."
      ).asCocoaError
    }
    let result = try context.execute(request)
    guard request is AnyFetchRequest else { return result }
    return (result as? PersistentStoreAsynchronousResult)?.anyResults ?? result
  }
}
