import CairnModel
import Foundation

/// One registered kind of store: how to make one, and what can be done to its files while it is
/// not open.
public protocol StoreKind: Sendable {
  /// The type string, such as `SQLite`.
  var type: String { get }
  /// The class that stands for the kind; its ``PersistentStore/inPlaceMigration`` is the kind's.
  var storeClass: PersistentStore.Type { get }
  /// Whether a store is a file at its URL, which must exist or be creatable, and which one
  /// coordinator opens only once. Default true; stores in memory and on servers say no.
  var keepsFiles: Bool { get }
  /// Whether one coordinator opens a URL only once. Default: when it ``keepsFiles``.
  var claimsURL: Bool { get }
  /// Whether its stores are of a class of the program's own, which works on objects and may tell nothing of a store
  /// that is not open. Default false.
  var isOfProgram: Bool { get }
  /// How a file is looked at before it is opened; nil, as by default, where opening tells.
  var fileChecking: (any FileChecking)? { get }
  /// The metadata of a store file, without opening it for use; empty for a file that is no store
  /// yet, such as an empty one.
  ///
  /// - Throws: ``CoreDataError``, among others when the file is missing or not such a store.
  func metadata(at url: URL, options: StoreOptions) throws -> [String: Any]
  /// Replaces the metadata in a store file at once.
  func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOptions) throws
  /// Leaves an empty, valid store or none, and removes what belongs to the old one.
  func destroy(at url: URL, options: StoreOptions) throws
  /// Overwrites a store with a copy of another.
  func replace(at destination: URL, withStoreAt source: URL, options: StoreOptions) throws
  /// Holds other writers off a store that is about to be replaced, or notes what it is like, so that
  /// ``StoreHold/replace()`` notices that another writer has changed it; nil, as by default, where neither is possible:
  /// then ``replace(at:withStoreAt:options:)`` does it.
  ///
  /// - Parameter replacement: Where the next version will be; nothing is there yet.
  /// - Throws: ``CoreDataError`` when others use the file for longer than the options wait.
  func hold(
    _ store: URL, for replacement: URL, options: StoreOptions
  ) throws -> (any StoreHold)?
}

extension StoreKind {
  public var keepsFiles: Bool { true }
  public var claimsURL: Bool { keepsFiles }
  public var isOfProgram: Bool { false }
  public var fileChecking: (any FileChecking)? { nil }
  public func hold(
    _ store: URL, for replacement: URL, options: StoreOptions
  ) throws -> (any StoreHold)? { nil }
}

/// A capability of a kind of store: it looks whether a file is whole, and changes nothing there.
public protocol FileChecking: Sendable {
  /// What is damaged first, in words that follow a colon; nil where nothing is found in the time that there is.
  ///
  /// - Throws: What reading the file throws otherwise.
  func damage(at url: URL, options: StoreOptions, within limit: Duration) throws -> String?

  /// Whether the path is a mount point by itself: what belongs to the file lies beside its other name, and
  /// programs that use it under both destroy it.
  func isMountPoint(_ url: URL) -> Bool
}

/// A store's metadata dictionary in a form that may cross threads.
// Unchecked: immutable, and its values are property-list values.
public struct StoreMetadata: @unchecked Sendable {
  public let dictionary: [String: Any]
  public init(dictionary: [String: Any]) { self.dictionary = dictionary }
}

/// Keys of store metadata, with Apple's raw values.
public enum StoreMetadataKey {
  public static let type = "NSStoreType"
  public static let uuid = "NSStoreUUID"
  public static let versionHashes = "NSStoreModelVersionHashes"
  public static let versionHashesVersion = "NSStoreModelVersionHashesVersion"
  public static let versionHashesDigest = "NSStoreModelVersionHashesDigest"
  public static let versionChecksum = "NSStoreModelVersionChecksumKey"
  public static let versionIdentifiers = "NSStoreModelVersionIdentifiers"
  public static let frameworkVersion = "NSPersistenceFrameworkVersion"
  public static let autoVacuumLevel = "_NSAutoVacuumLevel"

  /// The version of the model that a stage of a migration has brought the store to, while it has more to do there.
  package static let unfinishedStage = "CairnUnfinishedMigrationStage"
  /// The versions of the model that the store has left by migration.
  package static let leftVersions = "CairnLeftModelVersions"

  /// What a store says of itself; other keys are the program's.
  package static let all = [
    type, uuid, versionHashes, versionHashesVersion, versionHashesDigest, versionChecksum,
    versionIdentifiers, frameworkVersion, autoVacuumLevel, unfinishedStage, leftVersions,
  ]
}

/// The type strings of the stores that Core Data defines.
public enum StoreTypeName {
  public static let sqlite = "SQLite"
  public static let xml = "XML"
  public static let binary = "Binary"
  public static let inMemory = "InMemory"
  /// Cairn's own; programs have it as a `StoreType` where they import `Cairn`.
  package static let postgreSQL = "PostgreSQL"
}

extension URL {
  /// The place of a store for people and to compare: a path, or all of a URL that is none.
  package var storePlace: String {
    isFileURL ? path : absoluteString.removingPercentEncoding ?? absoluteString
  }
}
