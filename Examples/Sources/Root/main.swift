// A root item that is found again by the URI of its object ID, which the program has kept.

import Checks
import CoreData
import Foundation

class Item: NSManagedObject {
  @NSManaged var title: String?
}

func itemModel() -> NSManagedObjectModel {
  let title = NSAttributeDescription()
  title.name = "title"
  title.attributeType = .stringAttributeType
  title.isOptional = true
  let item = NSEntityDescription()
  item.name = "Item"
  item.managedObjectClassName = NSStringFromClass(Item.self)
  item.properties = [title]
  let model = NSManagedObjectModel()
  model.entities = [item]
  return model
}

let folder = scratchFolder()
let rootKey = "rootItem"

/// What an application does when it starts; `defaults` stands for its settings.
func start(_ defaults: inout [String: URL]) throws -> (Item, NSManagedObjectContext) {
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: itemModel())
  try coordinator.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil,
    at: folder.appendingPathComponent("Items.sqlite"), options: nil)
  let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  context.persistentStoreCoordinator = coordinator

  if let uri = defaults[rootKey],
    let objectID = coordinator.managedObjectID(forURIRepresentation: uri),
    let root = try? context.existingObject(with: objectID) as? Item
  {
    return (root, context)
  }
  let root = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context) as! Item
  root.title = "Root"
  // The ID is permanent after the save.
  check(root.objectID.isTemporaryID, "a new object has a temporary ID")
  try context.save()
  defaults[rootKey] = root.objectID.uriRepresentation()
  return (root, context)
}

do {
  var defaults: [String: URL] = [:]
  let first = try start(&defaults).0.objectID.uriRepresentation()
  check(first.scheme == "x-coredata", "the URI: \(first)")
  check(defaults[rootKey] == first, "kept")

  // The application is started again.
  let (root, context) = try start(&defaults)
  check(root.objectID.uriRepresentation() == first, "the same item")
  check(root.title == "Root", "with its values")
  check(try context.count(for: NSFetchRequest<Item>(entityName: "Item")) == 1, "no second root")

  // A peer has deleted it: there is no object with that ID any more, so a new root is made.
  context.delete(root)
  try context.save()
  let again = try start(&defaults).0
  check(again.objectID.uriRepresentation() != first, "a new root")

  // A URI of a store that the coordinator does not have leads nowhere.
  let elsewhere = URL(string: "x-coredata://00000000-0000-0000-0000-000000000000/Item/p1")!
  check(
    context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: elsewhere) == nil,
    "an ID of another store")
} catch {
  fatalError("\(error)")
}
finish("The root item is found again.", removing: folder)
