import CairnCoordinator
import CairnModel
@_spi(Stores) import CairnStore
import Foundation

/// A store of a program's own that is read whole when it is opened and written whole at every save:
/// a file in a format of its own.
///
/// Subclasses override ``load()``, ``save()`` and ``newReferenceObject(for:)``, usually also
/// ``newCacheNode(for:)``, ``updateCacheNode(_:from:)``, `type` and `metadataForPersistentStore(with:)`,
/// and are registered with ``PersistentStoreCoordinator/registerStoreClass(_:forStoreType:)``. The
/// framework calls them one at a time:
///
/// - adding: `init`, `loadMetadata`, `load`, ``ObjectStore/didAdd(to:)``; removing:
///   ``ObjectStore/willRemove(from:)``;
/// - saving: `newReferenceObject` for each new object; then `newCacheNode` for each new object,
///   `updateCacheNode` for each changed one, `willRemoveCacheNodes` with the nodes of deleted ones,
///   and `save()`.
///
/// Fetches are made over the nodes, with any predicate. When `save()` throws, nodes have the values
/// they had before. A save that breaks a uniqueness constraint of the model is refused before any of these
/// calls. Source: `NSAtomicStore`.
// Unchecked: mutable state is `cache` and `lastReference`, touched behind `serially` only.
open class AtomicStore: ObjectStore, @unchecked Sendable {
  private var cache = NodeCache()
  private var lastReference: Int64 = 0

  deinit { cache.takeValues() }

  // MARK: To be overridden

  /// Reads the metadata with the class's `metadataForPersistentStore(with:)` when there is a file,
  /// and makes new ones when there is none.
  open override func loadMetadata() throws {
    guard let url else { return }
    if url.isFileURL, url.path != "/dev/null", FileManager.default.fileExists(atPath: url.path) {
      metadata = try Swift.type(of: self).metadataForPersistentStore(with: url)
    } else if metadata[StoreMetadataKey.uuid] == nil {
      metadata[StoreMetadataKey.type] = type
      metadata[StoreMetadataKey.uuid] = identity.identifier
    }
  }

  /// Makes nodes of everything in the file and gives them to ``addCacheNodes(_:)``.
  open func load() throws {
    // A class that was written without what Core Data requires; no file decides that.
    fatalError("\(Swift.type(of: self)) must override load()")
  }

  /// Writes all nodes, and the metadata, to the file.
  open func save() throws {
    // A class that was written without what Core Data requires; no file decides that.
    fatalError("\(Swift.type(of: self)) must override save()")
  }

  /// The node for a new object.
  ///
  /// A node with the object's values unless overridden. Relationships to other new objects, which
  /// may have no node yet, are completed afterwards.
  open func newCacheNode(for managedObject: ManagedObject) -> AtomicStoreCacheNode {
    let node = AtomicStoreCacheNode(objectID: managedObject.objectID)
    updateCacheNode(node, from: managedObject)
    return node
  }

  /// Gives a node the values of its changed object.
  open func updateCacheNode(_ node: AtomicStoreCacheNode, from managedObject: ManagedObject) {
    let keys = KeyAccess(object: managedObject)
    for property in managedObject.entity.propertiesByName.values where !property.isTransient {
      if property is AttributeDescription {
        node.setValue(keys.modelValue(forKey: property.name), forKey: property.name)
      } else if let relationship = property as? RelationshipDescription {
        let ids = PropertyValues.objectIDs(in: keys.modelValue(forKey: property.name))
        node.setNodes(ids.compactMap(cacheNode(for:)), for: relationship)
      }
    }
  }

  /// Nodes of deleted objects are about to be forgotten.
  open func willRemoveCacheNodes(_ cacheNodes: Set<AtomicStoreCacheNode>) {}

  /// What tells a new object from all others, for good: a string or a whole number.
  ///
  /// The next number unless overridden.
  open func newReferenceObject(for managedObject: ManagedObject) -> Any {
    lastReference = max(lastReference, cache.highestNumber) + 1
    return NSNumber(value: lastReference)
  }

  // MARK: Nodes

  /// All nodes.
  open func cacheNodes() -> Set<AtomicStoreCacheNode> { serially { Set(cache.all) } }

  /// Takes nodes that ``load()`` has made.
  open func addCacheNodes(_ cacheNodes: Set<AtomicStoreCacheNode>) {
    serially { for node in cacheNodes { cache.add(node) } }
  }

  /// The node of an object; nil when there is none.
  open func cacheNode(for objectID: ManagedObjectID) -> AtomicStoreCacheNode? {
    serially { cache.node(for: objectID) }
  }

  /// The ID of the object with a reference.
  open func objectID(
    for entity: EntityDescription, withReferenceObject data: Any
  ) -> ManagedObjectID {
    makeObjectID(for: entity, reference: data)
  }

  /// The reference that the ID was made with.
  open func referenceObject(for objectID: ManagedObjectID) -> Any { reference(of: objectID) }

  // MARK: The contract of stores

  @_spi(Stores)
  public override var capabilities: StoreCapabilities {
    var all = super.capabilities
    all.keepsUniqueness = true
    return all
  }

  override func loadContent() throws { try load() }

  @_spi(Stores)
  public override func close() throws {
    serially {
      cache.takeValues()
      cache = NodeCache()
    }
    try super.close()
  }

  @_spi(Stores)
  public override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try KeyPathCheck.check(request)
    return try serially {
      let rows = try cache.nodes(of: request.entity, withSubentities: request.includesSubentities)
        .map { try cache.row(of: $0) }
      let source = StoreSnapshots(store: self)
      let result = try SnapshotQuery(request, source: source).run(over: rows)
      if let error = source.error { throw error }
      return result
    }
  }

  @_spi(Stores)
  public override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    try serially {
      try objectIDs.map { id in try cache.node(for: id).map { try cache.row(of: $0) } }
    }
  }

  @_spi(Stores)
  public override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    serially { owners.map { cache.members(of: relationship, owner: $0) } }
  }

  override func permanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID] {
    serially {
      objects.map {
        objectID(for: $0.entity, withReferenceObject: newReferenceObject(for: $0))
      }
    }
  }

  @_spi(Stores)
  public override func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    if !request.sidecar.isEmpty {
      throw CoreDataError(
        .persistentStoreUnsupportedRequestType,
        "Stores of type \(type) keep no bookkeeping beside their objects, so they cannot be synced."
      )
    }
    return try serially {
      let conflicts = try cache.conflicts(in: request)
      if !conflicts.isEmpty { return .conflicts(conflicts) }
      let violations = try cache.violations(in: request)
      if !violations.isEmpty { return .constraintViolations(violations) }
      for insertion in request.insertions
      where cache.node(for: insertion.snapshot.objectID) != nil {
        throw CoreDataError(
          .persistentStoreSave,
          "The object \(insertion.snapshot.objectID) cannot be inserted: it is in the store already."
        )
      }
      let before = cache.backup()
      do {
        try withContext(reading: RequestRows(request: request, store: self)) { context in
          try write(request, in: context)
        }
        try save()
        let written = request.insertions.map(\.snapshot) + request.updates.map(\.snapshot)
        cache.noteCommit(of: request)
        let rows = try written.compactMap { row in
          try cache.node(for: row.objectID).map { try cache.row(of: $0) }
        }
        return .saved(SaveReceipt(snapshots: rows, transactionNumber: nil))
      } catch {
        before.restore(from: cache)
        cache = before.cache
        throw error
      }
    }
  }

  private func write(_ request: SaveChangesRequest, in context: ManagedObjectContext) throws {
    let rowsBefore = try request.updates.map { try cache.committedRow(of: $0.snapshot.objectID) }
    for insertion in request.insertions {
      let id = insertion.snapshot.objectID
      let node = newCacheNode(for: context.object(with: id))
      guard node.objectID == id else {
        throw CoreDataError(
          .persistentStoreSave,
          "newCacheNode(for:) of \(Swift.type(of: self)) made a node for \(node.objectID) instead of "
            + "\(id).")
      }
      cache.add(node)
    }
    for update in request.updates {
      guard let node = cache.node(for: update.snapshot.objectID) else { continue }
      updateCacheNode(node, from: context.object(with: update.snapshot.objectID))
    }
    var links = NodeLinks(cache: cache)
    for insertion in request.insertions { links.complete(insertion.snapshot, after: nil) }
    for (update, before) in zip(request.updates, rowsBefore) {
      links.complete(update.snapshot, after: before)
    }
    for link in request.links { links.apply(link) }
    let removed = request.deletions.compactMap { cache.node(for: $0.objectID) }
    for node in removed { links.unlink(node) }
    cache.forgetRows(of: links.touched)
    if removed.isEmpty { return }
    willRemoveCacheNodes(Set(removed))
    for node in removed { cache.remove(node) }
  }
}
