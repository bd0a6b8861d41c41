/// A capability of a store: it can say how it would run a fetch.
///
/// A store without it is taken to read all rows of the entity and to do the rest in memory.
public protocol FetchExplaining: AnyObject, Sendable {
  /// How the request would run; nothing is fetched.
  ///
  /// - Throws: What ``PersistentStore/fetch(_:)`` throws for the request.
  func explain(_ request: StoreFetchRequest) throws -> StoreFetchExplanation
}
