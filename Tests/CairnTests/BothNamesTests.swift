// A file that imports Cairn and CoreData.

import Cairn
import CoreData
import Testing

/// The decision page Names: what both modules have is one thing.
@Suite struct BothNamesTests {
  private func controller() -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = []
    return NSFetchedResultsController(
      fetchRequest: request,
      managedObjectContext: NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType),
      sectionNameKeyPath: nil, cacheName: nil)
  }

  @Test func theIdentityOfControllersIsNotAmbiguous() {
    let (one, other) = (controller(), controller())
    let optional: FetchedResultsController<ManagedObject>? = one
    // Not inside of the macro, which would take the operator for any two objects.
    let (isSame, isOptional, isOther) = (one === one, one === optional, one !== other)
    #expect(isSame && isOptional && isOther)
  }

  @Test func whatOnlyCairnAddsIsThere() throws {
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "Note"
    model.entities = [entity]
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let explanation = try context.explain(NSFetchRequest<NSManagedObject>(entityName: "Note"))
      #expect(explanation.entityName == "Note")
    }
    let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
    manager.progressHandler = { _ in }
    #expect(manager.progressHandler != nil)
    let description = NSPersistentStoreDescription()
    description.migrationSourceModels = [model]
    #expect(description.migrationSourceModels == [model])
  }
}
