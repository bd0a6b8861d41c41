import CairnModel
import CairnSQL
import CairnStore
import Foundation

// Fetches: what SQL can do in SQL, the rest in memory on the rows SQL found.

extension SQLiteStore {
  func executeFetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    do {
      let plan = try SQLQueryPlan(request, schema: try schema)
      if !plan.limitsInMemory {
        return try read { try FetchExecution(lookup: $0, request: request, plan: plan).run() }
      }
      return try readConsistently {
        try FetchExecution(lookup: $0, request: request, plan: plan).run()
      }
    } catch let error as PredicateEvaluationError {
      throw CoreDataError(
        .persistentStoreOperation, "The fetch cannot be evaluated: \(error.reason)",
        underlyingError: error)
    }
  }
}
