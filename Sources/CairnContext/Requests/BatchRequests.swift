import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// What a batch insert returns, with Core Data's raw values.
public enum BatchInsertRequestResultType: UInt, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
}

/// What a batch update returns.
public enum BatchUpdateRequestResultType: UInt, Sendable {
  case statusOnlyResultType = 0
  case updatedObjectIDsResultType = 1
  case updatedObjectsCountResultType = 2
}

/// What a batch delete returns.
public enum BatchDeleteRequestResultType: UInt, Sendable {
  case resultTypeStatusOnly = 0
  case resultTypeObjectIDs = 1
  case resultTypeCount = 2
}

/// Inserts rows inside the store, without objects: one transaction, no validation, no hooks.
///
/// The rows come from one of three sources: dictionaries, a handler that fills a dictionary, a
/// handler that fills an object. Attributes and to-one relationships (by object or object ID) can
/// be given; what is not given takes the model's default.
///
/// A handler is called for all rows before the store's transaction begins, so it may fetch and save
/// like any other code; its rows wait in memory, and beyond 32 MB in a temporary file.
///
/// When unique values of a row are in the store already, the context's merge policy decides: by
/// property with the object's values winning, and overwrite, give the row that is there the new
/// values; by property with the store's values winning, and rollback, leave the new row out; the
/// error policy refuses the whole request with 133021. Source: `NSBatchInsertRequest`.
open class BatchInsertRequest: PersistentStoreRequest {
  public let entityName: String
  public let entity: EntityDescription?
  /// The rows by property name.
  open var objectsToInsert: [[String: Any]]?
  /// Fills one row after the other; returns true when there are no more.
  ///
  /// The dictionary is the same one each time, emptied before. What it holds when the handler
  /// returns true is not inserted.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Fills one row after the other; returns true when there are no more.
  ///
  /// The object is the same one each time, with default values. It belongs to no context; only
  /// its attributes may be used. What it holds when the handler returns true is not inserted.
  open var managedObjectHandler: ((ManagedObject) -> Bool)?
  open var resultType: BatchInsertRequestResultType = .statusOnly

  private init(name: String, entity: EntityDescription?) {
    entityName = name
    self.entity = entity
  }

  /// A request without entity, which cannot be executed.
  @available(*, deprecated, message: "Use an initialiser that names the entity.")
  public convenience override init() { self.init(name: "", entity: nil) }

  public init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.entityName = entityName
    entity = nil
    objectsToInsert = dictionaries
  }

  public init(entity: EntityDescription, objects dictionaries: [[String: Any]]) {
    entityName = entity.name ?? ""
    self.entity = entity
    objectsToInsert = dictionaries
  }

  public convenience init(
    entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(name: entityName, entity: nil)
    dictionaryHandler = handler
  }

  public convenience init(
    entity: EntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(name: entity.name ?? "", entity: entity)
    dictionaryHandler = handler
  }

  public convenience init(
    entityName: String, managedObjectHandler handler: @escaping (ManagedObject) -> Bool
  ) {
    self.init(name: entityName, entity: nil)
    managedObjectHandler = handler
  }

  public convenience init(
    entity: EntityDescription, managedObjectHandler handler: @escaping (ManagedObject) -> Bool
  ) {
    self.init(name: entity.name ?? "", entity: entity)
    managedObjectHandler = handler
  }

  open override var requestType: PersistentStoreRequestType { .batchInsertRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = BatchInsertRequest(name: entityName, entity: entity)
    copy.affectedStores = affectedStores
    copy.objectsToInsert = objectsToInsert
    copy.dictionaryHandler = dictionaryHandler
    copy.managedObjectHandler = managedObjectHandler
    copy.resultType = resultType
    return copy
  }
}

/// Gives rows new values inside the store, without objects: one transaction for each store, no
/// validation, no hooks.
///
/// Databases check uniqueness constraints row by row: values that only the rows as they were, and not the rows as they
/// come to be, have twice may be refused (133021), as where each of two numbers goes up by one.
///
/// Source: `NSBatchUpdateRequest`.
open class BatchUpdateRequest: PersistentStoreRequest {
  public let entityName: String
  private let knownEntity: EntityDescription?
  /// Which rows; nil for all.
  open var predicate: ObjectPredicate?
  open var includesSubentities = true
  open var resultType: BatchUpdateRequestResultType = .statusOnlyResultType
  /// New values of attributes and to-one relationships, by name or description: constants, or
  /// expressions over the row as it was.
  open var propertiesToUpdate: [AnyHashable: Any]?

  public init(entityName: String) {
    self.entityName = entityName
    knownEntity = nil
  }

  public init(entity: EntityDescription) {
    entityName = entity.name ?? ""
    knownEntity = entity
  }

  /// The entity whose rows change; traps for a request that was made from a name, as in Core Data.
  open var entity: EntityDescription {
    guard let knownEntity else {
      // Only the order of the program's own calls decides; Core Data raises here.
      fatalError(
        "This batch update request (for entity \(entityName)) was created with a string name and "
          + "cannot respond to -entity.")
    }
    return knownEntity
  }

  open override var requestType: PersistentStoreRequestType { .batchUpdateRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy =
      knownEntity.map { BatchUpdateRequest(entity: $0) }
      ?? BatchUpdateRequest(entityName: entityName)
    copy.affectedStores = affectedStores
    copy.predicate = predicate
    copy.includesSubentities = includesSubentities
    copy.resultType = resultType
    copy.propertiesToUpdate = propertiesToUpdate
    return copy
  }
}

/// Deletes rows inside the store, without objects: one transaction for each store, no hooks.
///
/// Delete rules are followed: cascade takes the related rows along, deny makes the request fail,
/// nullify empties the keys that point at deleted rows. Source: `NSBatchDeleteRequest`.
open class BatchDeleteRequest: PersistentStoreRequest {
  private let request: FetchRequest<any FetchRequestResult>
  open var resultType: BatchDeleteRequestResultType = .resultTypeStatusOnly

  /// Deletes what a fetch finds, its order, limit and offset included.
  public init(fetchRequest fetch: AnyFetchRequest) {
    request = fetch.withAnyResult()
    isForNoObjects = false
  }

  /// As above; lets `NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item"))` know
  /// which kind of request is meant.
  public convenience init(fetchRequest fetch: FetchRequest<any FetchRequestResult>) {
    self.init(fetch.withAnyResult(), isForNoObjects: false)
  }

  private init(_ request: FetchRequest<any FetchRequestResult>, isForNoObjects: Bool) {
    self.request = request
    self.isForNoObjects = isForNoObjects
  }

  /// Deletes these objects; traps unless they are all of one entity or of its subentities.
  public convenience init(objectIDs objects: [ManagedObjectID]) {
    let fetch = FetchRequest<any FetchRequestResult>()
    if let entity = Self.commonEntity(of: objects) { fetch.entity = entity }
    fetch.predicate = ObjectPredicate(format: "SELF IN %@", objects)
    self.init(fetch, isForNoObjects: objects.isEmpty)
  }

  private static func commonEntity(of ids: [ManagedObjectID]) -> EntityDescription? {
    guard var common = ids.first?.entity else { return nil }
    for id in ids where !id.entity.isKindOf(entity: common) {
      guard common.isKindOf(entity: id.entity) else {
        // The program chose the IDs; the daemon deletes by request.
        fatalError(
          "mismatched objectIDs in batch delete initializer: \(common.name ?? "?") and "
            + "\(id.entity.name ?? "?")")
      }
      common = id.entity
    }
    return common
  }

  /// Whether it was made from an empty list of object IDs.
  let isForNoObjects: Bool

  /// A copy of the request that says what is deleted.
  open var fetchRequest: FetchRequest<any FetchRequestResult> { request.withAnyResult() }

  open override var requestType: PersistentStoreRequestType { .batchDeleteRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = BatchDeleteRequest(request.withAnyResult(), isForNoObjects: isForNoObjects)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    return copy
  }
}
