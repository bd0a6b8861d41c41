import CairnModel
import CairnStore

/// Runs the requests that `execute(_:)` takes, in the root context.
struct RequestExecution {
  let context: ManagedObjectContext

  func execute(_ request: PersistentStoreRequest) throws -> PersistentStoreResult {
    context.confinement.check()
    if let parent = context.parent, !(request is AnyFetchRequest) {
      return try parent.performAndWait { try parent.execute(request) }
    }
    switch request {
    case let request as PersistentHistoryChangeRequest:
      return try HistoryExecution(context: context).execute(request)
    case let request as BatchInsertRequest:
      return try BatchExecution(context: context).insert(request)
    case let request as BatchUpdateRequest:
      return try BatchExecution(context: context).update(request)
    case let request as BatchDeleteRequest:
      return try BatchExecution(context: context).delete(request)
    case let request as AnyFetchRequest:
      let fetch = FetchRequest<Any>()
      fetch.copyValues(from: request)
      return FetchResult(try context.fetch(fetch))
    default:
      throw CoreDataError(
        .persistentStoreUnsupportedRequestType,
        "\(type(of: request)) is no request that a context can execute.")
    }
  }
}

/// The results of a fetch request given to `execute(_:)`.
public final class FetchResult: PersistentStoreResult {
  public let finalResult: [Any]
  init(_ finalResult: [Any]) { self.finalResult = finalResult }
}
