// What a SQLite store does for pinned contexts: transactions that stay open, and their end.
import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Chapter 19 of the specification, SQLite.
@Suite struct HeldGenerationTests {
  private final class Files: Sendable {
    let coordinator: PersistentStoreCoordinator
    let store: PersistentStore
    private let folder: TemporaryFolder
    let url: URL

    init(_ options: [AnyHashable: Any] = [:]) throws {
      folder = try TemporaryFolder()
      url = folder.fileURL("Library.sqlite")
      coordinator = PersistentStoreCoordinator(
        managedObjectModel: Library.model(), storeKinds: [SQLiteStoreKind()])
      store = try coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil, at: url, options: options)
    }

    deinit { try? coordinator.remove(store) }

    func context() -> ManagedObjectContext {
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }

    /// Adds books with long titles.
    func write(_ count: Int) throws {
      let context = context()
      try context.performAndWait {
        for index in 0..<count {
          context.make("Book", ["title": String(repeating: "x", count: 4000) + "\(index)"])
        }
        try context.save()
      }
    }

    var logSize: Int {
      let facts = try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")
      return (facts?[.size] as? NSNumber)?.intValue ?? 0
    }
  }

  private func count(_ context: ManagedObjectContext) throws -> Int {
    try context.count(for: FetchRequest<ManagedObject>(entityName: "Book"))
  }

  @Test func anOldGenerationIsGivenUpOnceTheLogIsLong() async throws {
    let files = try Files([
      StoreOptionKey.queryGenerationMaximumAge: 0.05,
      StoreOptionKey.queryGenerationLogSize: 200_000,
    ])
    // As old, but its log may grow.
    let patient = try Files([StoreOptionKey.queryGenerationMaximumAge: 0.05])
    let (context, other) = (files.context(), patient.context())
    for (files, context) in [(files, context), (patient, other)] {
      try files.write(1)
      try context.performAndWait {
        try context.setQueryGenerationFrom(.current)
        #expect(try count(context) == 1)
      }
      try files.write(100)
      #expect(files.logSize > 200_000)
    }
    #expect(await eventually { context.performAndWait { (try? count(context)) == nil } })
    #expect(try other.performAndWait { try count(other) } == 1)
    try context.performAndWait {
      let error = #expect(throws: (any Error).self) { try count(context) }
      #expect(String(describing: error).contains("setQueryGenerationFrom"))
      #expect(throws: (any Error).self) {
        try context.setQueryGenerationFrom(context.queryGenerationToken)
      }
      // As told: pin again, refresh, go on.
      try context.setQueryGenerationFrom(.current)
      context.refreshAllObjects()
      #expect(try count(context) == 101)
    }
  }

  @Test func aCopyOfAStoreTakesLongerThanAPinnedGenerationMay() throws {
    let files = try Files([
      StoreOptionKey.queryGenerationMaximumAge: 0, StoreOptionKey.queryGenerationLogSize: 0,
    ])
    try files.write(2000)
    #expect(files.logSize > 0)
    let copy = try files.coordinator.migratePersistentStore(
      files.store, to: files.url.appendingPathExtension("copy"), withType: StoreTypeName.sqlite)
    defer { try? files.coordinator.remove(copy) }
    let context = files.context()
    #expect(try context.performAndWait { try count(context) } == 2000)
  }

  @Test func whileAGenerationIsHeldOthersWriteAndTheLogEndsWithIt() throws {
    let files = try Files()
    let context = files.context()
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try count(context) == 0)
      for _ in 0..<4 { try files.write(400) }
      #expect(try count(context) == 0)
      let grown = files.logSize
      #expect(grown > 6_000_000)
      try context.setQueryGenerationFrom(nil)
      #expect(try count(context) == 1600)
      // SQLite starts the log anew: it does not grow any more.
      try files.write(400)
      try files.write(400)
      try files.write(10)
      #expect(files.logSize <= grown + 2_500_000)
    }
  }

  @Test func aStoreThatIsRemovedEndsItsGenerations() throws {
    let files = try Files()
    let context = files.context()
    let token = try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try count(context) == 0)
      return try #require(context.queryGenerationToken)
    }
    try files.coordinator.remove(files.store)
    #expect(throws: (any Error).self) { try token.checkUse(with: [files.store]) }
  }

  @Test func generationsUseConnectionsAgain() throws {
    let files = try Files()
    try files.write(1)
    let context = files.context()
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try count(context) == 1)
      let before = try descriptors()
      for index in 0..<200 {
        context.make("Book", ["title": "\(index)"])
        try context.save()
        #expect(try count(context) == index + 2)
      }
      // Other tests open files of their own meanwhile.
      #expect(try descriptors() < before + 150)
    }
  }

  @Test func aStoreWithARollbackJournalIsReadAsItIs() throws {
    let files = try Files([StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"]])
    try files.write(1)
    let context = files.context()
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try count(context) == 1)
      try files.write(1)
      #expect(try count(context) == 2)
    }
  }

  @Test func largeValuesInFilesStayReadable() throws {
    let model = ManagedObjectModel()
    let entity = EntityDescription(name: "Photo")
    let image = AttributeDescription(name: "image", type: .binaryData, isOptional: true)
    image.allowsExternalBinaryDataStorage = true
    entity.properties = [image]
    model.entities = [entity]
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [SQLiteStoreKind()])
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil,
      at: folder.fileURL("Photos.sqlite"), options: nil)
    defer { try? coordinator.remove(store) }
    func context() -> ManagedObjectContext {
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    func files() -> Int {
      let path = folder.fileURL(".Photos_SUPPORT/_EXTERNAL_DATA").path
      return (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
    }
    let (first, second) = (Data(repeating: 1, count: 300_000), Data(repeating: 2, count: 300_000))
    let (reader, writer) = (context(), context())
    let id = try writer.performAndWait {
      let photo = writer.make("Photo", ["image": first])
      try writer.save()
      return photo.objectID
    }
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(try reader.count(for: FetchRequest<ManagedObject>(entityName: "Photo")) == 1)
      try writer.performAndWait {
        try writer.existingObject(with: id).setValue(second, forKey: "image")
        try writer.save()
      }
      #expect(try reader.existingObject(with: id).value(forKey: "image") as? Data == first)
      #expect(files() == 2)
      try reader.setQueryGenerationFrom(nil)
      #expect(files() == 1)
      reader.refreshAllObjects()
      #expect(try reader.existingObject(with: id).value(forKey: "image") as? Data == second)
    }
  }

  @Test func readsAndWritesDoNotWaitForEachOther() throws {
    let files = try Files()
    try files.write(5)
    let context = files.context()
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try count(context) == 5)
      let writer = files.context()
      let isDone = DispatchSemaphore(value: 0)
      writer.perform {
        for index in 0..<50 {
          writer.make("Book", ["title": "\(index)"])
          try? writer.save()
        }
        isDone.signal()
      }
      // While this queue is inside of the pinned context, the writer finishes.
      #expect(isDone.wait(timeout: .now() + 240) == .success)
      #expect(try count(context) == 5)
    }
  }
}
