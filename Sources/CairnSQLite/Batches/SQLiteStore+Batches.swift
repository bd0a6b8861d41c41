import CairnModel
import CairnSQL
import CairnStore
import Foundation

// Batch requests: one transaction inside the store, without objects.

extension SQLiteStore: BatchExecuting {
  public func executeBatch(
    _ request: StoreBatchRequest, author: String?, contextName: String?
  ) throws -> BatchOutcome {
    var batch: BatchTransaction?
    do {
      let outcome = try write(
        doing: "execute a batch request", isRepeatable: request.isRepeatable,
        deletes: request.deletes
      ) { lookup -> BatchOutcome? in
        batch?.discardFiles()
        let work = BatchTransaction(
          lookup: lookup,
          history: try beginHistory(lookup)
            ? try HistoryWriter(
              lookup: lookup, author: author, contextName: contextName, date: Date()) : nil)
        batch = work
        defer { work.rows.finish() }
        let outcome = try work.run(request)
        try work.finish()
        try forgetSums(ofFiles: work.obsoleteFiles, lookup.connection)
        return outcome
      }
      if batch?.recordsHistory == true { state.withLock { $0.recordsHistory = true } }
      removeUnneededFiles(batch?.obsoleteFiles ?? [])
      return outcome ?? BatchOutcome()
    } catch {
      if !Self.isInDoubt(error) { batch?.discardFiles() }
      throw error
    }
  }
}

extension StoreBatchRequest {
  /// Whether it can be run again from its beginning: rows to insert are handed over only once.
  fileprivate var isRepeatable: Bool {
    switch self {
    case .insert: false
    case .update, .delete: true
    }
  }

  fileprivate var deletes: Bool {
    switch self {
    case .delete: true
    case .insert, .update: false
    }
  }
}
