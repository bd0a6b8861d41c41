// A kind of store for tests of opening: its file is a property list of metadata, its rows are in
// memory. It can be told to fail, to wait and to migrate.

import CairnAtomicStores
import CairnModel
@_spi(Stores) import CairnStore
import Foundation
import Synchronization
import TestSupport

/// What the kind does beyond the ordinary, and what it was asked to do.
final class FileStoreLog: Sendable {
  struct State {
    var cachedModels: [String: ManagedObjectModel] = [:]
    var migrations: [String] = []
    var closed = 0
  }
  static let shared = FileStoreLog()
  let state = Mutex(State())
}

struct FileStoreKind: StoreKind {
  static let typeName = "TestFile"
  var type: String { Self.typeName }
  var storeClass: PersistentStore.Type { FileStore.self }

  func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
    try Self.read(url)
  }

  static func read(_ url: URL) throws -> [String: Any] {
    let data = try Data(contentsOf: url)
    if data.isEmpty { return [:] }
    guard
      let metadata = try? PropertyListSerialization.propertyList(from: data, format: nil)
        as? [String: Any]
    else {
      throw CoreDataError(.persistentStoreInvalidType, "\(url.path) is not a TestFile store.")
    }
    return metadata
  }

  static func write(_ metadata: [String: Any], to url: URL) throws {
    try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
      .write(to: url)
  }

  func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOptions) throws {
    try Self.write(metadata, to: url)
  }
  func destroy(at url: URL, options: StoreOptions) throws {
    try Data().write(to: url)
  }
  func replace(at destination: URL, withStoreAt source: URL, options: StoreOptions) throws {
    try Data(contentsOf: source).write(to: destination)
  }
}

extension StoreKind where Self == DerivedStoreKind {
  /// The kind, able to migrate its files.
  static var migratingFile: DerivedStoreKind {
    DerivedStoreKind(of: FileStoreKind(), storeClass: MigratingFileStore.self)
  }
}

// Unchecked: `rows` is immutable and guards itself.
class FileStore: PersistentStore, @unchecked Sendable {
  private let rows: InMemoryStore

  override init(configuration: StoreConfiguration) {
    rows = InMemoryStore(configuration: configuration)
    super.init(configuration: configuration)
  }

  override var type: String { FileStoreKind.typeName }

  override func loadMetadata() throws {
    guard let url else { throw CoreDataError(.persistentStoreOpen, "no URL") }
    var metadata: [String: Any] = [:]
    if FileManager.default.fileExists(atPath: url.path) { metadata = try FileStoreKind.read(url) }
    let uuid = metadata[StoreMetadataKey.uuid] as? String ?? identity.identifier
    identity.identifier = uuid
    metadata[StoreMetadataKey.type] = type
    metadata[StoreMetadataKey.uuid] = uuid
    metadata[StoreMetadataKey.versionHashes] = managedObjectModel.entityVersionHashesByName
    if !isReadOnly { try FileStoreKind.write(metadata, to: url) }
    self.metadata = metadata
    FileStoreLog.shared.state.withLock { $0.cachedModels[url.path] = managedObjectModel }
  }

  override func close() throws { FileStoreLog.shared.state.withLock { $0.closed += 1 } }
  override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try rows.fetch(request)
  }
  override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    try rows.snapshots(for: objectIDs)
  }
  override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    try rows.members(of: relationship, owners: owners)
  }
  override func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    try rows.obtainPermanentIDs(for: entities).map {
      objectID(for: $0.entity, rowKey: rows.rowKey(of: $0) ?? 0)
    }
  }
  override func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    try rows.save(request)
  }
}

// Unchecked: no state of its own.
final class MigratingFileStore: FileStore, InPlaceMigrating, @unchecked Sendable {
  override class var inPlaceMigration: (any InPlaceMigrating.Type)? { self }

  static func migrateInPlace(
    at url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    options: StoreOptions
  ) throws {
    var metadata = try FileStoreKind.read(url)
    metadata[StoreMetadataKey.versionHashes] = destination.entityVersionHashesByName
    try FileStoreKind.write(metadata, to: url)
    FileStoreLog.shared.state.withLock { $0.migrations.append(url.path) }
  }

  static func cachedModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? {
    FileStoreLog.shared.state.withLock { $0.cachedModels[url.path] }
  }
}
