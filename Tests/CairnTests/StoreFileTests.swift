// SQLite store files through the coordinator: bad ones are refused and left alone; metadata, destroying
// and replacing.

import Cairn
import Foundation
import TestSupport
import Testing

@Suite struct StoreFileTests {
  private static func model() -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Note", properties: [AttributeDescription(name: "text", type: .string)])
    ]
    return model
  }

  private func error(_ body: () throws -> Void) -> CoreDataError? {
    do {
      try body()
      return nil
    } catch {
      return error as? CoreDataError
    }
  }

  /// A closed store with some notes.
  private func makeStore(at url: URL, notes: Int) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { () throws -> Void in
      for number in 0..<notes {
        EntityDescription.insertNewObject(forEntityName: "Note", into: context)
          .setValue("\(number)", forKey: "text")
      }
      try context.save()
    }
    try coordinator.remove(store)
  }

  private func count(at url: URL) throws -> Int {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    defer { try? coordinator.remove(store) }
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try context.count(for: FetchRequest<ManagedObject>(entityName: "Note"))
    }
  }

  @Test func aStoreThatIsClosedIsInOneFile() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("notes.sqlite")
      for round in 0..<2 {
        // The second time there is something to be read, too.
        try makeStore(at: url, notes: 3 * round)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files == ["notes.sqlite"])
      }
    }
  }

  @Test func aFileThatIsNotSQLiteIsRefusedAndUnchanged() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      let junk = Data(String(repeating: "not a database at all\n", count: 100).utf8)
      try junk.write(to: url)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
      let problem = error { try coordinator.addPersistentStore(type: .sqlite, at: url) }
      #expect(problem != nil)
      #expect(problem?.message.contains(url.path) ?? false, "\(String(describing: problem))")
      #expect(try Data(contentsOf: url) == junk)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.sqlite"])
      #expect(coordinator.persistentStores.isEmpty)
    }
  }

  @Test func aFolderInPlaceOfTheFileIsRefused() throws {
    try TemporaryFolder.with { folder in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
      let problem = error { try coordinator.addPersistentStore(type: .sqlite, at: folder) }
      #expect(problem?.code == .persistentStoreOpen)
    }
  }

  @Test func aModelWithoutMigrationOptionsMustMatch() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      try makeStore(at: url, notes: 1)
      let other = ManagedObjectModel()
      other.entities = [
        EntityDescription(
          name: "Note", properties: [AttributeDescription(name: "body", type: .string)])
      ]
      let coordinator = PersistentStoreCoordinator(managedObjectModel: other)
      let problem = error { try coordinator.addPersistentStore(type: .sqlite, at: url) }
      #expect(problem?.code == .persistentStoreIncompatibleVersionHash)
      #expect(problem?.userInfo["entities"] as? [String] == ["Note"])
      #expect(try count(at: url) == 1)
    }
  }

  @Test func metadataIsReadAndWrittenWithoutOpening() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      try makeStore(at: url, notes: 0)
      var metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
        type: .sqlite, at: url)
      #expect(metadata["NSStoreType"] as? String == "SQLite")
      let uuid = metadata["NSStoreUUID"] as? String
      #expect(uuid != nil)
      metadata["mine"] = "yes"
      try PersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: url)
      let again = try PersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
      #expect(again["mine"] as? String == "yes")
      #expect(again["NSStoreUUID"] as? String == uuid)
      let missing = folder.appendingPathComponent("missing.sqlite")
      #expect(
        error {
          _ = try PersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: missing)
        } != nil)
      #expect(!FileManager.default.fileExists(atPath: missing.path))
    }
  }

  @Test func destroyingLeavesAnEmptyStoreAndRemovesOneThatIsOpen() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      try makeStore(at: url, notes: 3)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
      try coordinator.addPersistentStore(type: .sqlite, at: url)
      // How programs start anew: destroy what is there, and add it again.
      try coordinator.destroyPersistentStore(at: url, type: .sqlite)
      #expect(coordinator.persistentStores.isEmpty)
      try coordinator.addPersistentStore(type: .sqlite, at: url)
      #expect(try count(at: url) == 0)
    }
  }

  @Test func replacingMakesACopy() throws {
    try TemporaryFolder.with { folder in
      let source = folder.appendingPathComponent("a.sqlite")
      let copy = folder.appendingPathComponent("b.sqlite")
      try makeStore(at: source, notes: 2)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
      try coordinator.replacePersistentStore(
        at: copy, withPersistentStoreFrom: source, type: .sqlite)
      #expect(try count(at: copy) == 2)
      #expect(try count(at: source) == 2)
    }
  }
}
