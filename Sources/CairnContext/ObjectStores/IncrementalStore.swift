import CairnCoordinator
import CairnModel
@_spi(Stores) import CairnStore
import Foundation

/// A store of a program's own that loads and saves what it is asked for, object by object: in front
/// of a service, a database, a folder.
///
/// Subclasses override ``PersistentStore/loadMetadata()``, ``execute(_:with:)``,
/// ``newValuesForObject(with:with:)``, ``newValue(forRelationship:forObjectWith:with:)`` and
/// ``obtainPermanentIDs(for:)-(_)``, and are registered with
/// ``PersistentStoreCoordinator/registerStoreClass(_:forStoreType:)``. The framework calls them one at
/// a time:
///
/// - adding: `init`, `loadMetadata`, ``ObjectStore/didAdd(to:)``; removing:
///   ``ObjectStore/willRemove(from:)``;
/// - fetching: `execute` with a fetch request;
/// - firing a fault: `newValuesForObject`, then `newValue(forRelationship:…)` for each to-one
///   relationship that the node left out;
/// - reading a to-many relationship: `newValue(forRelationship:…)`, once for each object;
/// - saving: `obtainPermanentIDs` for new objects, then `execute` with an ``ObjectSaveRequest``.
///
/// Source: `NSIncrementalStore`.
// Unchecked: no state of its own; subclasses are called by one thread at a time.
open class IncrementalStore: ObjectStore, RegistrationObserving, @unchecked Sendable {
  /// The coordinator tells it which objects contexts hold.
  @_spi(Stores)
  public override var capabilities: StoreCapabilities {
    var all = super.capabilities
    all.registrations = self
    all.worksObjectByObject = true
    return all
  }

  // MARK: To be overridden

  /// Answers a request.
  ///
  /// - A fetch request (``AnyFetchRequest``, made as `FetchRequest<any FetchRequestResult>`): by its
  ///   `resultType` an array of objects made with `context.object(with:)`, of object IDs, of
  ///   dictionaries, or with one `NSNumber`. A store that does not make dictionaries throws 134091
  ///   for them; they are then made from its objects.
  /// - An ``ObjectSaveRequest``: an empty array, after everything was saved.
  ///
  /// - Parameter context: The context that asks.
  open func execute(
    _ request: PersistentStoreRequest, with context: ManagedObjectContext?
  ) throws -> Any {
    // A class that was written without what Core Data requires; no file decides that.
    fatalError("\(Swift.type(of: self)) must override execute(_:with:)")
  }

  /// The values of one object.
  ///
  /// - Throws: 133000 when there is no such object any more.
  open func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext
  ) throws -> IncrementalStoreNode {
    // A class that was written without what Core Data requires; no file decides that.
    fatalError("\(Swift.type(of: self)) must override newValuesForObject(with:with:)")
  }

  /// The destination of a relationship: an object ID or `NSNull`, or an array of object IDs for a
  /// to-many relationship.
  open func newValue(
    forRelationship relationship: RelationshipDescription,
    forObjectWith objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> Any {
    // A class that was written without what Core Data requires; no file decides that.
    fatalError(
      "\(Swift.type(of: self)) must override newValue(forRelationship:forObjectWith:with:)")
  }

  /// The IDs that new objects keep, in their order, made with ``newObjectID(for:referenceObject:)``.
  open func obtainPermanentIDs(for array: [ManagedObject]) throws -> [ManagedObjectID] {
    // A class that was written without what Core Data requires; no file decides that.
    fatalError("\(Swift.type(of: self)) must override obtainPermanentIDs(for:)")
  }

  /// The UUID of a store that is made now: a new one unless overridden.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  /// Contexts hold these objects now, once more for each time an ID is named.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [ManagedObjectID]) {}

  /// Contexts hold these objects no longer, once for each time an ID is named.
  ///
  /// A store that was removed hears nothing more: what it counts, it can forget in
  /// ``willRemove(from:)``.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [ManagedObjectID]) {}

  // MARK: IDs

  /// The ID of the object with a reference of the store's own: a string or a whole number.
  open func newObjectID(
    for entity: EntityDescription, referenceObject data: Any
  ) -> ManagedObjectID {
    makeObjectID(for: entity, reference: data)
  }

  /// The reference that the ID was made with.
  open func referenceObject(for objectID: ManagedObjectID) -> Any { reference(of: objectID) }

  // MARK: The contract of stores

  @_spi(Stores)
  public override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try KeyPathCheck.check(request)
    return try serially {
      try withContext { try IncrementalFetch(store: self, context: $0).run(request) }
    }
  }

  @_spi(Stores)
  public override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    try serially {
      try withContext { context in try objectIDs.map { try row(of: $0, in: context) } }
    }
  }

  private func row(
    of id: ManagedObjectID, in context: ManagedObjectContext
  ) throws -> RowSnapshot? {
    let node: IncrementalStoreNode
    do {
      node = try newValuesForObject(with: id, with: context)
    } catch {
      let code = CoreDataError.Code.managedObjectReferentialIntegrity.rawValue
      if (error as NSError).code == code { return nil }
      throw error
    }
    return try PropertyValues.row(
      of: id, version: Int64(clamping: node.version), value: node.value(named:)
    ) { relationship in
      let value =
        try node.value(for: relationship)
        ?? newValue(forRelationship: relationship, forObjectWith: id, with: context)
      return PropertyValues.objectIDs(in: value).first
    }
  }

  @_spi(Stores)
  public override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    try serially {
      try withContext { context in
        try owners.map { owner in
          let own = owner.entity.relationshipsByName[relationship.name] ?? relationship
          return PropertyValues.objectIDs(
            in: try newValue(forRelationship: own, forObjectWith: owner, with: context))
        }
      }
    }
  }

  override func permanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID] {
    let ids = try serially { try obtainPermanentIDs(for: objects) }
    guard ids.count == objects.count else {
      throw CoreDataError(
        .persistentStoreSave,
        "\(Swift.type(of: self)) gave \(ids.count) permanent IDs for \(objects.count) objects.")
    }
    return ids
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
      try withContext(reading: RequestRows(request: request, store: self)) { context in
        do {
          // Without any objects it is about the metadata, as for Core Data's stores.
          let isForMetadata = request.isEmpty && hasUnsavedMetadata
          let asked =
            isForMetadata
            ? ObjectSaveRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
            : ObjectSaveRequest(request, in: context)
          _ = try execute(asked, with: context)
        } catch {
          guard let conflicts = try conflicts(in: error as NSError) else { throw error }
          return .conflicts(conflicts)
        }
        return .saved(SaveReceipt(snapshots: try rows(of: request), transactionNumber: nil))
      }
    }
  }

  /// The rows of a request as the store has them now: versions grow by one, unless the save
  /// overwrote another writer's changes; those rows are read.
  private func rows(of request: SaveChangesRequest) throws -> [RowSnapshot] {
    try request.insertions.map { $0.snapshot.with(version: 1) }
      + request.updates.map { update in
        let row = update.snapshot
        guard update.overwritesConflicts, let stored = try snapshots(for: [row.objectID])[0] else {
          return row.with(version: update.version &+ 1)
        }
        return row.with(version: stored.version)
      }
  }

  /// The conflicts that an error of the store's reports; nil when it is another one.
  private func conflicts(in error: NSError) throws -> [RowConflict]? {
    guard error.code == CoreDataError.Code.persistentStoreSaveConflicts.rawValue,
      let list = error.userInfo["conflictList"] as? [MergeConflict], !list.isEmpty
    else { return nil }
    return try list.map { conflict in
      let id = conflict.sourceObject.objectID
      let row = conflict.newVersionNumber == 0 ? nil : try snapshots(for: [id])[0]
      return RowConflict(
        objectID: id, expectedVersion: Int64(conflict.oldVersionNumber), persisted: row)
    }
  }

  @_spi(Stores)
  public final func contextsDidRegister(_ objectIDs: [ManagedObjectID]) {
    serially { managedObjectContextDidRegisterObjects(with: objectIDs) }
  }

  @_spi(Stores)
  public final func contextsDidUnregister(_ objectIDs: [ManagedObjectID]) {
    serially { managedObjectContextDidUnregisterObjects(with: objectIDs) }
  }
}
