// How applications throw their data away, and bring it back.

import CoreData
import TestSupport
import Testing

/// Chapter 20 of the specification: whole store files under a container that goes on.
@Suite struct StartingAnewTests {
  private func fill(_ container: NSPersistentContainer, _ names: [String]) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      for name in names { ProgramAuthor(context: context).name = name }
      try context.save()
    }
  }

  private func names(_ container: NSPersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let request: NSFetchRequest<ProgramAuthor> = ProgramAuthor.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).compactMap(\.name)
    }
  }

  @Test func destroyedStoresAreLoadedAgainEmpty() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      let container = try Programs.container(url: url)
      try fill(container, ["Ada", "Bob"])
      let coordinator = container.persistentStoreCoordinator
      for store in coordinator.persistentStores {
        try coordinator.destroyPersistentStore(
          at: #require(store.url), ofType: store.type, options: nil)
      }
      var loaded = 0
      container.loadPersistentStores { _, error in
        #expect(error == nil)
        loaded += 1
      }
      #expect(loaded == 1)
      #expect(coordinator.persistentStores.count == 1)
      #expect(try names(container).isEmpty)
      try fill(container, ["Cid"])
      #expect(try names(container) == ["Cid"])
    }
  }

  @Test func aBackupIsPutInPlaceOfTheOpenStore() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      let backup = folder.appendingPathComponent("backup.sqlite")
      let container = try Programs.container(url: url)
      try fill(container, ["Ada"])
      let other = NSPersistentStoreCoordinator(managedObjectModel: Programs.library())
      let store = try other.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [NSReadOnlyPersistentStoreOption: true])
      let copy = try other.migratePersistentStore(
        store, to: backup, options: nil, withType: NSSQLiteStoreType)
      try other.remove(copy)
      try fill(container, ["Bob"])
      #expect(try names(container) == ["Ada", "Bob"])
      try container.persistentStoreCoordinator.replacePersistentStore(
        at: url, destinationOptions: nil, withPersistentStoreFrom: backup, sourceOptions: nil,
        ofType: NSSQLiteStoreType)
      container.loadPersistentStores { _, error in #expect(error == nil) }
      #expect(try names(container) == ["Ada"])
    }
  }

  @Test func errorsAreCaughtByTheirNamesInCocoaError() throws {
    let context = try Programs.container().newBackgroundContext()
    let caught = context.performAndWait {
      _ = ProgramAuthor(context: context)
      do {
        try context.save()
        return "nothing"
      } catch CocoaError.validationMissingMandatoryProperty {
        return "the name is missing"
      } catch {
        return "\(error)"
      }
    }
    #expect(caught == "the name is missing")
  }
}
