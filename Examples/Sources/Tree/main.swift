// Parent and children: an ordered relationship from an entity to itself, its inverse, moving items by
// setting the parent, cascading deletion, faults, and fetching a whole level at once.

import Checks
import CoreData
import Foundation

class Item: NSManagedObject {
  @NSManaged var title: String
  @NSManaged var parent: Item?
  @NSManaged var children: NSOrderedSet?
}

extension Item {
  @NSManaged func insertIntoChildren(_ value: Item, at idx: Int)
  @NSManaged func removeFromChildren(_ value: Item)
}

func itemModel() -> NSManagedObjectModel {
  let title = NSAttributeDescription()
  title.name = "title"
  title.attributeType = .stringAttributeType
  title.isOptional = false
  title.defaultValue = ""
  let item = NSEntityDescription()
  item.name = "Item"
  item.managedObjectClassName = NSStringFromClass(Item.self)
  let children = NSRelationshipDescription()
  children.name = "children"
  children.destinationEntity = item
  children.isOrdered = true
  children.deleteRule = .cascadeDeleteRule
  children.isOptional = true
  let parent = NSRelationshipDescription()
  parent.name = "parent"
  parent.destinationEntity = item
  parent.maxCount = 1
  parent.deleteRule = .nullifyDeleteRule
  parent.isOptional = true
  children.inverseRelationship = parent
  parent.inverseRelationship = children
  item.properties = [title, children, parent]
  let model = NSManagedObjectModel()
  model.entities = [item]
  return model
}

let folder = scratchFolder()
let container = NSPersistentContainer(name: "Tree", managedObjectModel: itemModel())
container.persistentStoreDescriptions.first?.url = folder.appendingPathComponent("Tree.sqlite")
container.loadPersistentStores { _, error in
  if let error { fatalError("\(error)") }
}
let context = container.viewContext

func item(_ title: String, in parent: Item?) -> Item {
  let item = Item(context: context)
  item.title = title
  item.parent = parent
  return item
}
func titles(_ item: Item) -> [String] { (item.children?.array as? [Item] ?? []).map(\.title) }

do {
  let root = item("Root", in: nil)
  for title in ["Shopping", "Work", "Garden"] { _ = item(title, in: root) }
  check(titles(root) == ["Shopping", "Work", "Garden"], "children in order: \(titles(root))")
  let shopping = root.children!.firstObject as! Item
  _ = item("Milk", in: shopping)
  _ = item("Bread", in: shopping)
  try context.save()

  // Moving changes both ends.
  let garden = root.children!.lastObject as! Item
  garden.parent = shopping
  check(titles(root) == ["Shopping", "Work"], "gone from its old parent")
  check(titles(shopping) == ["Milk", "Bread", "Garden"], "last of the new one")
  root.insertIntoChildren(garden, at: 0)
  check(
    garden.parent === root && titles(shopping) == ["Milk", "Bread"], "moved back, to the front")
  try context.save()

  // Children come as faults; one fetch reads them all.
  context.reset()
  let request = NSFetchRequest<Item>(entityName: "Item")
  request.predicate = NSPredicate(format: "parent == nil")
  let again = try context.fetch(request).first!
  check(titles(again) == ["Garden", "Shopping", "Work"], "the order is kept: \(titles(again))")
  let second = again.children!.object(at: 1) as! Item
  let level = NSFetchRequest<Item>(entityName: "Item")
  level.predicate = NSPredicate(format: "parent IN %@", [second])
  level.returnsObjectsAsFaults = false
  check(try context.fetch(level).allSatisfy { !$0.isFault }, "a level at once")

  // Deleting an item deletes those below it.
  context.delete(second)
  try context.save()
  check(try context.count(for: NSFetchRequest<Item>(entityName: "Item")) == 3, "Milk went too")
  check(titles(again) == ["Garden", "Work"], "and the parent knows")
} catch {
  fatalError("\(error)")
}
finish("The tree of items works.", removing: folder)
