// Source written for Core Data compiles against the module CoreData and works.

import CoreData
import Testing

@Suite struct AppleNamesTests {
  @Test func aCoreDataTutorialCompilesAndRuns() throws {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    title.isOptional = false
    let book = NSEntityDescription()
    book.name = "Book"
    book.managedObjectClassName = NSStringFromClass(NSManagedObject.self)
    book.properties = [title]
    let model = NSManagedObjectModel()
    model.entities = [book]

    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    #expect(store.type == NSInMemoryStoreType)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { () throws -> Void in
      let object = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      do {
        try context.save()
        Issue.record("a mandatory value was missing")
      } catch {
        // `catch let error as NSError` matches no Swift error on Linux.
        let error = error as NSError
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
      }
      object.setValue("Lavinia", forKey: "title")
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: "title BEGINSWITH[c] %@", "lav")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      #expect(try context.fetch(request).count == 1)
    }
  }

  @Test func constantsHaveApplesRawValues() {
    #expect(NSSQLiteStoreType == "SQLite")
    #expect(NSStoreUUIDKey == "NSStoreUUID")
    #expect(
      NSPersistentStoreRemoteChangeNotificationPostOptionKey
        == "NSPersistentStoreRemoteChangeNotificationOptionKey")
    #expect(NSManagedObjectMergeError == 133020)
    #expect(NSPersistentStoreIncompatibleVersionHashError == 134100)
    #expect(CocoaError.Code.managedObjectMerge.rawValue == NSManagedObjectMergeError)
  }
}
