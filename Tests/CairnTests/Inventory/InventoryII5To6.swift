// Proof that symbols of the inventory exist, with labels and types: this file compiles.
// Chapters II.5 and II.6 of the specification.

import CoreData
import Testing

/// Constants have the values of Apple's.
@Suite struct InventoryII5To6 {
  @Test func constantsOfChapterII5() {
    #expect(NSPersistentStoreRequestType.fetchRequestType.rawValue == 1)
    #expect(NSPersistentStoreRequestType.saveRequestType.rawValue == 2)
    #expect(NSPersistentStoreRequestType.batchInsertRequestType.rawValue == 5)
    #expect(NSPersistentStoreRequestType.batchUpdateRequestType.rawValue == 6)
    #expect(NSPersistentStoreRequestType.batchDeleteRequestType.rawValue == 7)
    #expect(NSBatchInsertRequestResultType.statusOnly.rawValue == 0)
    #expect(NSBatchInsertRequestResultType.objectIDs.rawValue == 1)
    #expect(NSBatchInsertRequestResultType.count.rawValue == 2)
    #expect(NSBatchUpdateRequestResultType.statusOnlyResultType.rawValue == 0)
    #expect(NSBatchUpdateRequestResultType.updatedObjectIDsResultType.rawValue == 1)
    #expect(NSBatchUpdateRequestResultType.updatedObjectsCountResultType.rawValue == 2)
    #expect(NSBatchDeleteRequestResultType.resultTypeStatusOnly.rawValue == 0)
    #expect(NSBatchDeleteRequestResultType.resultTypeObjectIDs.rawValue == 1)
    #expect(NSBatchDeleteRequestResultType.resultTypeCount.rawValue == 2)
  }
  @Test func constantsOfChapterII6() {
    #expect(NSFetchedResultsChangeType.insert.rawValue == 1)
    #expect(NSFetchedResultsChangeType.delete.rawValue == 2)
    #expect(NSFetchedResultsChangeType.move.rawValue == 3)
    #expect(NSFetchedResultsChangeType.update.rawValue == 4)
  }
}

// None of these functions is called; as deprecated ones they may use what Apple deprecated.

private func any<T>() -> T { fatalError("never called") }

@available(*, deprecated)
private func uses_NSPersistentStoreRequestType() throws {
  let _: NSPersistentStoreRequestType.Type = NSPersistentStoreRequestType.self
}
@available(*, deprecated)
private func uses_NSPersistentStoreRequest(_ x: NSPersistentStoreRequest) throws {
  let _: NSPersistentStoreRequest.Type = NSPersistentStoreRequest.self
  _ = (x as any NSCopying)
  do { let v: [NSPersistentStore]? = x.affectedStores; x.affectedStores = v }
  let _: NSPersistentStoreRequestType = x.requestType
}
@available(*, deprecated)
private func uses_NSFetchRequestResultType() throws {
  let _: NSFetchRequestResultType.Type = NSFetchRequestResultType.self
  let _: (UInt) -> NSFetchRequestResultType = NSFetchRequestResultType.init(rawValue:)
  let _: NSFetchRequestResultType = NSFetchRequestResultType.managedObjectResultType
  let _: NSFetchRequestResultType = NSFetchRequestResultType.managedObjectIDResultType
  let _: NSFetchRequestResultType = NSFetchRequestResultType.dictionaryResultType
  let _: NSFetchRequestResultType = NSFetchRequestResultType.countResultType
}
@available(*, deprecated)
private func uses_NSFetchRequestResult() throws {
  let _: (any NSFetchRequestResult).Type = (any NSFetchRequestResult).self
}
@available(*, deprecated)
private func uses_NSFetchRequest(_ x: NSFetchRequest<NSManagedObject>) throws {
  let _: NSFetchRequest<NSManagedObject>.Type = NSFetchRequest<NSManagedObject>.self
  let _: NSPersistentStoreRequest.Type = NSFetchRequest<NSManagedObject>.self
  _ = (x as any NSCoding)
  _ = (x as any NSCopying)
  _ = NSFetchRequest<NSManagedObject>()
  let _: (String) -> NSFetchRequest<NSManagedObject> = NSFetchRequest<NSManagedObject>.init(
    entityName:)
  let _: () throws -> [NSManagedObject] = x.execute
  do { let v: NSEntityDescription? = x.entity; x.entity = v }
  let _: String? = x.entityName
  do { let v: NSPredicate? = x.predicate; x.predicate = v }
  do { let v: [NSSortDescriptor]? = x.sortDescriptors; x.sortDescriptors = v }
  do { let v: Int = x.fetchLimit; x.fetchLimit = v }
  do { let v: [NSPersistentStore]? = x.affectedStores; x.affectedStores = v }
  do { let v: NSFetchRequestResultType = x.resultType; x.resultType = v }
  do { let v: Bool = x.includesSubentities; x.includesSubentities = v }
  do { let v: Bool = x.includesPropertyValues; x.includesPropertyValues = v }
  do { let v: Bool = x.returnsObjectsAsFaults; x.returnsObjectsAsFaults = v }
  do {
    let v: [String]? = x.relationshipKeyPathsForPrefetching;
    x.relationshipKeyPathsForPrefetching = v
  }
  do { let v: Bool = x.includesPendingChanges; x.includesPendingChanges = v }
  do { let v: Bool = x.returnsDistinctResults; x.returnsDistinctResults = v }
  do { let v: [Any]? = x.propertiesToFetch; x.propertiesToFetch = v }
  do { let v: Int = x.fetchOffset; x.fetchOffset = v }
  do { let v: Int = x.fetchBatchSize; x.fetchBatchSize = v }
  do { let v: Bool = x.shouldRefreshRefetchedObjects; x.shouldRefreshRefetchedObjects = v }
  do { let v: [Any]? = x.propertiesToGroupBy; x.propertiesToGroupBy = v }
  do { let v: NSPredicate? = x.havingPredicate; x.havingPredicate = v }
}
@available(*, deprecated)
private func uses_globals() throws {
  let _: NSPersistentStoreAsynchronousFetchResultCompletionBlock.Type =
    NSPersistentStoreAsynchronousFetchResultCompletionBlock.self
  let _: NSExpression.ExpressionType = NSFetchRequestExpressionType
}
@available(*, deprecated)
private func uses_NSAsynchronousFetchRequest(_ x: NSAsynchronousFetchRequest<NSManagedObject>)
  throws
{
  let _: NSAsynchronousFetchRequest<NSManagedObject>.Type = NSAsynchronousFetchRequest<
    NSManagedObject
  >.self
  let _: NSPersistentStoreRequest.Type = NSAsynchronousFetchRequest<NSManagedObject>.self
  let _: NSFetchRequest<NSManagedObject> = x.fetchRequest
  let _: NSPersistentStoreAsynchronousFetchResultCompletionBlock? = x.completionBlock
  do { let v: Int = x.estimatedResultCount; x.estimatedResultCount = v }
  let _:
    (NSFetchRequest<NSManagedObject>, ((NSAsynchronousFetchResult<NSManagedObject>) -> Void)?) ->
      NSAsynchronousFetchRequest<NSManagedObject> = NSAsynchronousFetchRequest<NSManagedObject>
      .init(fetchRequest:completionBlock:)
  _ = { NSAsynchronousFetchRequest<NSManagedObject>(fetchRequest: any()) }
}
@available(*, deprecated)
private func uses_NSFetchRequestExpression(_ x: NSFetchRequestExpression) throws {
  let _: NSFetchRequestExpression.Type = NSFetchRequestExpression.self
  let _: NSExpression.Type = NSFetchRequestExpression.self
  let _: (NSExpression, NSExpression, Bool) -> NSExpression = NSFetchRequestExpression.expression(
    forFetch:context:countOnly:)
  let _: NSExpression = x.requestExpression
  let _: NSExpression = x.contextExpression
  let _: Bool = x.isCountOnlyRequest
}
@available(*, deprecated)
private func uses_NSPersistentStoreResult() throws {
  let _: NSPersistentStoreResult.Type = NSPersistentStoreResult.self
}
@available(*, deprecated)
private func uses_NSPersistentStoreAsynchronousResult(_ x: NSPersistentStoreAsynchronousResult)
  throws
{
  let _: NSPersistentStoreAsynchronousResult.Type = NSPersistentStoreAsynchronousResult.self
  let _: NSPersistentStoreResult.Type = NSPersistentStoreAsynchronousResult.self
  let _: NSManagedObjectContext = x.managedObjectContext
  let _: (any Error)? = x.operationError
  let _: Progress? = x.progress
  let _: () -> Void = x.cancel
}
@available(*, deprecated)
private func uses_NSAsynchronousFetchResult(_ x: NSAsynchronousFetchResult<NSManagedObject>) throws
{
  let _: NSAsynchronousFetchResult<NSManagedObject>.Type = NSAsynchronousFetchResult<
    NSManagedObject
  >.self
  let _: NSPersistentStoreAsynchronousResult.Type = NSAsynchronousFetchResult<NSManagedObject>.self
  let _: NSAsynchronousFetchRequest<NSManagedObject> = x.fetchRequest
  let _: [NSManagedObject]? = x.finalResult
}
@available(*, deprecated)
private func uses_NSBatchInsertRequest(_ x: NSBatchInsertRequest) throws {
  let _: NSBatchInsertRequest.Type = NSBatchInsertRequest.self
  let _: NSPersistentStoreRequest.Type = NSBatchInsertRequest.self
  let _: String = x.entityName
  let _: NSEntityDescription? = x.entity
  do { let v: [[String: Any]]? = x.objectsToInsert; x.objectsToInsert = v }
  do { let v: ((NSMutableDictionary) -> Bool)? = x.dictionaryHandler; x.dictionaryHandler = v }
  do { let v: ((NSManagedObject) -> Bool)? = x.managedObjectHandler; x.managedObjectHandler = v }
  do { let v: NSBatchInsertRequestResultType = x.resultType; x.resultType = v }
  _ = NSBatchInsertRequest()
  let _: (String, [[String: Any]]) -> NSBatchInsertRequest = NSBatchInsertRequest.init(
    entityName:objects:)
  let _: (NSEntityDescription, [[String: Any]]) -> NSBatchInsertRequest = NSBatchInsertRequest.init(
    entity:objects:)
  let _: (NSEntityDescription, @escaping (NSMutableDictionary) -> Bool) -> NSBatchInsertRequest =
    NSBatchInsertRequest.init(entity:dictionaryHandler:)
  let _: (NSEntityDescription, @escaping (NSManagedObject) -> Bool) -> NSBatchInsertRequest =
    NSBatchInsertRequest.init(entity:managedObjectHandler:)
  let _: (String, @escaping (NSMutableDictionary) -> Bool) -> NSBatchInsertRequest =
    NSBatchInsertRequest.init(entityName:dictionaryHandler:)
  let _: (String, @escaping (NSManagedObject) -> Bool) -> NSBatchInsertRequest =
    NSBatchInsertRequest.init(entityName:managedObjectHandler:)
}
@available(*, deprecated)
private func uses_NSBatchUpdateRequest(_ x: NSBatchUpdateRequest) throws {
  let _: NSBatchUpdateRequest.Type = NSBatchUpdateRequest.self
  let _: NSPersistentStoreRequest.Type = NSBatchUpdateRequest.self
  let _: (String) -> NSBatchUpdateRequest = NSBatchUpdateRequest.init(entityName:)
  let _: (NSEntityDescription) -> NSBatchUpdateRequest = NSBatchUpdateRequest.init(entity:)
  let _: String = x.entityName
  let _: NSEntityDescription = x.entity
  do { let v: NSPredicate? = x.predicate; x.predicate = v }
  do { let v: Bool = x.includesSubentities; x.includesSubentities = v }
  do { let v: NSBatchUpdateRequestResultType = x.resultType; x.resultType = v }
  do { let v: [AnyHashable: Any]? = x.propertiesToUpdate; x.propertiesToUpdate = v }
}
@available(*, deprecated)
private func uses_NSBatchDeleteRequest(_ x: NSBatchDeleteRequest) throws {
  let _: NSBatchDeleteRequest.Type = NSBatchDeleteRequest.self
  let _: NSPersistentStoreRequest.Type = NSBatchDeleteRequest.self
  let _: (NSFetchRequest<any NSFetchRequestResult>) -> NSBatchDeleteRequest = NSBatchDeleteRequest
    .init(fetchRequest:)
  let _: ([NSManagedObjectID]) -> NSBatchDeleteRequest = NSBatchDeleteRequest.init(objectIDs:)
  do { let v: NSBatchDeleteRequestResultType = x.resultType; x.resultType = v }
  let _: NSFetchRequest<any NSFetchRequestResult> = x.fetchRequest
}
@available(*, deprecated)
private func uses_NSBatchInsertRequestResultType() throws {
  let _: NSBatchInsertRequestResultType.Type = NSBatchInsertRequestResultType.self
}
@available(*, deprecated)
private func uses_NSBatchUpdateRequestResultType() throws {
  let _: NSBatchUpdateRequestResultType.Type = NSBatchUpdateRequestResultType.self
}
@available(*, deprecated)
private func uses_NSBatchDeleteRequestResultType() throws {
  let _: NSBatchDeleteRequestResultType.Type = NSBatchDeleteRequestResultType.self
}
@available(*, deprecated)
private func uses_NSBatchInsertResult(_ x: NSBatchInsertResult) throws {
  let _: NSBatchInsertResult.Type = NSBatchInsertResult.self
  let _: NSPersistentStoreResult.Type = NSBatchInsertResult.self
  let _: Any? = x.result
  let _: NSBatchInsertRequestResultType = x.resultType
}
@available(*, deprecated)
private func uses_NSBatchUpdateResult(_ x: NSBatchUpdateResult) throws {
  let _: NSBatchUpdateResult.Type = NSBatchUpdateResult.self
  let _: NSPersistentStoreResult.Type = NSBatchUpdateResult.self
  let _: Any? = x.result
  let _: NSBatchUpdateRequestResultType = x.resultType
}
@available(*, deprecated)
private func uses_NSBatchDeleteResult(_ x: NSBatchDeleteResult) throws {
  let _: NSBatchDeleteResult.Type = NSBatchDeleteResult.self
  let _: NSPersistentStoreResult.Type = NSBatchDeleteResult.self
  let _: Any? = x.result
  let _: NSBatchDeleteRequestResultType = x.resultType
}
@available(*, deprecated)
private func uses_NSSaveChangesRequest(_ x: NSSaveChangesRequest) throws {
  let _: NSSaveChangesRequest.Type = NSSaveChangesRequest.self
  let _: NSPersistentStoreRequest.Type = NSSaveChangesRequest.self
  let _:
    (Set<NSManagedObject>?, Set<NSManagedObject>?, Set<NSManagedObject>?, Set<NSManagedObject>?) ->
      NSSaveChangesRequest = NSSaveChangesRequest.init(inserted:updated:deleted:locked:)
  let _: Set<NSManagedObject>? = x.insertedObjects
  let _: Set<NSManagedObject>? = x.updatedObjects
  let _: Set<NSManagedObject>? = x.deletedObjects
  let _: Set<NSManagedObject>? = x.lockedObjects
}
@available(*, deprecated)
private func uses_NSFetchedResultsController(_ x: NSFetchedResultsController<NSManagedObject>)
  throws
{
  let _: NSFetchedResultsController<NSManagedObject>.Type = NSFetchedResultsController<
    NSManagedObject
  >.self
  let _:
    (NSFetchRequest<NSManagedObject>, NSManagedObjectContext, String?, String?) ->
      NSFetchedResultsController<NSManagedObject> = NSFetchedResultsController<NSManagedObject>
      .init(fetchRequest:managedObjectContext:sectionNameKeyPath:cacheName:)
  let _: () throws -> Void = x.performFetch
  let _: NSFetchRequest<NSManagedObject> = x.fetchRequest
  let _: NSManagedObjectContext = x.managedObjectContext
  let _: String? = x.sectionNameKeyPath
  let _: String? = x.cacheName
  do { let v: (any NSFetchedResultsControllerDelegate)? = x.delegate; x.delegate = v }
  let _: (String?) -> Void = NSFetchedResultsController<NSManagedObject>.deleteCache(withName:)
  let _: [NSManagedObject]? = x.fetchedObjects
  let _: (IndexPath) -> NSManagedObject = x.object(at:)
  let _: (NSManagedObject) -> IndexPath? = x.indexPath(forObject:)
  let _: (String) -> String? = x.sectionIndexTitle(forSectionName:)
  let _: [String] = x.sectionIndexTitles
  let _: [any NSFetchedResultsSectionInfo]? = x.sections
  let _: (String, Int) -> Int = x.section(forSectionIndexTitle:at:)
}
@available(*, deprecated)
private func uses_NSFetchedResultsSectionInfo(_ x: NSFetchedResultsSectionInfo) throws {
  let _: (any NSFetchedResultsSectionInfo).Type = (any NSFetchedResultsSectionInfo).self
  let _: String = x.name
  let _: String? = x.indexTitle
  let _: Int = x.numberOfObjects
  let _: [Any]? = x.objects
}
@available(*, deprecated)
private func uses_NSFetchedResultsChangeType() throws {
  let _: NSFetchedResultsChangeType.Type = NSFetchedResultsChangeType.self
}
@available(*, deprecated)
private func uses_NSFetchedResultsControllerDelegate() throws {
  let _: (any NSFetchedResultsControllerDelegate).Type = (any NSFetchedResultsControllerDelegate)
    .self
}
@available(*, deprecated)
private func uses_NSFetchedResultsControllerDelegate_calls(
  _ y: any NSFetchedResultsControllerDelegate
) throws {
  let _:
    (NSFetchedResultsController<any NSFetchRequestResult>, NSDiffableDataSourceSnapshotReference) ->
      Void = y.controller(_:didChangeContentWith:)
  let _:
    (NSFetchedResultsController<any NSFetchRequestResult>, CollectionDifference<NSManagedObjectID>)
      -> Void = y.controller(_:didChangeContentWith:)
  let _:
    (
      NSFetchedResultsController<any NSFetchRequestResult>, Any, IndexPath?,
      NSFetchedResultsChangeType, IndexPath?
    ) -> Void = y.controller(_:didChange:at:for:newIndexPath:)
  let _:
    (
      NSFetchedResultsController<any NSFetchRequestResult>, any NSFetchedResultsSectionInfo, Int,
      NSFetchedResultsChangeType
    ) -> Void = y.controller(_:didChange:atSectionIndex:for:)
  let _: (NSFetchedResultsController<any NSFetchRequestResult>) -> Void = y
    .controllerWillChangeContent(_:)
  let _: (NSFetchedResultsController<any NSFetchRequestResult>) -> Void = y
    .controllerDidChangeContent(_:)
  let _: (NSFetchedResultsController<any NSFetchRequestResult>, String) -> String? = y.controller(
    _:sectionIndexTitleForSectionName:)
}
