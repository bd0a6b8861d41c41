// Classes of a program's own stores, in Apple's words: what they may leave out, and what not.

import CoreData
import Synchronization
import Testing

import protocol CairnPredicates.KeyValueReading

/// Chapter 21 of the specification; the order of calls is shown in `CustomStores`.
@Suite struct StoreClassRuleTests {
  /// A store that answers from nothing, with metadata that a test chooses.
  private class Bare: NSIncrementalStore, @unchecked Sendable {
    class var given: [String: Any] { [:] }
    override func loadMetadata() throws { metadata = Self.given }
    override func execute(
      _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any {
      // As stores in articles do it.
      switch request.requestType {
      case .fetchRequestType:
        let fetch = try #require(request as? NSFetchRequest<NSFetchRequestResult>)
        return fetch.resultType == .countResultType ? [NSNumber(value: 0)] : []
      case .saveRequestType: return []
      default: throw CocoaError(.featureUnsupported)
      }
    }
    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
      array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }
  }
  private final class WithoutUUID: Bare, @unchecked Sendable {
    override class var given: [String: Any] { [NSStoreTypeKey: "WithoutUUID"] }
  }
  private final class WithAnotherType: Bare, @unchecked Sendable {
    override class var given: [String: Any] {
      [NSStoreTypeKey: "Else", NSStoreUUIDKey: UUID().uuidString]
    }
  }
  private final class Whole: Bare, @unchecked Sendable {
    override class var given: [String: Any] {
      [NSStoreTypeKey: "Whole", NSStoreUUIDKey: "whole", "own": 7]
    }
  }

  private func add(_ type: AnyClass, as name: String) throws -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator.registerStoreClass(type, forStoreType: name)
    return try Company.coordinator(name, at: URL(fileURLWithPath: "/dev/null"))
  }

  @Test func aStoreMustTellItsTypeAndUUID() throws {
    let noUUID = Company.error { _ = try add(WithoutUUID.self, as: "WithoutUUID") }
    #expect(noUUID?.domain == NSCocoaErrorDomain && noUUID?.code == NSPersistentStoreOpenError)
    #expect(noUUID?.localizedDescription.contains("NSStoreUUID") == true)
    let otherType = Company.error { _ = try add(WithAnotherType.self, as: "WithAnotherType") }
    #expect(otherType?.code == NSPersistentStoreTypeMismatchError)
  }

  @Test func whatLoadMetadataSetsIsTheStores() throws {
    let coordinator = try add(Whole.self, as: "Whole")
    let store = try #require(coordinator.persistentStores.first)
    #expect(store is Whole && store.identifier == "whole" && store.type == "Whole")
    #expect(store.metadata["own"] as? Int == 7 && coordinator.metadata(for: store)["own"] != nil)
    #expect(!store.isReadOnly && store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    #expect(store.persistentStoreCoordinator === coordinator)
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Whole"] != nil)
  }

  @Test func aStoreOfArticlesAnswersFetchesCountsAndSaves() throws {
    let context = Company.context(try add(Whole.self, as: "Whole"))
    try context.performAndWait { () throws -> Void in
      let request = NSFetchRequest<Clerk>(entityName: "Clerk")
      #expect(try context.fetch(request).isEmpty && context.count(for: request) == 0)
      let clerk = try Company.clerk("Ada", in: context)
      try context.save()
      #expect(!clerk.objectID.isTemporaryID && !clerk.hasChanges)
      let delete = NSBatchDeleteRequest(
        fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk"))
      #expect(Company.error { _ = try context.execute(delete) } != nil)
    }
  }

  @Test func newStoresHaveIdentifiersOfTheirOwn() throws {
    let url = URL(fileURLWithPath: "/a")
    let first = NSIncrementalStore.identifierForNewStore(at: url) as? String
    let second = NSIncrementalStore.identifierForNewStore(at: url) as? String
    #expect(UUID(uuidString: try #require(first)) != nil && first != second)
  }

  @Test func requestTypesHaveCoreDatasNumbers() throws {
    let types: [(NSPersistentStoreRequestType, UInt)] = [
      (.fetchRequestType, 1), (.saveRequestType, 2), (.batchInsertRequestType, 5),
      (.batchUpdateRequestType, 6), (.batchDeleteRequestType, 7),
    ]
    for (type, number) in types { #expect(type.rawValue == number) }
    let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk")
    #expect(fetch.requestType == .fetchRequestType)
    #expect(NSBatchDeleteRequest(fetchRequest: fetch).requestType == .batchDeleteRequestType)
    #expect(NSBatchUpdateRequest(entityName: "Clerk").requestType == .batchUpdateRequestType)
    #expect(
      NSBatchInsertRequest(entityName: "Clerk", objects: []).requestType == .batchInsertRequestType)
  }

  @Test func referencesLeadToIDsAndBack() throws {
    let coordinator = try add(Whole.self, as: "Whole")
    let store = try #require(coordinator.persistentStores.first as? Whole)
    let clerk = try #require(coordinator.managedObjectModel.entitiesByName["Clerk"])
    let references: [NSObject] = [
      NSString(string: "a b/c"), NSNumber(value: 7), NSString(string: UUID().uuidString),
    ]
    for reference in references {
      let id = store.newObjectID(for: clerk, referenceObject: reference)
      #expect(store.referenceObject(for: id) as? NSObject == reference)
      #expect(id == store.newObjectID(for: clerk, referenceObject: reference))
      #expect(id.persistentStore === store && id.entity.name == "Clerk" && !id.isTemporaryID)
      #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
    }
  }

  // MARK: Atomic stores

  /// A store in memory with the least that an atomic store has to do.
  private final class Least: NSAtomicStore, @unchecked Sendable {
    static let log = Mutex<[String]>([])
    override var type: String { "Least" }
    override func load() throws { Self.log.withLock { $0.append("load") } }
    override func save() throws { Self.log.withLock { $0.append("save") } }
  }

  @Test func theLeastAtomicStoreLoadsAndSaves() throws {
    let coordinator = try add(Least.self, as: "Least")
    let store = try #require(coordinator.persistentStores.first as? Least)
    #expect(store.cacheNodes().isEmpty && store.metadata[NSStoreTypeKey] as? String == "Least")
    #expect(UUID(uuidString: store.identifier) != nil)
    let context = Company.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let ada = try Company.clerk("Ada", in: context)
      let bea = try Company.clerk("Bea", in: context)
      try context.save()
      let node = try #require(store.cacheNode(for: ada.objectID))
      #expect(node.value(forKey: "name") as? String == "Ada" && store.cacheNodes().count == 2)
      let references = [ada, bea].map { store.referenceObject(for: $0.objectID) as? NSObject }
      #expect(references[0] != nil && references[0] != references[1])
      #expect(
        store.objectID(
          for: ada.entity, withReferenceObject: store.referenceObject(for: ada.objectID))
          == ada.objectID)
      ada.setValue("Abe", forKey: "name")
      context.delete(bea)
      try context.save()
      #expect(store.cacheNode(for: ada.objectID)?.value(forKey: "name") as? String == "Abe")
      #expect(store.cacheNode(for: bea.objectID) == nil && store.cacheNodes().count == 1)
      let request = NSFetchRequest<Clerk>(entityName: "Clerk")
      request.predicate = NSPredicate { object, _ in
        (object as? any KeyValueReading)?.value(forKey: "name") as? String == "Abe"
      }
      #expect(try context.fetch(request) == [ada])
    }
    #expect(Least.log.withLock { $0 } == ["load", "save", "save"])
  }

  @Test func aNodesCacheIsEmptyUntilAValueIsSet() throws {
    try Company.use { context in
      let node = NSAtomicStoreCacheNode(objectID: try Company.clerk("Ada", in: context).objectID)
      #expect(node.propertyCache == nil)
      node.setValue(nil, forKey: "name")
      #expect(node.propertyCache == nil && node.value(forKey: "name") == nil)
      node.setValue(1, forKey: "age")
      #expect(node.propertyCache?.count == 1)
    }
  }
}
