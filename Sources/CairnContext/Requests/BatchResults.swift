import CairnModel
import CairnStore

/// The outcome of a batch insert: a `Bool`, object IDs, or a count.
///
/// Rows that were overwritten because their unique values were there count too.
public final class BatchInsertResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchInsertRequestResultType
  init(_ outcome: BatchOutcome, _ type: BatchInsertRequestResultType) {
    resultType = type
    let ids = outcome.inserted + outcome.updated
    switch type {
    case .statusOnly: result = true
    case .objectIDs: result = ids
    case .count: result = ids.count
    }
  }
}

/// The outcome of a batch update: a `Bool`, object IDs, or a count.
public final class BatchUpdateResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchUpdateRequestResultType
  init(_ outcome: BatchOutcome, _ type: BatchUpdateRequestResultType) {
    resultType = type
    switch type {
    case .statusOnlyResultType: result = true
    case .updatedObjectIDsResultType: result = outcome.updated
    case .updatedObjectsCountResultType: result = outcome.updated.count
    }
  }
}

/// The outcome of a batch delete: a `Bool`, object IDs, or a count.
///
/// Rows that cascaded with those that were asked for count too.
public final class BatchDeleteResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchDeleteRequestResultType
  init(_ outcome: BatchOutcome, _ type: BatchDeleteRequestResultType) {
    resultType = type
    switch type {
    case .resultTypeStatusOnly: result = true
    case .resultTypeObjectIDs: result = outcome.deleted
    case .resultTypeCount: result = outcome.deleted.count
    }
  }
}
