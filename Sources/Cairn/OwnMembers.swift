// What only Cairn adds to Core Data's types. The modules below have it under package names, so that
// `import CoreData` does not bring it: a program may have members of these names.
import CairnContext
import CairnCoordinator
import CairnMigration
import CairnModel

extension ManagedObjectContext {
  /// How a fetch request would run: the SQL of each store, the indexes it uses, and what is left
  /// for memory.
  ///
  /// Nothing is fetched. For a child context the answer is that of its root, which asks the
  /// stores.
  ///
  /// - Throws: What `fetch(_:)` would throw before it reads a row.
  public func explain(_ request: AnyFetchRequest) throws -> FetchExplanation {
    try explanation(of: request)
  }
}

extension PersistentStoreDescription {
  /// Models that may describe the store as it is now, for automatic migration.
  public var migrationSourceModels: [ManagedObjectModel] {
    get { sourceModels }
    set { sourceModels = newValue }
  }
  /// Called during a migration with 0…1, on the thread that migrates.
  public var migrationProgress: (@Sendable (Double) -> Void)? {
    get { progressReport }
    set { progressReport = newValue }
  }
}

extension MigrationManager {
  /// Called whenever `migrationProgress` changes, on the thread that migrates.
  public var progressHandler: ((Float) -> Void)? {
    get { progressReport }
    set { progressReport = newValue }
  }
}
