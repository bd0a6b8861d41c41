import Foundation

/// Core Data's store option keys, with Apple's raw values.
public enum StoreOptionKey {
  /// A flag: the store is not written, created or migrated, and saves to it fail.
  ///
  /// SQLite may still make the two files of the write-ahead log beside a store that has none.
  public static let readOnly = "NSReadOnlyPersistentStoreOption"
  public static let validateXML = "NSValidateXMLStoreOption"
  /// Seconds that an operation waits for another process's lock before it fails with 134090.
  ///
  /// Default 240.
  public static let timeout = "NSPersistentStoreTimeoutOption"
  /// A dictionary of SQLite's pragmas, names to values; what is neither a name nor a plain value is
  /// refused with 134080.
  ///
  /// What the ones that matter most promise:
  /// - `journal_mode`: `WAL` (the default) lets readers and the writer work at the same time.
  ///   `DELETE`, `TRUNCATE` and `PERSIST` keep a rollback journal: readers and the writer wait for
  ///   each other, and there are no query generations. With `MEMORY` or `OFF` a crash in the middle
  ///   of a save destroys the store.
  /// - `synchronous`: with `FULL` (the default with a rollback journal, and for the daemon's store)
  ///   what a save has acknowledged survives a power cut (with a rollback journal that takes SQLite's
  ///   `EXTRA`, which `FULL` stands for there). With `NORMAL` (the default with `WAL`, as
  ///   Core Data's) a power cut may take the last saves away and never damages the store; a crash
  ///   of the program takes nothing away. With `OFF` a power cut may destroy the store.
  /// - `page_size` (default 4096) and `auto_vacuum` (default 2, incremental): of new stores only.
  /// - `cache_size`: SQLite's default of 2 MiB a connection, but 16 MiB for the one that writes and
  ///   for the one that reads faults and what short fetches find; a value here is every connection's.
  ///
  /// Pragmas that change the file (`user_version`), hold for the whole process (`hard_heap_limit`)
  /// or take a store's connections apart (`query_only`, `locking_mode`) are refused with 134080 too.
  public static let sqlitePragmas = "NSSQLitePragmasOption"
  /// A flag: opening the store brings SQLite's statistics for choosing indexes up to date.
  ///
  /// Reads every index, so opening takes its time.
  public static let sqliteAnalyze = "NSSQLiteAnalyzeOption"
  /// A flag: opening the store rewrites the file without free pages, and removes files of external
  /// data that no row names.
  ///
  /// Takes as much room again for the while and locks all others out. Such files come from crashes;
  /// without the flag they are removed when the store is opened next after one.
  public static let sqliteManualVacuum = "NSSQLiteManualVacuumOption"
  public static let ignoreVersioning = "NSIgnorePersistentStoreVersioningOption"
  public static let migrateAutomatically = "NSMigratePersistentStoresAutomaticallyOption"
  public static let inferMappingModel = "NSInferMappingModelAutomaticallyOption"
  /// A `StagedMigrationManager`.
  public static let stagedMigrationManager = "NSPersistentStoreStagedMigrationManagerOptionKey"
  /// Accepted; Cairn does everything when the store is opened.
  public static let deferredLightweightMigration =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"
  /// A flag: commits are recorded in persistent history.
  ///
  /// A store that has history goes on recording without the option. One that is open in a program
  /// without the option records from the save or batch on that finds that another program has begun.
  public static let historyTracking = "NSPersistentHistoryTrackingKey"
  /// A flag: commits of any process to the store are announced by `persistentStoreRemoteChange`.
  public static let remoteChangeNotification = "NSPersistentStoreRemoteChangeNotificationOptionKey"
  /// How many connections of a SQLite store read at the same time, and how many a PostgreSQL store has at all,
  /// beside those of query generations and of remote changes.
  ///
  /// Default 7 and 4.
  public static let connectionPoolMaxSize = "NSPersistentStoreConnectionPoolMaxSize"
  public static let forceDestroy = "NSPersistentStoreForceDestroyOption"
  /// Accepted with any value and without effect: Linux has no file protection classes.
  public static let fileProtection = "NSPersistentStoreFileProtectionKey"
  /// Ignored: Cairn's binary stores hold values, not archived objects.
  public static let binaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
  /// Ignored, as ``binaryStoreSecureDecodingClasses``.
  public static let binaryStoreInsecureDecodingCompatibility =
    "NSBinaryStoreInsecureDecodingCompatibilityOption"
  /// Cairn's own: models that may describe the store as it is now, tried as migration sources.
  public static let migrationSourceModels = "CairnMigrationSourceModels"
  /// Cairn's own: mapping models (`[MappingModel]`) that come before those among the program's
  /// resources.
  public static let migrationMappingModels = "CairnMigrationMappingModels"
  /// Cairn's own: `(Double) -> Void & Sendable`, called during a migration with 0…1.
  public static let migrationProgress = "CairnMigrationProgress"
  /// Cairn's own: whether a migration that would drop an entity or a property that the store has is
  /// refused, also from a model that the program knows; for stores that others may use.
  ///
  /// Default false: a program that knows both versions drops on purpose.
  public static let refuseLossyMigration = "CairnRefuseLossyMigration"
  /// Cairn's own: keep a sum of every row and link in the file, so that `verify` finds what a disk has changed,
  /// and a note of the last commit beside it, so that a log that was cut short is noticed.
  ///
  /// Costs a part of every save. Once a SQLite file has sums, Cairn keeps them with or without the
  /// option; other programs need not know of them, as long as they record history.
  public static let rowChecksums = "CairnRowChecksums"
  /// Cairn's own: a flag: history tells also what other programs write to a PostgreSQL store with plain SQL,
  /// which triggers record.
  ///
  /// Turns history on. A store that has the triggers keeps them without the option. Each statement of others costs
  /// one or two more; Cairn's own saves cost nothing more.
  public static let postgreSQLCapture = "CairnPostgreSQLCapture"
  /// Cairn's own: the name of the systemd credential (`LoadCredential=NAME:/path`) with the password of a
  /// PostgreSQL store.
  ///
  /// Default `postgresql-password`; where there is no such credential, libpq looks into `.pgpass` and the environment. One that
  /// is named has to be there.
  public static let postgreSQLPasswordCredential = "CairnPostgreSQLPasswordCredential"
  /// Cairn's own: seconds that a PostgreSQL server may work at one statement before it fails with 134090; 0 for
  /// as long as it takes.
  ///
  /// The wait for rows and locks counts, so that ``timeout`` has no effect beyond it. Default: 60 more than ``timeout``.
  public static let postgreSQLStatementTimeout = "CairnPostgreSQLStatementTimeout"
  /// Cairn's own: seconds that a transaction of a PostgreSQL store may stand still in the middle before the server ends
  /// it; 0 for as long as it takes.
  ///
  /// Default 120.
  package static let postgreSQLIdleTransactionTimeout = "CairnPostgreSQLIdleTransactionTimeout"
  /// Cairn's own: seconds after which a SQLite store may give up a query generation, when its log
  /// has grown beyond ``queryGenerationLogSize``, and after which a PostgreSQL store gives it up in any case.
  ///
  /// Default 600.
  public static let queryGenerationMaximumAge = "CairnQueryGenerationMaximumAge"
  /// Cairn's own: the size in bytes up to which a SQLite store's write-ahead log may grow for the
  /// sake of query generations older than ``queryGenerationMaximumAge``.
  ///
  /// Default 32 MiB.
  public static let queryGenerationLogSize = "CairnQueryGenerationLogSize"
}

/// The options of one store, read once.
// Unchecked: the dictionary is immutable; its values are property-list values, models (immutable
// once used) and Sendable closures.
public struct StoreOptions: @unchecked Sendable {
  public let dictionary: [AnyHashable: Any]

  public init(_ dictionary: [AnyHashable: Any]? = nil) {
    self.dictionary = dictionary ?? [:]
  }

  public func flag(_ key: String) -> Bool {
    switch dictionary[key] {
    case let value as Bool: return value
    case let value as NSNumber: return value.boolValue
    case let value as [AnyHashable: Any]: return !value.isEmpty
    default: return false
    }
  }

  public var isReadOnly: Bool { flag(StoreOptionKey.readOnly) }
  public var ignoresVersioning: Bool { flag(StoreOptionKey.ignoreVersioning) }
  public var migratesAutomatically: Bool { flag(StoreOptionKey.migrateAutomatically) }
  public var infersMappingModel: Bool { flag(StoreOptionKey.inferMappingModel) }
  public var refusesLossyMigration: Bool { flag(StoreOptionKey.refuseLossyMigration) }
  public var tracksHistory: Bool { flag(StoreOptionKey.historyTracking) }
  public var postsRemoteChanges: Bool { flag(StoreOptionKey.remoteChangeNotification) }
  /// Seconds to wait for a locked database.
  ///
  /// Default 240, as Core Data's store description.
  public var timeout: TimeInterval {
    (dictionary[StoreOptionKey.timeout] as? NSNumber)?.doubleValue ?? 240
  }
  /// Seconds; see ``StoreOptionKey/queryGenerationMaximumAge``.
  public var queryGenerationMaximumAge: TimeInterval {
    (dictionary[StoreOptionKey.queryGenerationMaximumAge] as? NSNumber)?.doubleValue ?? 600
  }
  /// Bytes; see ``StoreOptionKey/queryGenerationLogSize``.
  public var queryGenerationLogSize: Int {
    (dictionary[StoreOptionKey.queryGenerationLogSize] as? NSNumber)?.intValue ?? 32 << 20
  }
  /// Pragma name to value.
  public var sqlitePragmas: [String: String] {
    let pragmas = dictionary[StoreOptionKey.sqlitePragmas] as? [String: Any] ?? [:]
    return pragmas.mapValues { "\($0)" }
  }
}
