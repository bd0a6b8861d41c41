// Coordinators, descriptions and containers as programs use them.

import CoreData
import Synchronization
import TestSupport
import Testing

/// Chapters 20, 22.8 and II.7 of the specification.
@Suite struct CoordinatorVerbTests {
  @Test func storesAreFoundByTheirURLs() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      let coordinator = try Company.coordinator(NSSQLiteStoreType, at: file)
      let store = try #require(coordinator.persistentStore(for: file))
      #expect(coordinator.url(for: store) == file && store.type == NSSQLiteStoreType)
      let elsewhere = folder.appendingPathComponent("b.sqlite")
      #expect(coordinator.persistentStore(for: elsewhere) == nil)
      #expect(coordinator.setURL(elsewhere, for: store))
      #expect(coordinator.url(for: store) == elsewhere)
      // It moves nothing, and only the coordinator's own stores.
      #expect(!FileManager.default.fileExists(atPath: elsewhere.path))
      let other = try #require(try Company.coordinator().persistentStores.first)
      #expect(!coordinator.setURL(elsewhere, for: other))
    }
  }

  @Test func metadataAreReadWithoutOpeningTheStore() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      let coordinator = try Company.coordinator(NSSQLiteStoreType, at: file)
      let store = try #require(coordinator.persistentStores.first)
      let model = coordinator.managedObjectModel
      var metadata = coordinator.metadata(for: store)
      #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
      metadata["mine"] = "yes"
      coordinator.setMetadata(metadata, for: store)
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        _ = try Company.clerk("a", in: context)
        try context.save()
      }
      try coordinator.remove(store)
      let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: file, options: nil)
      #expect(read["mine"] as? String == "yes" && read[NSStoreTypeKey] as? String == "SQLite")
      #expect(read[NSPersistentStoreModelVersionChecksumKey] as? String == model.versionChecksum)
      #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
      #expect(
        !Company.model(extra: "more")
          .isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
    }
  }

  @Test func aStoreIsReplacedByACopyOfAnother() throws {
    try TemporaryFolder.with { folder in
      let a = folder.appendingPathComponent("a.sqlite")
      let b = folder.appendingPathComponent("b.sqlite")
      let c = folder.appendingPathComponent("c.sqlite")
      for (file, name) in [(a, "Ada"), (b, "Bea")] {
        let coordinator = try Company.coordinator(NSSQLiteStoreType, at: file)
        let context = Company.context(coordinator)
        try context.performAndWait { () throws -> Void in
          _ = try Company.clerk(name, in: context)
          try context.save()
        }
        try coordinator.remove(try #require(coordinator.persistentStores.first))
      }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      try coordinator.replacePersistentStore(
        at: b, destinationOptions: nil, withPersistentStoreFrom: a, sourceOptions: nil,
        ofType: NSSQLiteStoreType)
      // One that is not there is made.
      try coordinator.replacePersistentStore(
        at: c, destinationOptions: nil, withPersistentStoreFrom: a, sourceOptions: nil,
        type: .sqlite)
      for file in [b, c] {
        let opened = Company.context(try Company.coordinator(NSSQLiteStoreType, at: file))
        #expect(try opened.performAndWait { try Company.names(in: opened) } == ["Ada"])
      }
    }
  }

  @Test func aStoreDescriptionIsAddedWithItsHandler() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    var told = 0
    coordinator.addPersistentStore(
      with: description,
      completionHandler: { added, error in
        #expect(added === description && error == nil)
        told += 1
      })
    #expect(told == 1 && coordinator.persistentStores.count == 1)
  }

  @Test func anAsynchronousDescriptionIsAddedInTheBackground() async throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    description.shouldAddStoreAsynchronously = true
    let failed: Bool = await withCheckedContinuation { continuation in
      coordinator.addPersistentStore(with: description) { _, error in
        continuation.resume(returning: error != nil)
      }
    }
    #expect(!failed && coordinator.persistentStores.first?.type == NSInMemoryStoreType)
  }

  @Test func blocksRunOnTheCoordinatorsQueueOneAfterTheOther() async throws {
    struct Stop: Error {}
    let coordinator = try Company.coordinator()
    let order = Mutex<[Int]>([])
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      coordinator.perform({ order.withLock { $0.append(1) } })
      coordinator.performAndWait({ order.withLock { $0.append(2) } })
      coordinator.perform({
        // Within a block waiting does not block.
        coordinator.performAndWait({ order.withLock { $0.append(3) } })
        continuation.resume()
      })
    }
    #expect(order.withLock { $0 } == [1, 2, 3])
    let count = await coordinator.perform({ coordinator.persistentStores.count })
    #expect(count == 1)
    let name: String = coordinator.performAndWait({ "name" })
    #expect(name == "name")
    await #expect(throws: Stop.self) { try await coordinator.perform({ throw Stop() }) }
  }

  @Test func deferredMigrationHasNothingLeftToDo() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      let old = try Company.coordinator(NSSQLiteStoreType, at: file)
      let context = Company.context(old)
      try context.performAndWait { () throws -> Void in
        _ = try Company.clerk("Ada", in: context)
        try context.save()
      }
      try old.remove(try #require(old.persistentStores.first))
      let new = try Company.coordinator(
        NSSQLiteStoreType, at: file,
        options: [
          NSMigratePersistentStoresAutomaticallyOption: true,
          NSInferMappingModelAutomaticallyOption: true,
          NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
        ], model: Company.model(extra: "more"))
      try new.finishDeferredLightweightMigrationTask()
      try new.finishDeferredLightweightMigration()
      let opened = Company.context(new)
      try opened.performAndWait { () throws -> Void in
        let clerk = try #require(try opened.fetch(NSFetchRequest<Clerk>(entityName: "Clerk")).first)
        clerk.setValue("x", forKey: "more")
        try opened.save()
      }
    }
  }

  @Test func threadsTakeTurnsWithACoordinatorsLock() throws {
    let coordinator = try Company.coordinator()
    coordinator.lock()
    // Nested by the same thread, not by another.
    #expect(coordinator.tryLock())
    coordinator.unlock()
    let taken = Mutex<Bool?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      taken.withLock { $0 = coordinator.tryLock() }
      done.signal()
    }
    done.wait()
    #expect(taken.withLock { $0 } == false)
    coordinator.unlock()
    Thread.detachNewThread {
      taken.withLock { $0 = coordinator.tryLock() }
      done.signal()
    }
    done.wait()
    #expect(taken.withLock { $0 } == true)
  }

  @Test func aContainerLoadsItsStoresAndMakesContexts() async throws {
    #expect(NSPersistentContainer.defaultDirectoryURL().isFileURL)
    #expect(
      NSPersistentContainer.defaultDirectoryURL == NSPersistentContainer.defaultDirectoryURL())
    let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
    #expect(
      container.persistentStoreDescriptions.map(\.url) == [
        NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Company.sqlite")
      ])
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    var loaded: [NSPersistentStoreDescription] = []
    container.loadPersistentStores(completionHandler: {
      loaded.append($0); #expect($1 == nil)
    })
    #expect(loaded == [description])
    #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
    #expect(
      container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      container.performBackgroundTask({ context in
        #expect(context.concurrencyType == .privateQueueConcurrencyType)
        #expect((try? Company.clerk("Ada", in: context)) != nil)
        #expect((try? context.save()) != nil)
        continuation.resume()
      })
    }
    let names = try await container.performBackgroundTask({ try Company.names(in: $0) })
    #expect(names == ["Ada"])
  }

  @Test func aDescriptionIsCopiedWithItsOptions() throws {
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a.xml"))
    description.type = NSXMLStoreType
    description.setOption(true as NSNumber, forKey: NSValidateXMLStoreOption)
    let copy = try #require(description.copy() as? NSPersistentStoreDescription)
    copy.setOption(nil, forKey: NSValidateXMLStoreOption)
    #expect(description.options[NSValidateXMLStoreOption] == true as NSNumber)
    #expect(copy.options[NSValidateXMLStoreOption] == nil && copy.type == "XML")
    #expect(NSPersistentStore.StoreType.xml.rawValue == NSXMLStoreType)
    #expect(NSPersistentStore.StoreType(rawValue: "SQLite") == .sqlite)
  }
}
