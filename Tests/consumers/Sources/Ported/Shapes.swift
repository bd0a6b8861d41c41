// Declarations of a kind that programs for Apple's platforms have, which must compile outside of
// Cairn's package. `checkShapes` uses them.

import CoreData
import Foundation
import PortedKit

extension Item: ManagedObject {
  public static var table: String { "items" }
}

/// A class with an initializer of its own; its context is not optional.
final class Labelled: NSManagedObject {
  let made: Int

  init(label: String, context: NSManagedObjectContext) {
    made = 1
    let known = NSEntityDescription.entity(forEntityName: "Item", in: context)
    guard let entity = known else { fatalError("The model lacks Item.") }
    super.init(entity: entity, insertInto: context)
    setPrimitiveValue(label, forKey: "name")
  }

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    made = 2
    super.init(entity: entity, insertInto: context)
  }
}

/// A class that says itself which entity it is of.
final class Named: NSManagedObject {
  override class func entity() -> NSEntityDescription {
    container.managedObjectModel.entitiesByName["Folder"] ?? NSEntityDescription()
  }
  override class func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> {
    let request = super.fetchRequest()
    request.fetchLimit = 3
    return request
  }
}

final class Shelf: NSAtomicStore, @unchecked Sendable {
  let opened: Date
  override init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
    configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    opened = Date(timeIntervalSinceReferenceDate: 1)
    super.init(
      persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
  }
}

final class Migrator: NSMigrationManager {
  var steps: [String]
  override init(
    sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) {
    steps = ["made"]
    super.init(sourceModel: sourceModel, destinationModel: destinationModel)
  }
}

extension NSPersistentStoreCoordinator {
  convenience init(inMemory model: NSManagedObjectModel) throws {
    self.init(managedObjectModel: model)
    try addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  }
}

// What programs add, and Cairn has for those who import it under its own names.
extension NSManagedObjectModel: @retroactive Sequence {
  public func makeIterator() -> IndexingIterator<[NSEntityDescription]> {
    entities.makeIterator()
  }
}

extension NSAttributeDescription {
  convenience init(
    name: String, type: NSAttributeType, isOptional: Bool = true, defaultValue: Any? = nil
  ) {
    self.init()
    self.name = name
    attributeType = type
  }
}

/// For results of any type.
final class Page<Result: NSFetchRequestResult> {
  let request: NSFetchRequest<Result>
  weak var delegate: NSFetchedResultsControllerDelegate?
  init(_ request: NSFetchRequest<Result>) { self.request = request }
  func results(in context: NSManagedObjectContext) throws -> [Result] { try context.fetch(request) }
}

func checkShapes(in context: NSManagedObjectContext) throws {
  do { throw CoreDataError.own } catch CoreDataError.own {}
  expect(FetchedResultsController().sections == ["own"], "a class of the program's own")
  expect((Item.self as ManagedObject.Type).table == "items", "a protocol of the program's own")

  let labelled = Labelled(label: "on it", context: context)
  let name = labelled.primitiveValue(forKey: "name") as? String
  expect(labelled.made == 1 && name == "on it", "an initializer of the class")
  context.delete(labelled)
  let named = Named(context: context)
  expect(named.entity.name == "Folder", "init(context:) asks entity()")
  context.delete(named)
  let limited = Named.fetchRequest()
  expect(limited.fetchLimit == 3 && limited.entity === Named.entity(), "overridden fetchRequest()")

  let untyped = Folder.fetchRequest()
  let same: NSFetchRequest<NSFetchRequestResult> = untyped
  let folders: NSFetchRequest<Folder> = Folder.fetchRequest()
  expect(same.entity === folders.entity, "requests without a type, and with one")
  let page: Page<NSFetchRequestResult> = Page(untyped)
  expect(try page.results(in: context).count == (try Page(folders).results(in: context).count), "")
  let deletion = NSBatchDeleteRequest(fetchRequest: untyped)
  expect(deletion.fetchRequest.entityName == "Folder", "for batch requests")

  expect(NSConstraintConflict().constraint.isEmpty, "a conflict about nothing")
  expect(NSManagedObjectID() != NSManagedObjectID(), "IDs of nothing")
  expect(Item().managedObjectContext == nil, "an object without arguments")
  let coordinator = try NSPersistentStoreCoordinator(inMemory: container.managedObjectModel)
  expect(coordinator.persistentStores.count == 1, "a coordinator made in an extension")
  let model = container.managedObjectModel
  expect(model.map(\.name).count == model.entities.count, "a sequence of the program's own")
  expect(Migrator(sourceModel: model, destinationModel: model).steps == ["made"], "managers")
  let shelf = Shelf(
    persistentStoreCoordinator: coordinator, configurationName: nil,
    at: URL(fileURLWithPath: "/dev/null"))
  expect(shelf.opened.timeIntervalSinceReferenceDate == 1, "stores")

  let names: [NSValueTransformerName] = [
    .isNilTransformerName, .isNotNilTransformerName, .negateBooleanTransformerName,
  ]
  expect(names.allSatisfy { ValueTransformer(forName: $0) != nil }, "Foundation's transformers")
  let type: ValueTransformer.Type = Doubling.self
  expect(type.init().transformedValue(2) as? Int == 4, "a transformer made by its metatype")
  // Other programs of the package have models in the folder, too.
  let files = Bundle.main.urls(forResourcesWithExtension: "momd", subdirectory: nil)
  let models = files?.map { (url: URL) in url.deletingPathExtension().lastPathComponent }
  expect(models?.contains("Ported") ?? false, "URLs")
}

final class Doubling: ValueTransformer, @unchecked Sendable {
  override func transformedValue(_ value: Any?) -> Any? { (value as? Int).map { $0 * 2 } }
}
