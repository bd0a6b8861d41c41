import CairnModel
import Foundation
import Synchronization

/// Where a store is and how it is to be opened.
public struct StoreConfiguration: Sendable {
  public let model: ManagedObjectModel
  /// Nil means all entities.
  public let configurationName: String?
  public let url: URL?
  public let options: StoreOptions
  /// The coordinator that opens the store, which stores refer to without keeping it.
  package private(set) var coordinator: LooseReference<AnyObject>?

  public init(
    model: ManagedObjectModel, configurationName: String?, url: URL?, options: StoreOptions
  ) {
    self.model = model
    self.configurationName = configurationName
    self.url = url
    self.options = options
  }

  /// The same, opened by a coordinator.
  package func opened(by coordinator: LooseReference<AnyObject>?) -> StoreConfiguration {
    var copy = self
    copy.coordinator = coordinator
    return copy
  }
}

/// The promise every store makes: rows in, rows out, saves that are atomic.
///
/// Methods are synchronous, because reading a property can fire a fault, and may be called from
/// any thread. What a store can do besides, it says in its ``capabilities``.
///
/// What Apple's class does not have is for those who write stores: `@_spi(Stores) import Cairn`.
///
/// Subclasses must override everything below "Rows" and `loadMetadata`; the base class traps
/// there, as Core Data's abstract class does. Source: `NSPersistentStore`.
// Unchecked: mutable state is inside `state`; subclasses guard their own.
open class PersistentStore: NSObject, @unchecked Sendable {
  private struct State {
    var url: URL?
    var metadata = StoreMetadata(dictionary: [:])
    /// Whether metadata was set since it was last read or written.
    var hasUnsavedMetadata = false
    var isReadOnly: Bool
    var coordinator: LooseReference<AnyObject>?
  }
  private let state: Mutex<State>

  package let configuration: StoreConfiguration
  /// Shared by the IDs of the store's objects.
  package let identity: StoreIdentity

  /// Makes the store without touching its file; ``loadMetadata()`` opens it.
  public init(configuration: StoreConfiguration) {
    self.configuration = configuration.opened(by: nil)
    identity = StoreIdentity(
      identifier: UUID().uuidString, model: configuration.model)
    state = Mutex(
      State(
        url: configuration.url, isReadOnly: configuration.options.isReadOnly,
        coordinator: configuration.coordinator))
    super.init()
    identity.store.set(self)
  }

  deinit { identity.store.clear() }

  // MARK: Facts

  package var managedObjectModel: ManagedObjectModel { configuration.model }
  public var configurationName: String {
    configuration.configurationName ?? ManagedObjectModel.defaultConfigurationName
  }
  public var options: [AnyHashable: Any]? { configuration.options.dictionary }
  open var url: URL? {
    get { state.withLock { $0.url } }
    set { state.withLock { $0.url = newValue } }
  }
  /// The store's UUID string; a new one goes into the metadata, and with them into the file.
  open var identifier: String! {
    get { identity.identifier }
    set {
      guard let newValue, newValue != identity.identifier else { return }
      identity.identifier = newValue
      guard metadata[StoreMetadataKey.uuid] != nil else { return }
      metadata[StoreMetadataKey.uuid] = newValue
    }
  }
  /// The registered store type, such as `SQLite`.
  ///
  /// Subclasses must override it; only one that does not, wherever it is used, gets the trap.
  open var type: String { fatalError("\(Swift.type(of: self)) must override type") }
  open var isReadOnly: Bool {
    get { state.withLock { $0.isReadOnly } }
    set { state.withLock { $0.isReadOnly = newValue } }
  }
  /// The store's metadata, always with `NSStoreType` and `NSStoreUUID`.
  ///
  /// What is set here is written with the next save.
  open var metadata: [String: Any]! {
    get { state.withLock { $0.metadata }.dictionary }
    set {
      let metadata = StoreMetadata(dictionary: newValue ?? [:])
      state.withLock { state in
        state.metadata = metadata
        state.hasUnsavedMetadata = true
      }
    }
  }
  /// Whether metadata was set since the store was opened or last saved.
  ///
  /// A save without changed objects writes it all the same.
  @_spi(Stores)
  public var hasUnsavedMetadata: Bool { state.withLock { $0.hasUnsavedMetadata } }
  /// The metadata is what the store's file has: it was just read or written.
  package func noteMetadataSaved() { state.withLock { $0.hasUnsavedMetadata = false } }
  /// Whether objects of the entity may live in this store.
  package func holds(_ entity: EntityDescription) -> Bool {
    guard let name = configuration.configurationName else { return true }
    let entities = managedObjectModel.entities(forConfigurationName: name) ?? []
    return entities.contains { $0 === entity }
  }
  /// The ID of an object of this store, by a primary key that is unique in its entity hierarchy.
  @_spi(Stores)
  public func objectID(for entity: EntityDescription, rowKey: Int64) -> ManagedObjectID {
    ManagedObjectID(entity: entity, storeIdentity: identity, key: .row(rowKey))
  }
  /// The primary key that ``objectID(for:rowKey:)`` was given; nil for every other ID.
  @_spi(Stores)
  public func rowKey(of id: ManagedObjectID) -> Int64? { id.rowKey }
  /// The coordinator, nil for a store that has been removed.
  package var coordinatorReference: LooseReference<AnyObject>? {
    get { state.withLock { $0.coordinator } }
    set { state.withLock { $0.coordinator = newValue } }
  }

  /// What the store can do beyond the rows and saves of every store; nothing by default.
  ///
  /// The same each time. Cairn asks whenever it is about to use something of it, from any thread.
  @_spi(Stores) open var capabilities: StoreCapabilities { StoreCapabilities() }
  /// How stores of this class are brought to another model version inside their database; nil by default, and then
  /// they are migrated object by object.
  @_spi(Stores) open class var inPlaceMigration: (any InPlaceMigrating.Type)? { nil }

  // MARK: Files

  /// The class of the manager that migrates stores of this class object by object.
  ///
  /// Override it to name a subclass of `MigrationManager`; automatic migration then uses it.
  open class func migrationManagerClass() -> AnyClass {
    // What works with objects is above the contract of stores, which cannot import it.
    MigrationManagerClass.standard ?? self
  }

  /// The metadata of the store at a URL, without opening it for use.
  ///
  /// Classes that are registered as store types override this when their stores are files.
  ///
  /// - Throws: 134060 when the class does not say how.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    throw CoreDataError(
      .coreData, "\(self) does not tell the metadata of a store that is not open.",
      userInfo: [NSFilePathErrorKey: url.path]
    ).asCocoaError
  }

  /// Replaces the metadata of the store at a URL at once.
  ///
  /// - Throws: 134060 when the class does not say how.
  open class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    throw CoreDataError(
      .coreData, "\(self) does not change the metadata of a store that is not open.",
      userInfo: [NSFilePathErrorKey: url.path]
    ).asCocoaError
  }

  // MARK: Life

  /// Opens the store, creating it when there is none, and reads its metadata and identifier.
  ///
  /// - Throws: ``CoreDataError``; nothing is created or changed then.
  open func loadMetadata() throws { abstract(#function) }

  /// Everything that makes a new store object ready for use: ``loadMetadata()``, and what a kind
  /// of store does besides.
  ///
  /// - Throws: As ``loadMetadata()``.
  @_spi(Stores) open func openStore() throws { try loadMetadata() }

  /// Closes files and connections.
  ///
  /// The store is not used afterwards.
  @_spi(Stores) open func close() throws {}

  // MARK: Rows

  /// Finds rows.
  ///
  /// Objects' unsaved changes play no part here.
  @_spi(Stores)
  open func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult { abstract(#function) }

  /// Runs a fetch for rows or object IDs and gives what it finds, in order: in portions of at most
  /// so many while it reads, or all at once where the store cannot do better.
  ///
  /// Rows are then used while the processor has them at hand; looking at a hundred thousand of them
  /// again costs as much as reading them did.
  ///
  /// - Parameter take: Must not use the store. When the fetch throws, it may have been given some of
  ///   the result.
  @_spi(Stores)
  open func fetch(
    _ request: StoreFetchRequest, portion: Int, _ take: (StoreFetchResult) -> Void
  ) throws {
    take(try fetch(request))
  }

  /// The committed rows of the given objects, in their order; nil where there is none any more.
  @_spi(Stores)
  open func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    abstract(#function)
  }

  /// The committed row of one object, nil when there is none any more.
  ///
  /// Faults that fire alone ask for it; override it where that can be done with less than
  /// ``snapshots(for:)`` needs.
  @_spi(Stores)
  open func snapshot(for objectID: ManagedObjectID) throws -> RowSnapshot? {
    try snapshots(for: [objectID])[0]
  }

  /// The members of a to-many relationship of each owner, in the order of the owners; members are
  /// in the relationship's order when it has one.
  @_spi(Stores)
  open func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    abstract(#function)
  }

  /// Permanent IDs for new objects of the given entities, in their order.
  ///
  /// Final, even when the rows are never saved.
  @_spi(Stores)
  open func obtainPermanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    abstract(#function)
  }

  /// Writes everything in the request, or nothing.
  @_spi(Stores)
  open func save(_ request: SaveChangesRequest) throws -> SaveOutcome { abstract(#function) }

  private func abstract(_ function: String) -> Never {
    // Only a subclass that leaves out what it must override; every call to it would trap.
    fatalError("\(Swift.type(of: self)) must override \(function)")
  }
}

extension ManagedObjectID {
  /// The store the object lives in; nil for IDs that are not assigned to one, and once the store
  /// has been removed and released.
  public var persistentStore: PersistentStore? { storeIdentity?.store.target as? PersistentStore }
}
