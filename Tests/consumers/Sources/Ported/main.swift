// Uses classes with `@NSManaged` in a file that imports both Foundation and CoreData, as sources for
// Apple's platforms do. Prints what does not hold and ends with 1 then.
import CoreData
import Foundation
import PortedKit

nonisolated(unsafe) var failures = 0
func expect(_ holds: Bool, _ rule: String, line: Int = #line) {
  if holds { return }
  failures += 1
  print("main.swift:\(line): \(rule)")
}

let container = NSPersistentContainer(name: "Ported")
let description = NSPersistentStoreDescription()
description.type = NSInMemoryStoreType
container.persistentStoreDescriptions = [description]
container.loadPersistentStores { _, error in
  if let error = error as NSError? { fatalError("Unresolved error \(error), \(error.userInfo)") }
}
let context = container.viewContext

// Models go by the names that Xcode's builds give them.
for bundle in [Bundle.main, .module, Bundle(for: Item.self)] {
  let url = bundle.url(forResource: "Ported", withExtension: "momd")
  let path = bundle.path(forResource: "Ported", ofType: "momd")
  expect(url?.path == path && path != nil, "a compiled model is found in \(bundle.bundlePath)")
  let model = url.flatMap { NSManagedObjectModel(contentsOf: $0) }
  expect(model?.entitiesByName["Item"] != nil, "a compiled model is read")
}

let inserted = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
guard let folder = inserted as? Folder else {
  fatalError("the class of Folder is in another module and was not found")
}
let item = Item(context: context)
expect(type(of: item.entity.name) == String?.self && item.entity.name == "Item", "@objc(CDItem)")
expect(item.created == Date(timeIntervalSinceReferenceDate: 1), "a primitive accessor writes")
expect(item.count == 7 && item.rank == 0 && item.grade == nil, "defaults, and nil as zero")
expect(item.name == nil && item.friends.isEmpty && item.state == .new, "nil and empty")
item.added = Date(timeIntervalSinceReferenceDate: 2)
item.amount = NSDecimalNumber(string: "1.25")
item.blob = Data([1, 2])
item.count += 1
item.grade = 3
item.id = UUID()
item.isDone.toggle()
item.link = URL(string: "https://example.org")
item.name = "One"
item.rank = -5
item.tiny = 6
item.ratio = 0.5
item.seen = 77
item.size = 2.5
item.grow()
item.tags = ["a", "b"]
item.folder = folder
let identity = item.id

let other = Item(context: context)
other.name = "Two"
item.next = other
item.addToFriends(other)
expect(other.friends == [item] && other.previous === item, "inverses follow")
item.removeFromFriends(other)
item.addFriendsObject(other)
item.friends = []
item.addToFriends(NSSet(object: other))
expect(item.friends.contains(other), "methods for members")
folder.addToItems(other)
folder.removeFromItems(at: 1)
folder.insertIntoItems(other, at: 0)
folder.replaceItems(at: NSIndexSet(index: 0), with: [other])
expect(folder.items?.array as? [Item] == [other, item], "ordered methods: \(folder.items as Any)")
item.shelves = NSSet(object: folder)
expect(folder.readers == NSSet(object: item), "sets of Foundation")
expect(item.whisper() == "One", "private primitive accessors")

do {
  try context.save()
} catch let error as NSError {
  print("Could not save. \(error), \(error.userInfo)")
  exit(1)
}
context.reset()

let request: NSFetchRequest<Item> = Item.fetchRequest()
let predicate: NSPredicate = NSPredicate(format: "%K == %@", "name", "One")
let sort: [NSSortDescriptor] = [NSSortDescriptor(key: "name", ascending: true)]
request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate])
request.sortDescriptors = sort
let found = try context.fetch(request)
expect(found.count == 1, "fetching: \(found.count)")
if let item = found.first {
  expect(item.isFault, "not read yet")
  expect(item.added == Date(timeIntervalSinceReferenceDate: 2), "date")
  expect(item.amount == NSDecimalNumber(string: "1.25"), "decimal")
  expect(item.blob == Data([1, 2]) && item.count == 8 && item.grade == 3, "data, integers")
  expect(item.id == identity && item.isDone && item.link?.host == "example.org", "id, flag, link")
  expect(item.rank == -5 && item.tiny == 6 && item.ratio == 0.5 && item.size == 2.5, "numbers")
  expect(item.seen == 77 && item.state == .old && item.tags == ["a", "b"], "scalar date, enum")
  expect(item.folder?.name == nil && item.next?.title == "Two", "to-one")
  expect(item.friends.first?.name == "Two", "to-many")
  expect(item[keyPath: \.name] == "One", "key paths read")
}
expect(try context.fetch(NSFetchRequest<Folder>(entityName: "Folder")).count == 1, "other modules")

try checkShapes(in: context)
try checkOwnMembers(item, in: context)
try checkOwnStores()
try checkOwnMigration()
try checkOwnExtensions()

// Properties that the model lacks answer to their keys.
item.name = "Zero"
expect(item.value(forKey: "initial") as? String == "Z", "a property marked with @objc is read")
item.setValue(9, forKey: "points")
expect(item.rank == 9 && item.value(forKey: "points") as? Int == 9, "and set")
expect(NSPredicate(format: "initial == 'Z'").evaluate(with: item), "in a predicate")

// Key paths know the names of properties.
expect((\Item.name)._kvcKeyPathString == "name", "a property")
expect((\Item.next?.name)._kvcKeyPathString == "next.name", "a property behind a to-one")
expect((\Item.title)._kvcKeyPathString == "title", "a property that is not managed")
expect((\Folder.items)._kvcKeyPathString == "items", "a property of another module")
expect((\String.count)._kvcKeyPathString == nil, "nothing of the kind")

exit(failures == 0 ? 0 : 1)
