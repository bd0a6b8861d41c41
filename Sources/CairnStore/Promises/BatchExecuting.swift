import CairnModel

/// A change to many rows that happens inside a store, without objects.
public enum StoreBatchRequest: Sendable {
  /// New rows given by property name; missing ones take the model's default.
  case insert(entity: EntityDescription, rows: [[String: AttributeValue]])
  /// New values by property name for every row that matches.
  case update(
    entity: EntityDescription, includesSubentities: Bool, predicate: ObjectPredicate?,
    values: [String: ObjectExpression])
  /// Deletes what the fetch finds.
  case delete(StoreFetchRequest)
}

/// An optional promise of a store: it executes batch requests.
public protocol BatchExecuting: AnyObject, Sendable {
  /// Runs the request in one transaction and returns the IDs of the rows it touched.
  func executeBatch(
    _ request: StoreBatchRequest, author: String?, contextName: String?
  ) throws -> [ManagedObjectID]
}
