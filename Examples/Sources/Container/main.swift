// `NSPersistentContainer(name:)`, as Xcode's template for applications has it. The class `Note` is
// generated from the model, as Xcode does.

import Checks
import CoreData
import Foundation

let folder = scratchFolder()

class CoreDataStack {
  lazy var persistentContainer: NSPersistentContainer = {
    let container = NSPersistentContainer(name: "Notes")
    container.persistentStoreDescriptions.first?.url = folder.appendingPathComponent("Notes.sqlite")
    container.loadPersistentStores(completionHandler: { (storeDescription, error) in
      if let error = error as NSError? {
        fatalError("Unresolved error \(error), \(error.userInfo)")
      }
    })
    return container
  }()

  func saveContext() {
    let context = persistentContainer.viewContext
    if context.hasChanges {
      do {
        try context.save()
      } catch {
        let nserror = error as NSError
        fatalError("Unresolved error \(nserror), \(nserror.userInfo)")
      }
    }
  }
}

let stack = CoreDataStack()
let context = stack.persistentContainer.viewContext
context.automaticallyMergesChangesFromParent = true

let note = Note(context: context)
note.text = "Milk"
note.timestamp = Date()
stack.saveContext()
check(!context.hasChanges && !note.objectID.isTemporaryID, "saved")

// Work in the background reaches the view context.
let done = DispatchSemaphore(value: 0)
stack.persistentContainer.performBackgroundTask { context in
  let request: NSFetchRequest<Note> = Note.fetchRequest()
  request.sortDescriptors = [NSSortDescriptor(keyPath: \Note.timestamp, ascending: false)]
  do {
    let notes = try context.fetch(request)
    notes.first?.text = "Milk and bread"
    try context.save()
  } catch {
    fatalError("\(error)")
  }
  done.signal()
}
done.wait()
context.refreshAllObjects()
check(note.text == "Milk and bread", "the change made in the background arrives")
finish("The container works.", removing: folder)
