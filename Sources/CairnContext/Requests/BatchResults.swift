import CairnModel
import CairnStore
import Foundation

/// The outcome of a batch insert: a number that is true, object IDs, or a
/// number that counts them.
///
/// Rows that were overwritten because their unique values were there count too.
public final class BatchInsertResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchInsertRequestResultType
  init(_ outcome: BatchOutcome, _ type: BatchInsertRequestResultType) {
    resultType = type
    let ids = outcome.inserted + outcome.updated
    switch type {
    case .statusOnly: result = NSNumber(value: true)
    case .objectIDs: result = ids
    case .count: result = NSNumber(value: ids.count)
    }
  }
}

/// The outcome of a batch update: a number that is true, object IDs, or a
/// number that counts them.
public final class BatchUpdateResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchUpdateRequestResultType
  init(_ outcome: BatchOutcome, _ type: BatchUpdateRequestResultType) {
    resultType = type
    switch type {
    case .statusOnlyResultType: result = NSNumber(value: true)
    case .updatedObjectIDsResultType: result = outcome.updated
    case .updatedObjectsCountResultType: result = NSNumber(value: outcome.updated.count)
    }
  }
}

/// The outcome of a batch delete: a number that is true, object IDs, or a
/// number that counts them.
///
/// Rows that cascaded with those that were asked for count too.
public final class BatchDeleteResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchDeleteRequestResultType
  init(_ outcome: BatchOutcome, _ type: BatchDeleteRequestResultType) {
    resultType = type
    switch type {
    case .resultTypeStatusOnly: result = NSNumber(value: true)
    case .resultTypeObjectIDs: result = outcome.deleted.ids
    case .resultTypeCount: result = NSNumber(value: outcome.deleted.count)
    }
  }
}
