import CairnModel
import CairnStore
import Foundation

/// What a Core Data store file says of itself, read without a model and without changing the file
/// or its folder.
///
/// ```swift
/// let store = try StoreInspection(contentsOf: url)
/// print(store.frameworkVersion ?? 0, store.entities.map { "\($0.name) \($0.count)" })
/// for finding in store.findings { print(finding) }
/// ```
public struct StoreInspection: Sendable {
  /// An entity as the file knows it.
  public struct Entity: Sendable, Hashable {
    public let name: String
    /// `Z_ENT`.
    public let number: Int
    public let superentity: String?
    /// Nil when the file remembers no model.
    public let isAbstract: Bool?
    /// The table that holds its rows.
    public let table: String
    /// Rows of exactly this entity; nil when they could not be counted.
    public let count: Int?
    /// The version hash that the metadata record.
    public let versionHash: Data?
  }

  /// What persistent history holds.
  public struct History: Sendable, Hashable {
    public let transactions: Int
    public let changes: Int
    /// When the oldest transaction was committed, and the newest.
    public let oldest: Date?
    public let newest: Date?
    /// The number of the newest transaction, which history tokens count.
    public let lastTransaction: Int64?
    public let authors: [String]
  }

  /// The files beside the store.
  public struct ExternalData: Sendable, Hashable {
    public let folder: String
    public let files: Int
    /// Their size in bytes.
    public let size: Int64
  }

  /// The model that the file remembers.
  public enum RememberedModel: Sendable {
    case none
    /// It is there and cannot be read, for this reason.
    case unreadable(String)
    case model(ManagedObjectModel)
  }

  public let url: URL
  /// The file's size in bytes, and that of its write-ahead log.
  public let size: Int64
  public let logSize: Int64
  /// `Z_UUID`, the authority of the URIs of the store's objects.
  public let identifier: String
  /// The version of the framework that wrote the store, such as 1526.
  public let frameworkVersion: Int?
  public let versionIdentifiers: [String]
  /// The base64 text of `versionChecksum`, as recorded; absent from older stores.
  public let versionChecksum: String?
  /// The whole metadata, with the keys of the program that uses the store.
  // Property-list values only.
  public nonisolated(unsafe) let metadata: [String: Any]
  public let pageSize: Int
  /// `wal` or `delete`, as the file's header says.
  public let journalMode: String
  /// In the order of their numbers.
  public let entities: [Entity]
  /// Nil when the store keeps no history.
  public let history: History?
  /// Nil when there is no support folder.
  public let externalData: ExternalData?
  public let rememberedModel: RememberedModel
  /// Tables that are not Core Data's, such as those of CloudKit mirroring and of Cairn's sync.
  public let foreignTables: [String]
  /// What is wrong or worth knowing; empty when the caller did not ask.
  public private(set) var findings: [StoreFinding]

  /// The findings that are damage.
  public var damage: [StoreFinding] { findings.filter { $0.severity == .damage } }

  /// Reads a store's file, and makes, changes and leaves nothing in its folder.
  ///
  /// May be called on any thread, also while this program has the store open. A store that it opens meanwhile waits
  /// for the end of this where programs that have ended left a log, for as long as ``StoreOptionKey/timeout`` says.
  ///
  /// - Parameters:
  ///   - url: The store's file. With a write-ahead log beside it, what the log holds is read too.
  ///   - model: The model to check the rows by; nil for the one that the file remembers.
  ///   - checks: Whether everything is read and checked; otherwise rows are only counted.
  ///   - timeout: Seconds to wait for a program that has locked the file.
  ///   - isStrict: Whether what Apple's frameworks leave behind is damage as well, as it is in a store
  ///     that only Cairn has written.
  /// - Throws: ``CoreDataError``: 134080 when there is no file or it may not be read, 134000 for
  ///   one that is no SQLite database or no store of Core Data, 134070 for one that is too damaged
  ///   to say anything of itself.
  public init(
    contentsOf url: URL, model: ManagedObjectModel? = nil, checks: Bool = true,
    timeout: TimeInterval = 5, isStrict: Bool = false
  ) throws {
    try self.init(
      contentsOf: url, model: model, checks: checks, timeout: timeout,
      files: ExternalDataFiles(store: url), isStrict: isStrict)
  }

  init(
    contentsOf url: URL, model: ManagedObjectModel?, checks: Bool, timeout: TimeInterval,
    files: ExternalDataFiles, isStrict: Bool = false
  ) throws {
    let file = try UntouchedFile(path: url.path, timeout: timeout)
    func read<T>(_ body: (InspectionReading) throws -> T) throws -> T {
      try file.read { connection in
        try body(
          InspectionReading(
            url: url, connection: connection, model: model, checks: checks, files: files,
            leftovers: isStrict ? .damage : .remark))
      }
    }
    self = try read { try $0.inspection() }
    findings = findings.confirmed { names in try read { try $0.namedFiles(among: names) } }
  }

  init(
    reading: InspectionReading, facts: SQLiteFileFacts, rememberedModel: RememberedModel,
    entities: [Entity], findings: [StoreFinding]
  ) throws {
    let metadata = facts.metadata ?? [:]
    url = reading.url
    size = reading.size(of: "")
    logSize = reading.size(of: "-wal")
    identifier = metadata[StoreMetadataKey.uuid] as? String ?? ""
    frameworkVersion = (metadata[StoreMetadataKey.frameworkVersion] as? NSNumber)?.intValue
    versionIdentifiers =
      (metadata[StoreMetadataKey.versionIdentifiers] as? [Any])?.compactMap { $0 as? String } ?? []
    versionChecksum = metadata[StoreMetadataKey.versionChecksum] as? String
    self.metadata = metadata
    pageSize = Int(try reading.connection.integer("PRAGMA page_size") ?? 0)
    journalMode = reading.journalMode
    self.entities = entities
    history = try reading.history(facts.catalog)
    externalData = reading.externalData()
    self.rememberedModel = rememberedModel
    foreignTables = reading.foreignTables(facts.catalog, entities: entities)
    self.findings = findings
  }
}
