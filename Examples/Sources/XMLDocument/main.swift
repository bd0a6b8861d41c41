// A document in an XML store: readable, read and written as a whole, and saved under another name.

import Checks
import CoreData
import Foundation

func documentModel() -> NSManagedObjectModel {
  let text = NSAttributeDescription()
  text.name = "text"
  text.attributeType = .stringAttributeType
  text.isOptional = true
  let line = NSEntityDescription()
  line.name = "Line"
  line.properties = [text]
  let model = NSManagedObjectModel()
  model.entities = [line]
  return model
}

let folder = scratchFolder()
let url = folder.appendingPathComponent("Document.xml")
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: documentModel())
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator

do {
  let store = try coordinator.addPersistentStore(
    ofType: NSXMLStoreType, configurationName: nil, at: url, options: nil)
  check(store.type == NSXMLStoreType, "the store says what it is")
  for text in ["Once upon a time", "there was <XML> & more"] {
    let line = NSEntityDescription.insertNewObject(forEntityName: "Line", into: context)
    line.setValue(text, forKey: "text")
  }
  try context.save()
  let written = try String(contentsOf: url, encoding: .utf8)
  check(written.contains("<database>"), "the file is Core Data's XML")
  check(written.contains("there was &lt;XML&gt; &amp; more"), "with the values to be read")

  // Another program opens it.
  let second = NSPersistentStoreCoordinator(managedObjectModel: documentModel())
  try second.addPersistentStore(
    ofType: NSXMLStoreType, configurationName: nil, at: url, options: nil)
  let reader = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  reader.persistentStoreCoordinator = second
  let request = NSFetchRequest<NSManagedObject>(entityName: "Line")
  request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
  let texts = try reader.fetch(request).compactMap { $0.value(forKey: "text") as? String }
  check(texts == ["Once upon a time", "there was <XML> & more"], "read again: \(texts)")

  let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
    ofType: NSXMLStoreType, at: url, options: nil)
  check(metadata[NSStoreTypeKey] as? String == NSXMLStoreType, "metadata without opening")

  // Save as.
  let copy = folder.appendingPathComponent("Copy.sqlite")
  let moved = try coordinator.migratePersistentStore(
    store, to: copy, options: nil, withType: NSSQLiteStoreType)
  check(coordinator.persistentStores == [moved], "the old store is gone from the coordinator")
  check(try context.count(for: request) == 2, "everything is in the new one")
} catch {
  fatalError("\(error)")
}
finish("The XML document works.", removing: folder)
