import CairnCoordinator
import CairnModel
@_spi(Stores) import CairnStore
import Foundation
import Synchronization

/// What ``AtomicStore`` and ``IncrementalStore`` have in common: they are made as Core Data makes
/// stores, speak in objects instead of values, and name objects by references of their own.
///
/// Subclass one of those two and register the class with
/// ``PersistentStoreCoordinator/registerStoreClass(_:forStoreType:)``. A store gets one call at a
/// time, on the caller's thread.
// Unchecked: mutable state is `state`, inside a mutex; subclasses are called by one thread at a
// time, behind `serial`.
open class ObjectStore: PersistentStore, CoordinatorMember, ObjectSpeaking, @unchecked Sendable {
  private struct State {
    /// Reference objects that are neither numbers nor strings, by their text.
    var references: [String: Reference] = [:]
    /// Opens the store for those who use it without a coordinator; nil once it is closed.
    var ownCoordinator: PersistentStoreCoordinator?
  }
  // Unchecked: reference objects are names, which their makers do not change.
  private struct Reference: @unchecked Sendable {
    let object: Any
  }
  private let state = Mutex(State())
  private let serial = NSRecursiveLock()

  /// Makes the store without touching what is behind its URL.
  ///
  /// This is the only designated initialiser. The framework makes stores through it, so that a
  /// subclass that adds another one overrides this too, or is made by the program alone.
  public init(
    persistentStoreCoordinator root: PersistentStoreCoordinator?,
    configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    let isDefault = name == ManagedObjectModel.defaultConfigurationName
    let configuration = StoreConfiguration(
      model: root?.managedObjectModel ?? ManagedObjectModel(),
      configurationName: isDefault ? nil : name, url: url, options: StoreOptions(options))
    super.init(configuration: configuration.opened(by: root?.reference))
  }

  /// How the framework makes the store; ends in the designated initialiser.
  public override convenience init(configuration: StoreConfiguration) {
    let given = configuration.coordinator?.target as? PersistentStoreCoordinator
    let coordinator =
      given ?? PersistentStoreCoordinator(managedObjectModel: configuration.model, storeKinds: [])
    self.init(
      persistentStoreCoordinator: coordinator, configurationName: configuration.configurationName,
      at: configuration.url ?? URL(fileURLWithPath: "/dev/null"),
      options: configuration.options.dictionary)
    if given == nil {
      coordinator.adopt(self)
      state.withLock { $0.ownCoordinator = coordinator }
    }
  }

  // MARK: To be overridden

  /// The registered type; the one in the metadata unless overridden.
  open override var type: String {
    metadata[StoreMetadataKey.type] as? String ?? "\(Swift.type(of: self))"
  }

  /// The store was added to a coordinator.
  open func didAdd(to coordinator: PersistentStoreCoordinator) {}

  /// The store is about to be removed from its coordinator.
  open func willRemove(from coordinator: PersistentStoreCoordinator?) {}

  package final func coordinatorDidAdd(_ coordinator: PersistentStoreCoordinator) {
    didAdd(to: coordinator)
  }
  package final func coordinatorWillRemove(_ coordinator: PersistentStoreCoordinator?) {
    willRemove(from: coordinator)
  }

  // MARK: Life

  /// Loads the metadata, then what the kind of store loads besides.
  @_spi(Stores)
  public override func openStore() throws {
    try serially {
      try loadMetadata()
      guard let uuid = metadata[StoreMetadataKey.uuid] as? String, !uuid.isEmpty else {
        throw CoreDataError(
          .persistentStoreOpen,
          "\(Swift.type(of: self)) has no UUID: loadMetadata() must set metadata with "
            + "\(StoreMetadataKey.type) and \(StoreMetadataKey.uuid).",
          userInfo: ["metadata": metadata ?? [:]])
      }
      identity.identifier = uuid
      if metadata[StoreMetadataKey.versionHashes] == nil {
        metadata[StoreMetadataKey.versionHashes] = managedObjectModel.entityVersionHashesByName
        metadata[StoreMetadataKey.versionHashesVersion] = 3
      }
      try loadContent()
    }
  }

  /// What follows the metadata.
  func loadContent() throws {}

  @_spi(Stores)
  public override func close() throws {
    state.withLock { $0.ownCoordinator = nil }
  }

  // MARK: References

  /// The ID of the object with a reference: a whole number, a string, or something whose
  /// description tells it from others.
  final func makeObjectID(
    for entity: EntityDescription, reference: Any
  ) -> ManagedObjectID {
    let own =
      entity.managedObjectModel === managedObjectModel
      ? entity : managedObjectModel.entitiesByName[entity.name ?? ""] ?? entity
    return ManagedObjectID(entity: own, storeIdentity: identity, key: key(for: reference))
  }

  private func key(for reference: Any) -> ObjectKey {
    if let text = reference as? String { return .reference(text) }
    if let number = reference as? NSNumber, NSNumber(value: number.int64Value) == number {
      return .row(number.int64Value)
    }
    let text = "\(reference)"
    let kept = Reference(object: reference)
    state.withLock { $0.references[text] = kept }
    return .reference(text)
  }

  /// The reference that an ID of this store was made with.
  final func reference(of id: ManagedObjectID) -> Any {
    switch id.key {
    case .row(let number): return NSNumber(value: number)
    case .reference(let text): return state.withLock { $0.references[text] }?.object ?? text
    case .temporary:
      // The store's own code asks too early; IDs from outside are never temporary.
      fatalError("\(id) is temporary: it has no reference object before it is saved.")
    }
  }

  // MARK: Contexts

  /// Runs the body with no other thread in the store.
  final func serially<Result>(_ body: () throws -> Result) rethrows -> Result {
    serial.lock()
    defer { serial.unlock() }
    return try body()
  }

  /// Runs the body with the context that the store works for, or one made for the purpose.
  ///
  /// - Parameter source: Where that one reads; nil for the coordinator.
  final func withContext<Result>(
    reading source: (any RowSource)? = nil, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = persistentStoreCoordinator
    // An unstructured task of the store's inherits what is handed over, on another thread.
    if let context = ObjectHandOver.context, context.confinement.isCurrent,
      context.persistentStoreCoordinator === coordinator
    {
      return try body(context)
    }
    guard let coordinator else {
      throw CoreDataError(
        .persistentStoreOperation,
        "The \(type) store \(identity.identifier) belongs to no coordinator any more.")
    }
    let context = ManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    if let source { context.reading.source = source }
    return try body(context)
  }

  /// New objects of the given entities get the IDs they keep.
  func permanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID] {
    fatalError("\(Swift.type(of: self)) is neither an AtomicStore nor an IncrementalStore")
  }

  @_spi(Stores)
  public override var capabilities: StoreCapabilities {
    var all = StoreCapabilities()
    all.speaksInObjects = true
    return all
  }

  @_spi(Stores)
  public override func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    try withContext { context in
      // Never inserted: they only stand for their entities.
      _ = context
      let objects = entities.map { ObjectClasses.type(for: $0).init(detachedFrom: $0) }
      return try permanentIDs(for: objects)
    }
  }
}
