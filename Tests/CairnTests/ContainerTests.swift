// The container: where models and stores are looked for, and how loading reports.

import Cairn
import TestSupport
@testable import CairnStack
import Foundation
import Testing

/// A container whose default folder is a test's own.
private final class FolderContainer: PersistentContainer, @unchecked Sendable {
  // Unchecked: no state of its own; the task-local value is the test's.
  @TaskLocal static var folder = URL(fileURLWithPath: "/nonexistent")
  override class func defaultDirectoryURL() -> URL { folder }
}

@Suite struct ContainerTests {
  private func model() -> ManagedObjectModel {
    let note = EntityDescription(
      name: "Note", properties: [AttributeDescription(name: "text", type: .string)])
    let model = ManagedObjectModel()
    model.entities = [note]
    return model
  }

  @Test func storesAtDevNullAreSeparateAndKeptByNobody() throws {
    func container() -> PersistentContainer {
      let container = PersistentContainer(name: "Notes", managedObjectModel: model())
      container.persistentStoreDescriptions = [
        PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
      ]
      container.loadPersistentStores { _, error in #expect(error == nil) }
      return container
    }
    let (one, other) = (container(), container())
    let context = one.newBackgroundContext()
    try context.performAndWait {
      EntityDescription.insertNewObject(forEntityName: "Note", into: context)
        .setValue("a", forKey: "text")
      try context.save()
    }
    for (container, count) in [(one, 1), (other, 0)] {
      let reader = container.newBackgroundContext()
      let found = try reader.performAndWait {
        try reader.count(for: FetchRequest<ManagedObject>(entityName: "Note"))
      }
      #expect(found == count)
    }
    let store = try #require(one.persistentStoreCoordinator.persistentStores.first)
    #expect(store.type == StoreTypeName.sqlite && store.url?.path == "/dev/null")
    try one.persistentStoreCoordinator.remove(store)
    let again = try one.persistentStoreCoordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
    let left = try context.performAndWait {
      context.reset()
      return try context.count(for: FetchRequest<ManagedObject>(entityName: "Note"))
    }
    #expect(left == 0)
    try one.persistentStoreCoordinator.remove(again)
  }

  @Test func theDefaultStoreIsMadeInTheDefaultFolder() throws {
    try TemporaryFolder.with { folder in
      let home = folder.appendingPathComponent("made/for/it")
      FolderContainer.$folder.withValue(home) {
        let container = FolderContainer(name: "Notes", managedObjectModel: model())
        var calls = 0
        container.loadPersistentStores { _, error in
          calls += 1
          #expect(error == nil)
        }
        #expect(calls == 1)
        container.loadPersistentStores { _, _ in calls += 1 }
        #expect(calls == 1)
        #expect(
          FileManager.default.fileExists(
            atPath: home.appendingPathComponent("Notes.sqlite").path))
      }
    }
  }

  @Test func oneFailureDoesNotStopTheOthers() throws {
    try TemporaryFolder.with { folder in
      let container = PersistentContainer(name: "Notes", managedObjectModel: model())
      container.persistentStoreDescriptions = ["missing/a.sqlite", "b.sqlite"].map {
        PersistentStoreDescription(url: folder.appendingPathComponent($0))
      }
      var results: [Bool] = []
      container.loadPersistentStores { _, error in results.append(error == nil) }
      #expect(results == [false, true])
      #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }
  }

  @Test func aMissingModelIsReportedWhenStoresAreLoaded() throws {
    try TemporaryFolder.with { folder in
      let container = PersistentContainer(
        name: "Nowhere", lookup: ModelLookup(name: "Nowhere", folders: [folder]))
      var messages: [String] = []
      container.loadPersistentStores { _, error in messages.append("\(String(describing: error))") }
      #expect(messages.count == 1)
      #expect(messages.first?.contains("Nowhere") ?? false)
      #expect(messages.first?.contains(folder.path) ?? false)
    }
  }

  @Test func xcodeSourcesAreFoundByName() throws {
    try TemporaryFolder.with { folder in
      let version = folder.appendingPathComponent("Notes.xcdatamodeld/Notes.xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      let source = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="Note" representedClassName="Note" syncable="YES">
            <attribute name="text" optional="YES" attributeType="String"/>
          </entity>
        </model>
        """
      try Data(source.utf8).write(to: version.appendingPathComponent("contents"))
      let model = try ModelLookup(name: "Notes", folders: [folder]).model()
      #expect(model.entitiesByName["Note"]?.attributesByName["text"]?.attributeType == .string)
    }
  }

  @Test func asynchronousStoresCallTheHandlerOnce() async throws {
    let container = PersistentContainer(name: "Notes", managedObjectModel: model())
    let description = PersistentStoreDescription()
    description.type = "InMemory"
    description.shouldAddStoreAsynchronously = true
    container.persistentStoreDescriptions = [description]
    let (results, feed) = AsyncStream.makeStream(of: Bool.self)
    container.loadPersistentStores { _, error in
      feed.yield(error == nil)
      feed.finish()
    }
    var seen: [Bool] = []
    for await result in results { seen.append(result) }
    #expect(seen == [true])
    let count = try await container.performBackgroundTask { context in
      _ = EntityDescription.insertNewObject(forEntityName: "Note", into: context)
      try context.save()
      return try context.count(for: FetchRequest<ManagedObject>(entityName: "Note"))
    }
    #expect(count == 1)
  }
}
