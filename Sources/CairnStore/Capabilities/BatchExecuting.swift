import CairnModel
import CairnPredicates

/// A change to many rows that happens inside a store, without objects.
public enum StoreBatchRequest: Sendable {
  /// New rows given by property name; missing ones take the model's default.
  case insert(
    entity: EntityDescription, rows: BatchRowSource,
    duplicates: BatchDuplicateRule = .refuse)
  /// New values by property name for every row that matches.
  case update(
    entity: EntityDescription, includesSubentities: Bool, predicate: ObjectPredicate?,
    values: [String: ObjectExpression])
  /// Deletes what the fetch finds.
  case delete(StoreFetchRequest)
}

/// What a batch insert does with a row whose unique values another row has already.
public enum BatchDuplicateRule: Sendable, Hashable, CaseIterable {
  /// Nothing is inserted at all; the error is 133021.
  case refuse
  /// The row that is there keeps its identity and takes the given values.
  case overwrite
  /// The row that is there stays as it is; the new one is left out.
  case skip
}

/// The rows that a batch request touched.
public struct BatchOutcome: Sendable {
  public var inserted: [ManagedObjectID]
  public var updated: [ManagedObjectID]
  /// Those that the request found, and those that its delete rules took along.
  public var deleted: RowList

  public init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [],
    deleted: RowList = RowList()
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }

  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// A capability of a store: it executes batch requests.
public protocol BatchExecuting: AnyObject, Sendable {
  /// Runs the request in one transaction and tells which rows it touched.
  func executeBatch(
    _ request: StoreBatchRequest, author: String?, contextName: String?
  ) throws -> BatchOutcome
}
