// Members of a program's classes under names that Cairn has for generated code, initializers of the
// program's own, and look-ups of compiled models in a library and a target that tests it.

import CoreData
import Foundation

@testable import PortedKit

/// A class whose members are called as what generated accessors call.
final class Drawer: NSManagedObject {
  func destination(at position: Int) -> String { "own \(position)" }
  func setMembers(_ members: [String], toMany position: Int) -> Int { members.count }
  var explain: Bool { true }
}

/// Neither overrides the initializer that the framework uses.
final class CountingMigrator: NSMigrationManager {
  let counted: [String]
  init(counted: [String], model: NSManagedObjectModel) {
    self.counted = counted
    super.init(sourceModel: model, destinationModel: model)
  }
}

final class RemoteShelf: NSIncrementalStore, @unchecked Sendable {
  let host: String
  init(host: String, coordinator: NSPersistentStoreCoordinator) {
    self.host = host
    super.init(
      persistentStoreCoordinator: coordinator, configurationName: nil,
      at: URL(fileURLWithPath: "/dev/null"))
  }
}

final class RenamingPolicy: NSEntityMigrationPolicy {
  let names: [String: String]
  init(names: [String: String]) {
    self.names = names
    super.init()
  }
}

func checkOwnMembers(_ item: Item, in context: NSManagedObjectContext) throws {
  expect(try context.explain(Item.fetchRequest()) == "own", "explain(_:)")
  expect(item.storedString(at: 1) == "own 1", "storedString(at:)")
  expect(item.members(ofToMany: 0).isEmpty, "members(ofToMany:)")
  let drawer = Drawer()
  expect(drawer.destination(at: 2) == "own 2" && drawer.explain, "members of a class")
  expect(drawer.setMembers(["a"], toMany: 0) == 1, "setMembers(_:toMany:)")

  let model = container.managedObjectModel
  expect(model.templatesByName == ["own"] && model.isFrozen == "own", "members of models")
  let migrator = CountingMigrator(counted: ["a"], model: model)
  expect(migrator.counted == ["a"] && migrator.progressHandler == "own", "a manager")
  expect(RenamingPolicy(names: ["a": "b"]).names == ["a": "b"], "a policy")
  let shelf = RemoteShelf(host: "here", coordinator: container.persistentStoreCoordinator)
  expect(shelf.host == "here", "an incremental store")
  expect(NSPersistentStoreDescription().migrationSourceModels == ["own"], "a description")

  expect(Bundle.main.portedModel != nil, "a library looks a model up")
  expect(Bundle.main.url(forResource: "Ported", withExtension: "momd") != nil, "its tests do, too")
  let mapping = Bundle.module.url(forResource: "Steps", withExtension: "cdm")
  expect(mapping?.lastPathComponent == "Steps.xcmappingmodel", "a mapping model: \(mapping as Any)")
  let path = Bundle.main.path(forResource: "Steps", ofType: "cdm")
  expect(path?.hasSuffix("Steps.xcmappingmodel") == true, "in the main bundle: \(path as Any)")
}
