// A model, classes and stacks in Apple's words, for tests of what other people's code relies on.

import CoreData
import Testing

/// A person who works in an office; notes what is called.
final class Clerk: NSManagedObject {
  var calls: [String] = []
  var events: NSSnapshotEventType = []
  /// What `didChangeValue(forKey:)` does besides, by key.
  var reaction: ((String) -> Void)?

  override func awakeFromInsert() {
    super.awakeFromInsert()
    // Default values are there already.
    calls.append("awakeFromInsert \(value(forKey: "age") ?? "nil")")
  }
  override func awakeFromFetch() {
    super.awakeFromFetch()
    calls.append("awakeFromFetch")
  }
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    events.formUnion(flags)
  }
  override func prepareForDeletion() {
    super.prepareForDeletion()
    calls.append("prepareForDeletion")
  }
  override func willSave() {
    super.willSave()
    calls.append("willSave")
  }
  override func didSave() {
    super.didSave()
    calls.append("didSave")
  }
  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    calls.append("willTurnIntoFault")
  }
  override func didTurnIntoFault() {
    super.didTurnIntoFault()
    calls.append("didTurnIntoFault")
  }

  override func validateForDelete() throws {
    try super.validateForDelete()
    if value(forKey: "name") as? String == "Boss" {
      throw NSError(domain: "Company", code: 3, userInfo: [:])
    }
  }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    if value(forKey: "age") as? Int == 0 {
      throw NSError(domain: "Company", code: 4, userInfo: [:])
    }
  }

  override func willAccessValue(forKey key: String?) {
    super.willAccessValue(forKey: key)
    note("willAccess", key ?? "nil")
  }
  override func didAccessValue(forKey key: String?) {
    super.didAccessValue(forKey: key)
    note("didAccess", key ?? "nil")
  }
  override func willChangeValue(forKey key: String) {
    note("will", key, withValue: true)
    super.willChangeValue(forKey: key)
  }
  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    note("did", key, withValue: true)
    reaction?(key)
  }

  /// Announcements are noted while a test listens.
  var listens = false
  private func note(_ what: String, _ key: String, withValue: Bool = false) {
    guard listens else { return }
    let value = withValue ? " \(primitiveValue(forKey: key) ?? "nil")" : ""
    calls.append("\(what) \(key)\(value)")
  }

  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }
}

/// An office; notes changes of its set of clerks.
final class Office: NSManagedObject {
  var mutations: [String] = []
  override func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) {
    super.willChangeValue(forKey: inKey, withSetMutation: inMutationKind, using: inObjects)
    mutations.append("will \(inKey) \(inMutationKind.rawValue) \(inObjects.count)")
  }
  override func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) {
    super.didChangeValue(forKey: inKey, withSetMutation: inMutationKind, using: inObjects)
    mutations.append("did \(inKey) \(inMutationKind.rawValue) \(inObjects.count)")
  }
}

enum Company {
  static func attribute(
    _ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    attribute.defaultValue = value
    return attribute
  }

  /// Offices with clerks; `extra` adds an attribute to clerks, for another version.
  static func model(extra: String? = nil) -> NSManagedObjectModel {
    let office = NSEntityDescription()
    office.name = "Office"
    office.managedObjectClassName = NSStringFromClass(Office.self)
    let clerk = NSEntityDescription()
    clerk.name = "Clerk"
    clerk.managedObjectClassName = NSStringFromClass(Clerk.self)

    let clerks = NSRelationshipDescription()
    clerks.name = "clerks"
    clerks.destinationEntity = clerk
    clerks.deleteRule = .cascadeDeleteRule
    let place = NSRelationshipDescription()
    place.name = "office"
    place.destinationEntity = office
    place.maxCount = 1
    place.deleteRule = .nullifyDeleteRule
    clerks.inverseRelationship = place
    place.inverseRelationship = clerks

    office.properties = [attribute("name", .stringAttributeType), clerks]
    clerk.properties = [
      attribute("name", .stringAttributeType, optional: false, default: "Nobody"),
      attribute("age", .integer32AttributeType, default: 20),
      attribute("tags", .transformableAttributeType), place,
    ]
    if let extra { clerk.properties += [attribute(extra, .stringAttributeType)] }
    let model = NSManagedObjectModel()
    model.entities = [office, clerk]
    return model
  }

  static func coordinator(
    _ type: String = NSInMemoryStoreType, at url: URL? = nil, options: [AnyHashable: Any]? = nil,
    model: NSManagedObjectModel = model()
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options)
    return coordinator
  }

  static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Runs a test in a new context over a store in memory.
  static func use(_ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = context(try coordinator())
    try context.performAndWait { try body(context) }
  }

  static func clerk(
    _ name: String, age: Int? = nil, in context: NSManagedObjectContext
  ) throws -> Clerk {
    let made = NSEntityDescription.insertNewObject(forEntityName: "Clerk", into: context)
    let clerk = try #require(made as? Clerk)
    clerk.setValue(name, forKey: "name")
    if let age { clerk.setValue(age, forKey: "age") }
    return clerk
  }

  static func names(in context: NSManagedObjectContext) throws -> [String] {
    let request = NSFetchRequest<Clerk>(entityName: "Clerk")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
  }

  /// What a body throws, as Core Data's clients catch it.
  static func error(_ body: () throws -> Void) -> NSError? {
    do {
      try body()
    } catch let error as NSError {
      return error
    } catch {
      Issue.record("\(error) cannot be caught as NSError")
    }
    return nil
  }
}
