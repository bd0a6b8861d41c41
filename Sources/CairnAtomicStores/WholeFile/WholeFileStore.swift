import CairnModel
import CairnPlatform
@_spi(Stores) import CairnStore
import Foundation
import Synchronization

/// A store that is one file: read whole when it is opened, written whole at every save.
///
/// Rows have versions as long as the store is open, so that conflicts within the process are found. A save that breaks
/// a uniqueness constraint is refused, where Core Data's atomic stores refuse the model; a file that breaks one
/// already opens as it is. There are no derived attributes and no history, as in Core Data's atomic stores. The store
/// refuses a save when another writer has changed the file.
// Unchecked: mutable state is `state`, inside a mutex; `saving` lets one save at a time write,
// while readers go on with the old content. Predicates run on a copy, outside both.
public class WholeFileStore: PersistentStore, @unchecked Sendable {
  private struct State: Sendable {
    var tables: MemoryTables
    /// The file as this store read or wrote it last; nil before there is one.
    var file: FileFacts?
  }
  private let state = Mutex(State(tables: MemoryTables(manner: .wholeFile)))
  private let saving = Mutex(())

  // Both subclasses, which stand in this module, override it; no other module can inherit from this class.
  var format: any WholeFileFormat { fatalError("\(Swift.type(of: self)) must override format") }

  public override var type: String { format.type }

  @_spi(Stores)
  public override var capabilities: StoreCapabilities {
    var all = StoreCapabilities()
    all.keepsUniqueness = true
    return all
  }

  private func file() throws -> WholeFile {
    guard let url, url.isFileURL else {
      throw CoreDataError(
        .persistentStoreOpen, "A store of type \(type) needs the URL of a file.")
    }
    return WholeFile(url: url)
  }

  // MARK: Life

  public override func loadMetadata() throws {
    let model = managedObjectModel
    try Self.refuseDerivedAttributes(of: model, type: type)
    try format.check(model)
    identity.rowPrefix = format.rowPrefix
    let file = try file()
    let facts = file.facts
    let data = facts == nil ? Data() : try file.read()
    var content: WholeFileContent
    if data.isEmpty {
      content = WholeFileContent(
        metadata: [
          StoreMetadataKey.type: type, StoreMetadataKey.uuid: identity.identifier,
          StoreMetadataKey.frameworkVersion: NSNumber(value: 1344),
        ], tables: format.emptyTables())
    } else {
      let metadata = try format.metadata(of: data, path: file.path)
      if let uuid = metadata[StoreMetadataKey.uuid] as? String { identity.identifier = uuid }
      content = try format.content(
        of: data, path: file.path, model: model, identity: identity,
        options: configuration.options)
    }
    content.metadata.merge(modelMetadata) { _, new in new }
    var known = facts
    if data.isEmpty, !isReadOnly {
      known = try file.write(try format.data(of: content, model: model), replacing: facts)
    }
    metadata = content.metadata
    let opened = State(tables: content.tables, file: known)
    state.withLock { $0 = opened }
  }

  /// Everything in memory is gone then; the file has what was saved.
  public override func close() throws {
    state.withLock { $0 = State(tables: MemoryTables(manner: .wholeFile)) }
  }

  private static func refuseDerivedAttributes(of model: ManagedObjectModel, type: String) throws {
    for entity in model.entities {
      for property in entity.properties where property is DerivedAttributeDescription {
        throw CoreDataError(
          .persistentStoreIncompatibleSchema,
          "\(entity.name ?? "?").\(property.name) is a derived attribute. Core Data provided atomic "
            + "stores, such as \(type), do not support derived properties; use SQLite.",
          userInfo: ["reason": "Atomic stores do not support derived properties."])
      }
    }
  }

  // MARK: Rows

  public override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try KeyPathCheck.check(request)
    let tables = state.withLock { $0.tables }
    let rows = tables.rows(of: request.entity, includesSubentities: request.includesSubentities)
    return try SnapshotQuery(request, source: MemorySource(tables: tables)).run(over: rows)
  }

  public override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    state.withLock { state in objectIDs.map { state.tables.row($0) } }
  }

  public override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    state.withLock { state in owners.map { state.tables.members(of: relationship, owner: $0) } }
  }

  public override func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    try state.withLock { state in
      try entities.map {
        ManagedObjectID(
          entity: $0, storeIdentity: identity, key: .row(try state.tables.nextKey(for: $0)))
      }
    }
  }

  public override func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    if isReadOnly {
      throw CoreDataError(
        .persistentStoreSave, "The store \(url?.path ?? "") is read-only.",
        userInfo: ["NSAffectedStoresErrorKey": [self]])
    }
    if !request.sidecar.isEmpty {
      throw CoreDataError(
        .persistentStoreUnsupportedRequestType,
        "Stores of type \(type) keep no bookkeeping beside their objects, so they cannot be synced."
      )
    }
    return try saving.withLock { _ in
      let before = state.withLock { $0 }
      var tables = before.tables
      let outcome = try tables.save(request, tracksHistory: false)
      guard case .saved = outcome else { return outcome }
      let file = try self.file()
      let data = try format.data(
        of: WholeFileContent(metadata: fullMetadata, tables: tables), model: managedObjectModel)
      let written = try file.write(data, replacing: before.file)
      state.withLock { state in
        // IDs may have been given out meanwhile.
        tables.reserveKeys(through: state.tables.lastKey)
        state = State(tables: tables, file: written)
      }
      return outcome
    }
  }

  /// What the metadata says about the model.
  private var modelMetadata: [String: Any] {
    let model = managedObjectModel
    return [
      StoreMetadataKey.versionHashes: model.entityVersionHashesByName,
      StoreMetadataKey.versionHashesVersion: NSNumber(value: 3),
      StoreMetadataKey.versionHashesDigest: model.versionHashesDigest,
      StoreMetadataKey.versionChecksum: model.versionChecksum,
      StoreMetadataKey.versionIdentifiers: model.versionIdentifiers.map { "\($0)" }.sorted(),
    ]
  }

  /// The metadata with what the store itself knows best, whatever was set.
  private var fullMetadata: [String: Any] {
    var metadata = (self.metadata ?? [:]).merging(modelMetadata) { _, new in new }
    metadata[StoreMetadataKey.type] = type
    metadata[StoreMetadataKey.uuid] = identity.identifier
    return metadata
  }
}

/// A store in Core Data's XML format.
///
/// Type `XML`.
// Unchecked: no state of its own.
public final class XMLStore: WholeFileStore, @unchecked Sendable {
  override var format: any WholeFileFormat { XMLStoreFormat() }

  public override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try XMLStoreKind().metadata(at: url, options: StoreOptions())
  }

  public override class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    try XMLStoreKind().setMetadata(metadata ?? [:], at: url, options: StoreOptions())
  }
}

/// A store in Cairn's binary format, smaller and faster to read than XML.
///
/// Type `Binary`.
// Unchecked: no state of its own.
public final class BinaryStore: WholeFileStore, @unchecked Sendable {
  override var format: any WholeFileFormat { BinaryStoreFormat() }

  public override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try BinaryStoreKind().metadata(at: url, options: StoreOptions())
  }

  public override class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    try BinaryStoreKind().setMetadata(metadata ?? [:], at: url, options: StoreOptions())
  }
}
