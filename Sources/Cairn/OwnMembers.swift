// What only Cairn adds to contexts, requests, migration and models. The modules below have it
// under package names, so that `import CoreData` does not bring it: a program may have members of
// these names.
import CairnContext
import CairnCoordinator
import CairnMigration
import CairnModel
import CairnModelFiles
import CairnPostgreSQL
import CairnSQLite
import CairnStore
import Foundation

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

extension PersistentHistoryChangeRequest {
  /// The largest number of transactions, oldest first; 0 for all.
  public var fetchLimit: Int {
    get { rowLimit }
    set { rowLimit = newValue }
  }
}

extension PersistentStore.StoreType {
  /// A store in a schema of a PostgreSQL database; see <doc:PostgreSQLStores>.
  ///
  /// Its URL is `postgresql://USER@HOST/DATABASE#SCHEMA`. libpq is loaded when the first one is opened.
  public static let postgreSQL = Self(rawValue: StoreTypeName.postgreSQL)
}

extension URL {
  /// The URL of a PostgreSQL store; see <doc:PostgreSQLStores>.
  ///
  /// - Parameters:
  ///   - connection: `postgresql://USER@HOST/DATABASE`, or libpq's settings, such as `service=inventory`.
  ///   - schema: The schema that the store is in.
  /// - Throws: 134080 for what is neither, for one with a password in it, and for a name that no schema can have.
  public static func postgreSQLStore(
    _ connection: String, schema: String = "cairn"
  ) throws -> URL {
    try PostgreSQLURL.make(connection, schema: schema)
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

extension StagedMigrationManager {
  /// The stage that is worked off; nil outside of a migration.
  public var currentStage: MigrationStage? { runningStage }
}

extension ManagedObjectModel {
  /// Reads a model from a file or folder of any kind.
  ///
  /// - `.xcdatamodeld`, `.momd`: the current version of the package; see ``ModelPackage``.
  /// - `.xcdatamodel`: one version as the editor writes it.
  /// - `.mom`: one compiled version. The optimised `.omo` form is read from the `.mom` beside it.
  ///
  /// Where a compiled model is asked for and only its source is there, the source is read: SwiftPM
  /// on Linux compiles no models.
  ///
  /// The model comes back editable. Cost: reading and parsing the file, on the calling thread.
  ///
  /// - Throws: ``ModelFileError`` with every problem of the file at once.
  public static func load(contentsOf url: URL) throws -> ManagedObjectModel {
    try read(contentsOf: url)
  }

  /// The model with which a SQLite store was last written, as the store remembers it; nil when it
  /// does not (very old stores).
  ///
  /// - Throws: ``CoreDataError`` when the file is missing or not a Core Data store.
  public static func load(fromSQLiteStoreAt url: URL) throws -> ManagedObjectModel? {
    try SQLiteStore.inPlaceMigration?.cachedModel(at: url, options: StoreOptions())
  }
}

extension ManagedObjectModelReference {
  /// The model, read the first time it is asked for.
  ///
  /// - Throws: ``ModelFileError`` when it cannot be found or read, or has another checksum.
  public func resolve() throws -> ManagedObjectModel { try resolution() }
}

extension MappingModel {
  /// Reads a mapping model as Xcode's editor writes it (`.xcmappingmodel`), or in its compiled form
  /// (`.cdm`).
  ///
  /// - Throws: ``ModelFileError``.
  public static func load(contentsOf url: URL) throws -> MappingModel {
    try read(contentsOf: url)
  }
}
