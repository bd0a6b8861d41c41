// Classes of a program whose members are called as members that Cairn has of its own: without
// `override`, called by the program, and never by Cairn.

import CoreData
import Foundation

// MARK: Stores

/// Objects in memory, by entity and number, as both stores below keep them.
final class ShelfRows: @unchecked Sendable {
  var labels: [Int: String] = [:]
  var last = 0
}

/// What the program adds to every store.
extension NSPersistentStore {
  func coordinatorDidAdd(_ coordinator: NSPersistentStoreCoordinator) -> String { "own" }
  func contextsDidUnregister(_ objectIDs: [NSManagedObjectID]) -> Int { objectIDs.count }
  func objectID(for entity: NSEntityDescription, rowKey: Int64) -> String { "own \(rowKey)" }
}

final class OwnIncrementalStore: NSIncrementalStore, @unchecked Sendable {
  static let rows = ShelfRows()
  private(set) var isOpen = true
  var identity = "own identity"
  var configuration: [String: Int] = ["own": 1]
  var managedObjectModel = "own model"
  let hasUnsavedMetadata = 7
  private(set) var registered = 0

  func close() throws { isOpen = false }
  func openStore() { isOpen = true }
  func holds(_ entity: NSEntityDescription) -> Bool { false }
  func members(of relationship: NSRelationshipDescription, owners: [NSManagedObjectID]) -> Int { 3 }
  func rowKey(of id: NSManagedObjectID) -> Int64? { -1 }
  func snapshot(for objectID: NSManagedObjectID) throws -> [String: Any] { ["own": 1] }
  func snapshots(for objectIDs: [NSManagedObjectID]) throws -> [String] { ["own"] }
  func fetch(_ what: String) throws -> String { "own \(what)" }
  func save(_ what: String) throws -> String { "own \(what)" }
  func obtainPermanentIDs(for entities: [NSEntityDescription]) throws -> [NSManagedObjectID] { [] }
  func contextsDidRegister(_ objectIDs: [NSManagedObjectID]) { registered += 1 }
  func coordinatorWillRemove(_ coordinator: NSPersistentStoreCoordinator?) -> Int { 8 }

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: "OwnIncrementalStore", NSStoreUUIDKey: "incremental"]
  }
  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { object in
      Self.rows.last += 1
      return newObjectID(for: object.entity, referenceObject: Self.rows.last)
    }
  }
  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    if let save = request as? NSSaveChangesRequest {
      for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
        Self.rows.labels[number(of: object.objectID)] = object.value(forKey: "label") as? String
      }
      return [Any]()
    }
    guard let context, let entity = persistentStoreCoordinator?.managedObjectModel.entities.first
    else { return [Any]() }
    return Self.rows.labels.keys.sorted().map {
      context.object(with: newObjectID(for: entity, referenceObject: $0))
    }
  }
  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    NSIncrementalStoreNode(
      objectID: objectID, withValues: ["label": Self.rows.labels[number(of: objectID)] ?? ""],
      version: 1)
  }
  private func number(of id: NSManagedObjectID) -> Int {
    (referenceObject(for: id) as? NSNumber)?.intValue ?? 0
  }
}

final class OwnAtomicStore: NSAtomicStore, @unchecked Sendable {
  static let rows = ShelfRows()
  private(set) var closed = 0

  func close() { closed += 1 }
  func snapshot(for objectID: NSManagedObjectID) -> String { "own" }
  var identity: Int { 5 }

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: "OwnAtomicStore", NSStoreUUIDKey: "atomic"]
  }
  override func load() throws {
    guard let entity = persistentStoreCoordinator?.managedObjectModel.entities.first else { return }
    addCacheNodes(
      Set(
        Self.rows.labels.map { number, label in
          let id = self.objectID(for: entity, withReferenceObject: number)
          let node = NSAtomicStoreCacheNode(objectID: id)
          node.setValue(label, forKey: "label")
          return node
        }))
  }
  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    Self.rows.last += 1
    return Self.rows.last
  }
  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    updateCacheNode(node, from: managedObject)
    return node
  }
  override func updateCacheNode(
    _ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject
  ) {
    node.setValue(managedObject.value(forKey: "label"), forKey: "label")
  }
  override func save() throws {
    for node in cacheNodes() {
      let number = referenceObject(for: node.objectID) as? NSNumber
      Self.rows.labels[number?.intValue ?? 0] = node.value(forKey: "label") as? String
    }
  }
}

// MARK: Objects

final class Crate: NSManagedObject {
  @NSManaged var label: String?
  var layout = "own layout"
  var identity: Int { 4 }
  class var keyAccessors: [String] { ["own"] }
  class var keyValidators: Int { 2 }
  class func registerClass() -> String { "own" }
  static func registerClass(_ type: NSManagedObject.Type, named name: String) -> String { name }
  func readValue(forKey key: String) throws -> Any? { "own \(key)" }
  func snapshot(for key: String) -> String { key }
}

// MARK: Migration

final class CratePolicy: NSEntityMigrationPolicy {
  nonisolated(unsafe) static var instances = 0
  static func registerClass(_ type: NSEntityMigrationPolicy.Type, forName name: String) -> Int { 1 }
  func answer(to selector: String, arguments: [Any?]) throws -> Any? { "own \(selector)" }
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    Self.instances += 1
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
  }
}

final class CrateMigrator: NSMigrationManager {
  func answer(to selector: String, arguments: [Any?]) throws -> Any? { "own \(selector)" }
  var runningStage = "own"
}

final class CrateContainer: NSPersistentContainer, @unchecked Sendable {
  private(set) var isOpen = true
  func close() { isOpen = false }
  var identity = "own"
}

extension NSPersistentStoreCoordinator {
  func close() -> Int { persistentStores.count }
  func store(withIdentifier identifier: String) -> String { identifier }
  static func registerStoreKind(_ kind: String) -> String { kind }
  static func unregisterStoreKind(ofType type: String) -> String { type }
}

// MARK: Extensions

extension NSManagedObjectModel {
  static let defaultConfigurationName = "own"
  static func load(contentsOf url: URL) throws -> String { url.lastPathComponent }
}
extension NSMappingModel {
  static func load(contentsOf url: URL) throws -> String { url.lastPathComponent }
}
extension NSManagedObjectModelReference { func resolve() throws -> String { "own" } }
extension NSEntityDescription { var layout: String { "own" } }
extension NSFetchedPropertyDescription { var template: String { "own" } }
extension NSStagedMigrationManager { var currentStage: String { "own" } }
extension NSSaveChangesRequest { func baseVersion(of object: NSManagedObject) -> UInt64? { 77 } }
extension NSPersistentHistoryChangeRequest { var fetchLimit: Int { 77 } }
extension NSManagedObjectID {
  var objectID: String { "own" }
  var rowKey: Int { 77 }
}
extension NSPredicate {
  static func parse(_ format: String, arguments: [Any?] = []) throws -> NSPredicate {
    NSPredicate(value: false)
  }
  func test(_ object: Any?, substitutionVariables bindings: [String: Any]? = nil) throws -> Bool {
    true
  }
}
extension NSExpression {
  static func parse(_ format: String, arguments: [Any?] = []) throws -> NSExpression {
    NSExpression(forConstantValue: "own")
  }
  func value(for object: Any?, context: NSMutableDictionary? = nil) throws -> Any? { "own" }
}
extension NSSortDescriptor {
  func order(_ object1: Any, _ object2: Any) throws -> ComparisonResult { .orderedDescending }
}
extension Sequence {
  func filtered(using predicate: NSPredicate) -> Int { 77 }
  func sorted(using sortDescriptors: [NSSortDescriptor]) -> Int { 78 }
}
extension Array where Element == NSSortDescriptor {
  func areInIncreasingOrder(_ object1: Any, _ object2: Any) throws -> Bool { true }
}

// MARK: Checks

/// A model of one entity, whose objects are crates.
private func crates(_ extra: String...) -> NSManagedObjectModel {
  let entity = NSEntityDescription()
  entity.name = "Crate"
  entity.managedObjectClassName = NSStringFromClass(Crate.self)
  entity.properties = (["label"] + extra).map { name in
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = .stringAttributeType
    attribute.isOptional = true
    return attribute
  }
  let model = NSManagedObjectModel()
  model.entities = [entity]
  return model
}

private func stack(
  _ type: String, at url: URL, _ model: NSManagedObjectModel = crates()
) throws -> (NSManagedObjectContext, NSPersistentStore) {
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
  let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  context.persistentStoreCoordinator = coordinator
  return (context, store)
}

/// Saves a crate, and reads it in a stack of its own; the context holds the store.
private func checkRoundTrip(
  _ type: String, at url: URL
) throws -> (NSManagedObjectContext, NSPersistentStore) {
  let (context, store) = try stack(type, at: url)
  let crate = Crate(context: context)
  crate.label = "apples"
  try context.save()
  expect(!crate.objectID.isTemporaryID, "\(type) gives IDs")
  context.refreshAllObjects()
  expect(crate.isFault && crate.label == "apples", "\(type) fires a fault")
  let (second, other) = try stack(type, at: url)
  let found = try second.fetch(NSFetchRequest<Crate>(entityName: "Crate"))
  expect(found.map(\.label) == ["apples"], "\(type) is fetched: \(found)")
  found.first?.label = "pears"
  try second.save()
  try second.persistentStoreCoordinator?.remove(other)
  return (context, store)
}

func checkOwnStores() throws {
  NSPersistentStoreCoordinator.registerStoreClass(
    OwnIncrementalStore.self, forStoreType: "OwnIncrementalStore")
  NSPersistentStoreCoordinator.registerStoreClass(
    OwnAtomicStore.self, forStoreType: "OwnAtomicStore")
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }

  let (context, made) = try checkRoundTrip(
    "OwnIncrementalStore", at: folder.appendingPathComponent("a"))
  guard let store = made as? OwnIncrementalStore,
    let entity = context.persistentStoreCoordinator?.managedObjectModel.entities.first
  else { fatalError("\(made) is of another class") }
  expect(store.isOpen && store.registered == 0, "the framework calls none of the program's")
  try store.close()
  expect(!store.isOpen, "close()")
  store.openStore()
  expect(store.isOpen && store.identity == "own identity", "openStore(), identity")
  expect(store.configuration == ["own": 1] && store.managedObjectModel == "own model", "properties")
  expect(store.hasUnsavedMetadata == 7 && !store.holds(entity), "hasUnsavedMetadata, holds(_:)")
  let id = store.newObjectID(for: entity, referenceObject: 1)
  expect(store.members(of: NSRelationshipDescription(), owners: [id]) == 3, "members(of:owners:)")
  expect(store.rowKey(of: id) == -1, "rowKey(of:)")
  expect(try store.snapshot(for: id).keys.first == "own", "snapshot(for:)")
  expect(try store.snapshots(for: [id]) == ["own"], "snapshots(for:)")
  expect(try store.fetch("a") == "own a" && store.save("b") == "own b", "fetch(_:), save(_:)")
  expect(try store.obtainPermanentIDs(for: [entity]) == [], "obtainPermanentIDs(for:) of entities")
  expect(store.objectID(for: entity, rowKey: 3) == "own 3", "objectID(for:rowKey:)")
  expect(store.contextsDidUnregister([id]) == 1, "contextsDidUnregister(_:)")
  expect(store.coordinatorWillRemove(nil) == 8, "coordinatorWillRemove(_:)")
  if let coordinator = store.persistentStoreCoordinator {
    expect(store.coordinatorDidAdd(coordinator) == "own", "coordinatorDidAdd(_:)")
    expect(coordinator.close() == 1, "close() of a coordinator")
    expect(coordinator.store(withIdentifier: "a") == "a", "store(withIdentifier:)")
  }
  expect(NSPersistentStoreCoordinator.registerStoreKind("a") == "a", "registerStoreKind(_:)")
  expect(
    NSPersistentStoreCoordinator.unregisterStoreKind(ofType: "a") == "a",
    "unregisterStoreKind(ofType:)")

  let (other, file) = try checkRoundTrip("OwnAtomicStore", at: folder.appendingPathComponent("b"))
  guard let atomic = file as? OwnAtomicStore else { fatalError("\(file) is of another class") }
  expect(atomic.closed == 0 && atomic.identity == 5, "members of an atomic store")
  atomic.close()
  expect(other.persistentStoreCoordinator?.persistentStores == [file], "the store stays")
  expect(atomic.closed == 1 && atomic.snapshot(for: id) == "own", "close() of an atomic store")
}

/// Migrates a file with a policy and a manager of the program's.
func checkOwnMigration() throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let (first, second) = (folder.appendingPathComponent("1"), folder.appendingPathComponent("2"))
  let (old, new) = (crates(), crates("code"))
  let (context, store) = try stack(NSSQLiteStoreType, at: first, old)
  Crate(context: context).label = "apples"
  try context.save()
  try context.persistentStoreCoordinator?.remove(store)

  let mapping = try NSMappingModel.inferredMappingModel(
    forSourceModel: old, destinationModel: new)
  for entity in mapping.entityMappings ?? [] {
    entity.mappingType = .customEntityMappingType
    entity.entityMigrationPolicyClassName = NSStringFromClass(CratePolicy.self)
  }
  let manager = CrateMigrator(sourceModel: old, destinationModel: new)
  try manager.migrateStore(
    from: first, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
    toDestinationURL: second, destinationType: NSSQLiteStoreType, destinationOptions: nil)
  expect(CratePolicy.instances == 1, "the policy is asked")
  expect(try manager.answer(to: "a", arguments: []) as? String == "own a", "answer of a manager")
  expect(manager.runningStage == "own", "a property of a manager")
  expect(try CratePolicy().answer(to: "a", arguments: []) as? String == "own a", "of a policy")
  expect(CratePolicy.registerClass(CratePolicy.self, forName: "a") == 1, "registerClass")
  let (migrated, _) = try stack(NSSQLiteStoreType, at: second, new)
  let found = try migrated.fetch(NSFetchRequest<Crate>(entityName: "Crate"))
  expect(found.map(\.label) == ["apples"], "the migrated crate: \(found)")

  guard let crate = found.first else { return }
  expect(crate.layout == "own layout" && crate.identity == 4, "properties of an object")
  expect(Crate.keyAccessors == ["own"] && Crate.keyValidators == 2, "properties of its class")
  expect(Crate.registerClass() == "own", "registerClass()")
  expect(Crate.registerClass(Crate.self, named: "a") == "a", "registerClass(_:named:)")
  expect(try crate.readValue(forKey: "a") as? String == "own a", "readValue(forKey:)")
  expect(crate.value(forKey: "label") as? String == "apples", "value(forKey:)")
  expect(crate.snapshot(for: "a") == "a" && crate.entity.layout == "own", "snapshot, layout")
  expect(crate.objectID.objectID == "own" && crate.objectID.rowKey == 77, "members of IDs")
}

func checkOwnExtensions() throws {
  let url = URL(fileURLWithPath: "/none")
  expect(NSManagedObjectModel.defaultConfigurationName == "own", "defaultConfigurationName")
  expect(try NSManagedObjectModel.load(contentsOf: url) == "none", "load(contentsOf:) of models")
  expect(try NSMappingModel.load(contentsOf: url) == "none", "load(contentsOf:) of mappings")
  let reference = NSManagedObjectModelReference(model: crates(), versionChecksum: "a")
  expect(try reference.resolve() == "own", "resolve()")
  expect(NSFetchedPropertyDescription().template == "own", "template")
  expect(NSStagedMigrationManager([]).currentStage == "own", "currentStage")
  let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
  expect(request.baseVersion(of: Crate()) == 77, "baseVersion(of:)")
  let history = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
  expect(history.fetchLimit == 77, "fetchLimit of a history request")
  expect(try NSPredicate.parse("TRUEPREDICATE").evaluate(with: nil) == false, "parse(_:arguments:)")
  expect(try NSPredicate(value: false).test(nil), "test(_:substitutionVariables:)")
  expect(try NSExpression.parse("1").constantValue as? String == "own", "parse of expressions")
  expect(try NSExpression(forConstantValue: 1).value(for: nil) as? String == "own", "value(for:)")
  let sort = NSSortDescriptor(key: "length", ascending: true)
  expect(try sort.order("a", "b") == .orderedDescending, "order(_:_:)")
  expect(["a"].filtered(using: NSPredicate(value: false)) == 77, "filtered(using:)")
  expect(["a"].sorted(using: [sort]) == 78, "sorted(using:)")
  expect(try [sort].areInIncreasingOrder("b", "a"), "areInIncreasingOrder(_:_:)")
  expect((["b", "a"] as NSArray).filtered(using: NSPredicate(value: true)).count == 2, "Apple's")

  let container = CrateContainer(name: "Crates", managedObjectModel: crates())
  container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
  container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
  container.loadPersistentStores { _, error in expect(error == nil, "\(error as Any)") }
  container.close()
  expect(!container.isOpen && container.identity == "own", "members of a container")
  Crate(context: container.viewContext).label = "plums"
  try container.viewContext.save()
}
