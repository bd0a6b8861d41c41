import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// What a change in history did, with Core Data's raw values.
public enum PersistentHistoryChangeType: Int, Sendable {
  case insert = 0
  case update = 1
  case delete = 2
}

/// The form of a history request's result, with Core Data's raw values.
public enum PersistentHistoryResultType: Int, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
  case transactionsOnly = 3
  case changesOnly = 4
  case transactionsAndChanges = 5
}

/// The outcome of a history request.
///
/// Source: `NSPersistentHistoryResult`.
public final class PersistentHistoryResult: PersistentStoreResult {
  /// Transactions, changes, object IDs, a count, or a `Bool`, by ``resultType``.
  public let result: Any?
  public let resultType: PersistentHistoryResultType
  init(_ result: Any?, _ resultType: PersistentHistoryResultType) {
    self.result = result
    self.resultType = resultType
  }
}
