import CairnModel
import CairnSQL
import CairnStore
import Foundation

// Batch requests: one transaction inside the store, without objects.

extension SQLiteStore: BatchExecuting {
  public func executeBatch(
    _ request: StoreBatchRequest, author: String?, contextName: String?
  ) throws -> BatchOutcome {
    let records = state.withLock { $0.recordsHistory }
    var batch: BatchTransaction?
    do {
      let outcome = try write(doing: "execute a batch request") { lookup -> BatchOutcome? in
        let work = BatchTransaction(
          lookup: lookup,
          history: records
            ? try HistoryWriter(
              lookup: lookup, author: author, contextName: contextName, date: Date()) : nil)
        batch = work
        let outcome = try work.run(request)
        try work.finish()
        return outcome
      }
      removeUnneededFiles(batch?.rows.obsoleteFiles ?? [])
      return outcome ?? BatchOutcome()
    } catch {
      batch?.discardFiles()
      throw error
    }
  }
}
