// The stack built by hand: model, context, coordinator; the store is added on a background queue, and
// a completion handler is called on the main queue.

import Checks
import CoreData
import Foundation

class DataController: NSObject {
  var managedObjectContext: NSManagedObjectContext

  init(model: NSManagedObjectModel, storeURL: URL, completionClosure: @escaping () -> Void) {
    let psc = NSPersistentStoreCoordinator(managedObjectModel: model)
    managedObjectContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    managedObjectContext.persistentStoreCoordinator = psc

    // Adding a store can take long, when it has to be migrated.
    let queue = DispatchQueue.global(qos: .background)
    queue.async {
      do {
        try psc.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
        // The callback block is expected to complete the user interface.
        DispatchQueue.main.sync(execute: completionClosure)
      } catch {
        fatalError("Error migrating store: \(error)")
      }
    }
  }
}

/// In an application this model comes from a file.
func employeeModel() -> NSManagedObjectModel {
  let name = NSAttributeDescription()
  name.name = "name"
  name.attributeType = .stringAttributeType
  name.isOptional = true
  let employee = NSEntityDescription()
  employee.name = "Employee"
  employee.managedObjectClassName = NSStringFromClass(EmployeeMO.self)
  employee.properties = [name]
  let model = NSManagedObjectModel()
  model.entities = [employee]
  return model
}

class EmployeeMO: NSManagedObject {
  @NSManaged var name: String?
}

let folder = scratchFolder()
var dataController: DataController!
dataController = DataController(
  model: employeeModel(), storeURL: folder.appendingPathComponent("DataModel.sqlite")
) {
  // Under dispatchMain() the main queue is not tied to the first thread, as in an application.
  dispatchPrecondition(condition: .onQueue(.main))
  let context = dataController.managedObjectContext
  let employee =
    NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context) as! EmployeeMO
  employee.name = "Ada"
  do {
    try context.save()
  } catch {
    fatalError("Failure to save context: \(error)")
  }

  let employeesFetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Employee")
  employeesFetch.predicate = NSPredicate(format: "name == %@", "Ada")
  do {
    let fetched = try context.fetch(employeesFetch) as! [EmployeeMO]
    check(fetched == [employee], "the context has one object for a row")
  } catch {
    fatalError("Failed to fetch employees: \(error)")
  }
  finish("The stack built by hand works.", removing: folder)
}
dispatchMain()
