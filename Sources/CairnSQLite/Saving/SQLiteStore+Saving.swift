import CairnModel
import CairnSQL
import CairnStore
import Foundation

// One save, one transaction: everything or nothing.

extension SQLiteStore {
  func executeSave(_ request: SaveChangesRequest) throws -> SaveOutcome {
    let maps = state.withLock { $0.sidecarMaps }
    let newMetadata = hasUnsavedMetadata ? metadata : nil
    if request.isEmpty && newMetadata == nil {
      return .saved(SaveReceipt(snapshots: [], transactionNumber: nil))
    }
    var outcome: SaveOutcome?
    var transaction: SaveTransaction?
    func save(deletingOneByOne: Bool) throws {
      let deletes = request.insertions.isEmpty && !request.deletions.isEmpty
      _ = try write(doing: "be saved", deletes: deletes) { lookup -> Bool? in
        transaction?.discardFiles()
        let work = try SaveTransaction(
          lookup: lookup, request: request, recordsHistory: beginHistory(lookup), sidecarMaps: maps,
          deletesOneByOne: deletingOneByOne)
        transaction = work
        if let newMetadata { try MetadataTable.write(newMetadata, lookup.connection) }
        let result = try work.run()
        outcome = result
        guard case .saved = result else { return nil }
        try forgetSums(ofFiles: work.obsoleteFiles, lookup.connection)
        return true
      }
    }
    do {
      do {
        try save(deletingOneByOne: false)
      } catch is RowsHaveChanged {
        try save(deletingOneByOne: true)
      }
    } catch {
      if !Self.isInDoubt(error) { transaction?.discardFiles() }
      throw error
    }
    guard let outcome, let transaction else {
      throw CoreDataError(.persistentStoreSave, "The store at \(path) did not save.")
    }
    guard case .saved = outcome else {
      transaction.discardFiles()
      return outcome
    }
    removeUnneededFiles(transaction.obsoleteFiles)
    state.withLock { state in
      state.sidecarMaps.formUnion(transaction.sidecarMaps)
      if transaction.recordsHistory { state.recordsHistory = true }
    }
    if newMetadata != nil { noteMetadataSaved() }
    return outcome
  }
}
