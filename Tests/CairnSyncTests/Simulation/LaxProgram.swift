// A program beside daemons whose model lacks a rule that all others have.

import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnSQLite
import CairnStore
import Foundation

enum LaxProgram {
  /// Writes to a store what the others refuse.
  static func write(
    to file: URL, denies: Bool = false, _ work: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(denies: denies, isLax: true),
      storeKinds: [SQLiteStoreKind()])
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: file,
      options: [StoreOptionKey.historyTracking: true])
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      try work(context)
      try context.save()
    }
    try coordinator.remove(store)
  }

  /// Gives the item of a key a value that is longer than the others allow.
  static func exceed(_ key: String, in file: URL) throws {
    try write(to: file) { context in
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.predicate = ObjectPredicate(format: "key == %@", key)
      let long = String(repeating: "-", count: SampleModel.mostLength)
      try context.fetch(request).first?.setValue(long, forKey: "value")
    }
  }
}
