import CairnModel
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

/// Inserts rows inside the store, without objects.
///
/// Source: `NSBatchInsertRequest`.
open class BatchInsertRequest: PersistentStoreRequest {
  public let entityName: String
  public let entity: EntityDescription?
  /// The rows by property name.
  open var objectsToInsert: [[String: Any]]?
  /// Fills one row after the other; returns true when there are no more.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  open var resultType: BatchInsertRequestResultType = .statusOnly

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
    self.init(entityName: entityName, objects: [])
    objectsToInsert = nil
    dictionaryHandler = handler
  }
  public convenience init(
    entity: EntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entity: entity, objects: [])
    objectsToInsert = nil
    dictionaryHandler = handler
  }
  open override var requestType: PersistentStoreRequestType { .batchInsertRequestType }
}

/// Updates rows inside the store, without objects.
///
/// Source: `NSBatchUpdateRequest`.
open class BatchUpdateRequest: PersistentStoreRequest {
  public let entityName: String
  open var predicate: ObjectPredicate?
  open var includesSubentities = true
  open var resultType: BatchUpdateRequestResultType = .statusOnlyResultType
  /// New values by name or description: constants or expressions.
  open var propertiesToUpdate: [AnyHashable: Any]?

  public init(entityName: String) { self.entityName = entityName }
  public convenience init(entity: EntityDescription) {
    self.init(entityName: entity.name ?? "")
  }
  open override var requestType: PersistentStoreRequestType { .batchUpdateRequestType }
}

/// Deletes rows inside the store, without objects.
///
/// Source: `NSBatchDeleteRequest`.
open class BatchDeleteRequest: PersistentStoreRequest {
  public let fetchRequest: AnyFetchRequest
  open var resultType: BatchDeleteRequestResultType = .resultTypeStatusOnly

  public init(fetchRequest fetch: AnyFetchRequest) { fetchRequest = fetch }
  /// Deletes these objects, all of one entity.
  public convenience init(objectIDs objects: [ManagedObjectID]) {
    let fetch = FetchRequest<ManagedObjectID>()
    fetch.entity = objects.first?.entity
    fetch.predicate = ObjectPredicate(format: "SELF IN %@", objects)
    self.init(fetchRequest: fetch)
  }
  open override var requestType: PersistentStoreRequestType { .batchDeleteRequestType }
}

/// The outcome of a batch insert: a `Bool`, object IDs, or a count.
public final class BatchInsertResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchInsertRequestResultType
  init(_ ids: [ManagedObjectID], _ type: BatchInsertRequestResultType) {
    resultType = type
    switch type {
    case .statusOnly: result = true
    case .objectIDs: result = ids
    case .count: result = ids.count
    }
  }
}

/// The outcome of a batch update: a `Bool`, object IDs, or a count.
public final class BatchUpdateResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchUpdateRequestResultType
  init(_ ids: [ManagedObjectID], _ type: BatchUpdateRequestResultType) {
    resultType = type
    switch type {
    case .statusOnlyResultType: result = true
    case .updatedObjectIDsResultType: result = ids
    case .updatedObjectsCountResultType: result = ids.count
    }
  }
}

/// The outcome of a batch delete: a `Bool`, object IDs, or a count.
public final class BatchDeleteResult: PersistentStoreResult {
  public let result: Any?
  public let resultType: BatchDeleteRequestResultType
  init(_ ids: [ManagedObjectID], _ type: BatchDeleteRequestResultType) {
    resultType = type
    switch type {
    case .resultTypeStatusOnly: result = true
    case .resultTypeObjectIDs: result = ids
    case .resultTypeCount: result = ids.count
    }
  }
}
