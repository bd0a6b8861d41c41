// Two stores in one coordinator: new objects are assigned to one of them, and a fetch is limited with
// `affectedStores`.

import Checks
import CoreData
import Foundation

class Book: NSManagedObject {
  @NSManaged var title: String?
}

func bookModel() -> NSManagedObjectModel {
  let title = NSAttributeDescription()
  title.name = "title"
  title.attributeType = .stringAttributeType
  title.isOptional = true
  let book = NSEntityDescription()
  book.name = "Book"
  book.managedObjectClassName = NSStringFromClass(Book.self)
  book.properties = [title]
  let model = NSManagedObjectModel()
  model.entities = [book]
  return model
}

let folder = scratchFolder()
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: bookModel())
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator

do {
  let mine = try coordinator.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("mine.db"),
    options: nil)
  let library = try coordinator.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil,
    at: folder.appendingPathComponent("library.db"), options: nil)
  check(coordinator.persistentStores.count == 2, "both are there")
  check(coordinator.persistentStore(for: library.url!) === library, "found by their URLs")

  for (title, store) in [("Mine", mine), ("Lent", library), ("Lent too", library)] {
    let book = Book(context: context)
    book.title = title
    context.assign(book, to: store)
  }
  try context.save()

  func titles(_ stores: [NSPersistentStore]?) throws -> [String] {
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.affectedStores = stores
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request).compactMap(\.title)
  }
  check(try titles(nil) == ["Lent", "Lent too", "Mine"], "both stores as one, sorted")
  check(try titles([mine]) == ["Mine"], "only the first")
  check(try titles([library]) == ["Lent", "Lent too"], "only the second")

  let request = NSFetchRequest<Book>(entityName: "Book")
  request.predicate = NSPredicate(format: "title == %@", "Mine")
  let book = try context.fetch(request).first!
  check(book.objectID.persistentStore === mine, "an object knows its store")
  request.affectedStores = [library]
  check(try context.fetch(request).isEmpty, "and is found only there")

  // A store that is removed takes its objects with it, and its file stays.
  try coordinator.remove(library)
  check(try titles(nil) == ["Mine"], "one store is left")
  check(
    FileManager.default.fileExists(atPath: folder.appendingPathComponent("library.db").path), "")
} catch {
  fatalError("\(error)")
}
finish("Two stores work as one.", removing: folder)
