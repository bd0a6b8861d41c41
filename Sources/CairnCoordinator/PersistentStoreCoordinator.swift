import CairnModel
import CairnStore
import Foundation
import Synchronization

/// One model and any number of stores, which it presents as one.
///
/// Make it with a model, add stores, give it to contexts. All methods may be called from any
/// thread. Source: `NSPersistentStoreCoordinator`.
// Unchecked: mutable state is `state` (stores, observers and name, one mutex) and what `rows` and
// `remoteChanges` guard themselves; the rest is immutable. No lock is held while a store, an
// observer or a completion handler is called.
open class PersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
  private struct State {
    var registry = StoreRegistry()
    var observers = ObserverList()
    var name: String?
    /// Stores that went with their files, which programs may still want to remove.
    var destroyed: [DestroyedStore] = []
  }
  private struct DestroyedStore { weak var store: PersistentStore? }
  private let state = Mutex(State())
  private let anyMembers = Atomic(false)
  private let storeChanges = Atomic(0)
  /// What stores and notices refer to the coordinator with.
  package let reference = LooseReference<AnyObject>()
  let rows = RowCache()
  let remoteChanges = RemoteChangePosting()
  let builtInKinds: [any StoreKind]
  let migrator: (any StoreMigrating)?
  private let queue = DispatchQueue(label: "cairn.coordinator")
  private let queueKey = DispatchSpecificKey<Bool>()
  private let externalLock = NSRecursiveLock()

  /// The model of all stores.
  ///
  /// It can no longer be changed.
  public let managedObjectModel: ManagedObjectModel

  /// A coordinator that knows the given kinds of store and those registered for the process.
  ///
  /// Freezes the model when it is valid; a model with problems is refused when a store is added.
  ///
  /// - Parameter migrator: Migrates what store types cannot migrate by themselves.
  package init(
    managedObjectModel model: ManagedObjectModel, storeKinds: [any StoreKind],
    migrator: (any StoreMigrating)? = nil
  ) {
    managedObjectModel = model
    builtInKinds = storeKinds
    self.migrator = migrator
    super.init()
    reference.set(self)
    queue.setSpecific(key: queueKey, value: true)
    // The error is thrown by the first `addPersistentStore`; an initialiser has no way to.
    try? model.prepareForUse()
  }

  deinit { reference.clear() }

  /// A name for people, such as in logs.
  public var name: String? {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }

  /// The stores in the order they were added, which is also the order in which new objects look
  /// for one.
  public var persistentStores: [PersistentStore] { state.withLock { $0.registry.stores } }

  // MARK: Adding

  /// Opens a store, creating it when there is none, and adds it.
  ///
  /// With the options to migrate automatically and to infer the mapping, a store of an older model
  /// version is migrated first. Blocks while it does; see
  /// ``addPersistentStore(with:completionHandler:)`` for the background.
  ///
  /// - Throws: ``ModelError`` for a model with problems, otherwise ``CoreDataError``: 134000
  ///   unknown type or not a store, 134010 a store of another type, 134020 unknown configuration,
  ///   134080 cannot be opened or is open already, 134100 written with another model, and the
  ///   migration errors. The file is as it was then.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> PersistentStore {
    try CoreDataError.bridging {
      try add(
        ofType: storeType, configurationName: configuration, at: storeURL,
        options: StoreOptions(options))
    }
  }

  private func add(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: StoreOptions
  ) throws -> PersistentStore {
    let kind = try StoreKindRegistry.kind(ofType: storeType, builtIn: builtInKinds)
    let isExclusive = kind.claimsURL && (storeURL.map(StoreRegistry.isExclusive) ?? false)
    if isExclusive, let storeURL {
      guard state.withLock({ $0.registry.reserve(storeURL) }) else {
        throw CoreDataError(
          .persistentStoreOpen,
          "The store at \(storeURL.storePlace) is already open, or being opened, in this coordinator.",
          userInfo: [NSFilePathErrorKey: storeURL.path])
      }
    }
    defer {
      if isExclusive, let storeURL { state.withLock { $0.registry.release(storeURL) } }
    }
    let opening = StoreOpening(
      model: managedObjectModel, kind: kind, configurationName: configuration, url: storeURL,
      options: options, migrator: migrator, coordinator: self)
    let store = try opening.open()
    store.coordinatorReference = reference
    guard changeStores({ $0.append(store) }) else {
      try? store.close()
      throw CoreDataError(
        .persistentStoreOpen,
        "A store with the UUID \(store.identity.identifier) is already open in this coordinator. "
          + "A copy of a store's file needs another UUID before both can be used together.")
    }
    do {
      try remoteChanges.watch(store, of: self)
    } catch {
      _ = changeStores { $0.remove(store) }
      try? store.close()
      throw error
    }
    store.didAdd(to: self)
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
      userInfo: [PersistentStoreKey.added: [store]])
    return store
  }

  /// Changes which stores there are.
  private func changeStores<Result>(_ body: (inout StoreRegistry) -> Result) -> Result {
    state.withLock { state in
      let result = body(&state.registry)
      let hasMembers = state.registry.stores.contains { $0.capabilities.speaksInObjects }
      anyMembers.store(hasMembers, ordering: .releasing)
      storeChanges.add(1, ordering: .releasing)
      return result
    }
  }

  /// Puts a store in the place of another.
  func replace(_ old: PersistentStore, by new: PersistentStore) {
    changeStores { $0.replace(old, by: new) }
    remoteChanges.forget(old)
    // It is open and readable; a watch that fails all the same costs notifications of others only.
    try? remoteChanges.watch(new, of: self)
  }

  /// Takes a store that was not opened by a coordinator.
  package func adopt(_ store: PersistentStore) {
    if changeStores({ $0.append(store) }) { store.coordinatorReference = reference }
  }

  /// The store with this very identity.
  func store(with identity: StoreIdentity) -> PersistentStore? {
    state.withLock { $0.registry.store(with: identity) }
  }

  /// Whether a store wants to know which context it works for.
  package var hasMembers: Bool { anyMembers.load(ordering: .acquiring) }
  /// Grows with each change of ``persistentStores``, for callers that remember something about them.
  package var storeGeneration: Int { storeChanges.load(ordering: .acquiring) }

  /// The same with a typed store type.
  @discardableResult
  public func addPersistentStore(
    type: PersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> PersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  /// What travels to the queue that opens a store in the background.
  // Unchecked: handed over once; the caller does not touch the description until the handler, and
  // what the handler captures is meant for the queue it is called on.
  private struct HandOver: @unchecked Sendable {
    let description: PersistentStoreDescription
    let handler: (PersistentStoreDescription, (any Error)?) -> Void
  }

  /// Adds the store that the description describes.
  ///
  /// The handler is called exactly once, with the description that was given: before the method
  /// returns, or with `shouldAddStoreAsynchronously` on a background queue.
  open func addPersistentStore(
    with storeDescription: PersistentStoreDescription,
    completionHandler block: @escaping (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    let handOver = HandOver(description: storeDescription, handler: block)
    let type = storeDescription.type
    let configuration = storeDescription.configuration
    let url = storeDescription.url
    let options = StoreOptions(storeDescription.storeOptions)
    let add: @Sendable () -> Void = { [self] in
      do {
        try addPersistentStore(
          ofType: type, configurationName: configuration, at: url, options: options.dictionary)
      } catch {
        handOver.handler(handOver.description, error)
        return
      }
      handOver.handler(handOver.description, nil)
    }
    if storeDescription.shouldAddStoreAsynchronously {
      DispatchQueue.global(qos: .userInitiated).async(execute: add)
    } else {
      add()
    }
  }

  // MARK: Removing

  /// Takes a store out and closes it.
  ///
  /// Objects that live in it must not be used any more.
  ///
  /// - Throws: 134060 when the store does not belong to the coordinator, or what closing throws.
  open func remove(_ store: PersistentStore) throws {
    try CoreDataError.bridging { try takeOut(store) }
  }

  private func takeOut(_ store: PersistentStore) throws {
    guard state.withLock({ $0.registry.contains(store) }) else {
      if state.withLock({ state in state.destroyed.contains { $0.store === store } }) { return }
      throw CoreDataError(
        .coreData,
        "The store \(store.url?.storePlace ?? store.identity.identifier) cannot be removed: it does not "
          + "belong to this coordinator.")
    }
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
    store.willRemove(from: self)
    guard changeStores({ $0.remove(store) }) else { return }
    rows.removeAll(of: store.identity)
    remoteChanges.forget(store)
    store.coordinatorReference = nil
    for observer in observers { observer.coordinator(self, didRemove: store) }
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
      userInfo: [PersistentStoreKey.removed: [store]])
    try store.close()
  }

  /// Takes a store out whose file is about to be destroyed or replaced.
  ///
  /// Core Data keeps such a store in the coordinator until it is removed; so removing it once more
  /// does nothing, instead of being an error.
  func takeOutDestroyed(_ store: PersistentStore) throws {
    try takeOut(store)
    state.withLock { state in
      state.destroyed.removeAll { $0.store == nil }
      state.destroyed.append(DestroyedStore(store: store))
    }
  }

  // MARK: Facts about stores

  /// The open store at a URL.
  open func persistentStore(for url: URL) -> PersistentStore? {
    state.withLock { $0.registry.store(at: url) }
  }

  /// The URL of a store; `/dev/null` for stores that have none.
  open func url(for store: PersistentStore) -> URL {
    store.url ?? URL(fileURLWithPath: "/dev/null")
  }

  /// Tells a store where its file is now; moves nothing.
  ///
  /// False when the store is not one of ours.
  @discardableResult
  open func setURL(_ url: URL, for store: PersistentStore) -> Bool {
    guard state.withLock({ $0.registry.contains(store) }) else { return false }
    store.url = url
    return true
  }

  /// The metadata of a store, always with its type and UUID.
  open func metadata(for store: PersistentStore) -> [String: Any] {
    var metadata = store.metadata ?? [:]
    metadata[StoreMetadataKey.type] = store.type
    metadata[StoreMetadataKey.uuid] = store.identity.identifier
    return metadata
  }

  /// Replaces the metadata of a store; it is written with the next save.
  ///
  /// Type and UUID stay; so does what the store says of its model, where it is not given.
  open func setMetadata(_ metadata: [String: Any]?, for store: PersistentStore) {
    var metadata = metadata ?? [:]
    let old = store.metadata ?? [:]
    for key in StoreMetadataKey.all where metadata[key] == nil { metadata[key] = old[key] }
    metadata[StoreMetadataKey.type] = store.type
    metadata[StoreMetadataKey.uuid] = store.identity.identifier
    store.metadata = metadata
  }

  /// The open store with a UUID.
  package func store(withIdentifier identifier: String) -> PersistentStore? {
    state.withLock { $0.registry.store(withIdentifier: identifier) }
  }

  // MARK: Observers

  /// Tells the observer about commits and removals from now on; it is held weakly.
  package func addObserver(_ observer: any CoordinatorObserver) {
    state.withLock { $0.observers.add(observer) }
  }

  /// Ends what ``addObserver(_:)`` began; only needed while the observer lives on.
  package func removeObserver(_ observer: any CoordinatorObserver) {
    state.withLock { $0.observers.remove(observer) }
  }

  var observers: [any CoordinatorObserver] { state.withLock { $0.observers }.alive }

  // MARK: The coordinator's queue

  /// Runs the block later on the coordinator's serial queue.
  open func perform(_ block: @escaping () -> Void) {
    let block = QueueBlock(run: block)
    queue.async { block.run() }
  }

  /// Runs the block on the coordinator's serial queue and waits; inline when already there.
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    if DispatchQueue.getSpecific(key: queueKey) == true { return try block() }
    return try queue.sync(execute: block)
  }

  /// Runs the block on the coordinator's serial queue and returns what it returns.
  nonisolated(nonsending) public func perform<T>(
    _ block: @escaping () throws -> T
  ) async rethrows -> T {
    let work = Transferred(value: block)
    let outcome = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: Transferred(value: Result { try work.value() }))
      }
    }
    return try Self.value(of: outcome.value, as: block)
  }

  /// Ties what a result throws to the block that made it, so that a block that cannot throw makes a
  /// call that cannot throw.
  private static func value<T>(
    of result: Result<T, any Error>, as block: () throws -> T
  ) rethrows -> T {
    switch result {
    case .success(let value): return value
    case .failure(let error):
      func fail(_ body: () throws -> T) rethrows -> T {
        try { throw error }()
      }
      return try fail(block)
    }
  }

  // Unchecked: the sender gives the value up, the queue takes it over, and the reverse.
  private struct Transferred<Value>: @unchecked Sendable {
    let value: Value
  }

  // Unchecked: handed over to the queue, which runs it once.
  private struct QueueBlock: @unchecked Sendable {
    let run: () -> Void
  }

  /// Deprecated by Core Data: mutual exclusion among callers that use it.
  open func lock() { externalLock.lock() }
  open func unlock() { externalLock.unlock() }
  open func tryLock() -> Bool { externalLock.try() }
}
