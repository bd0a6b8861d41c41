// Adding stores: what is refused, with which code, and that nothing is changed then.

import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import TestSupport
import Testing

@Suite struct StoreOpeningTests {
  private func add(
    _ coordinator: PersistentStoreCoordinator, at url: URL?, type: String = FileStoreKind.typeName,
    configuration: String? = nil, options: [AnyHashable: Any]? = nil
  ) throws -> PersistentStore {
    try coordinator.addPersistentStore(
      ofType: type, configurationName: configuration, at: url, options: options)
  }

  @Test func anUnknownTypeNamesTheKnownOnes() throws {
    let coordinator = Fixture.coordinator()
    do {
      _ = try add(coordinator, at: nil, type: "Nonsense")
      Issue.record("did not throw")
    } catch let error as CoreDataError {
      #expect(error.code == .persistentStoreInvalidType)
      #expect(error.message.contains("InMemory"))
    }
  }

  @Test func aModelWithProblemsIsRefusedWithAllOfThem() throws {
    let model = ManagedObjectModel()
    model.entities = [EntityDescription(name: "A"), EntityDescription(name: "A")]
    let coordinator = Fixture.coordinator(model)
    #expect(throws: ModelError.self) {
      _ = try add(coordinator, at: nil, type: StoreTypeName.inMemory)
    }
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func theSameFileCannotBeOpenedTwice() throws {
    let folder = try TemporaryFolder()
    let coordinator = Fixture.coordinator()
    let url = folder.fileURL("a.store")
    _ = try add(coordinator, at: url)
    let other = folder.fileURL("x/../a.store")
    #expect(Fixture.code { _ = try add(coordinator, at: url) } == .persistentStoreOpen)
    #expect(Fixture.code { _ = try add(coordinator, at: other) } == .persistentStoreOpen)
    #expect(coordinator.persistentStores.count == 1)
  }

  @Test func aCopyOfAnOpenStoreIsRefusedForItsUUID() throws {
    let folder = try TemporaryFolder()
    let coordinator = Fixture.coordinator()
    let url = folder.fileURL("a.store")
    let copy = folder.fileURL("b.store")
    _ = try add(coordinator, at: url)
    try FileManager.default.copyItem(at: url, to: copy)
    #expect(Fixture.code { _ = try add(coordinator, at: copy) } == .persistentStoreOpen)
  }

  @Test func aMissingFolderIsAnErrorAndIsNotCreated() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("missing/a.store")
    #expect(
      Fixture.code { _ = try add(Fixture.coordinator(), at: url) } == .persistentStoreOpen)
    #expect(
      !FileManager.default.fileExists(atPath: folder.fileURL("missing").path))
  }

  @Test func anUnknownConfigurationIsRefused() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("a.store")
    let code = Fixture.code {
      _ = try add(Fixture.coordinator(), at: url, configuration: "Nonsense")
    }
    #expect(code == .persistentStoreIncompatibleSchema)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test func aReadOnlyStoreMustExist() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("a.store")
    let options = [StoreOptionKey.readOnly: NSNumber(value: true)]
    #expect(
      Fixture.code { _ = try add(Fixture.coordinator(), at: url, options: options) }
        == .persistentStoreOpen)
    _ = try add(Fixture.coordinator(), at: url)
    let coordinator = Fixture.coordinator()
    let store = try add(coordinator, at: url, options: options)
    #expect(store.isReadOnly)
    #expect(
      Fixture.code { try Fixture.insert(["x"], into: store, of: coordinator) }
        == .persistentStoreSave)
  }

  @Test func aFileThatIsNoStoreIsRefusedAndUnchanged() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("a.store")
    let junk = Data("no store at all".utf8)
    try junk.write(to: url)
    #expect(
      Fixture.code { _ = try add(Fixture.coordinator(), at: url) } == .persistentStoreInvalidType)
    #expect(try Data(contentsOf: url) == junk)
  }

  @Test func aStoreOfAnotherTypeIsRefused() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("a.store")
    try FileStoreKind.write(
      [StoreMetadataKey.type: "XML", StoreMetadataKey.uuid: UUID().uuidString], to: url)
    #expect(
      Fixture.code { _ = try add(Fixture.coordinator(), at: url) } == .persistentStoreTypeMismatch)
  }

  @Test func anotherModelVersionIsRefusedWithReasonAndNames() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("a.store")
    _ = try add(Fixture.coordinator(), at: url)
    let before = try Data(contentsOf: url)
    do {
      _ = try add(Fixture.coordinator(Fixture.noteModel(version: 2)), at: url)
      Issue.record("did not throw")
    } catch let error as CoreDataError {
      #expect(error.code == .persistentStoreIncompatibleVersionHash)
      #expect(error.userInfo["reason"] is String)
      #expect(error.userInfo["metadata"] is [String: Any])
      #expect(error.userInfo["entities"] as? [String] == ["Note"])
    }
    #expect(try Data(contentsOf: url) == before)
    let options = [StoreOptionKey.ignoreVersioning: NSNumber(value: true)]
    _ = try add(
      Fixture.coordinator(Fixture.noteModel(version: 2)), at: url, options: options)
  }

  /// Very old ones name none; whether they fit is for the store to find.
  @Test func aStoreWithoutVersionHashesIsLeftToItsKind() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("a.store")
    let identifier = UUID().uuidString
    try FileStoreKind.write(
      [StoreMetadataKey.type: FileStoreKind.typeName, StoreMetadataKey.uuid: identifier], to: url)
    #expect(try add(Fixture.coordinator(), at: url).identifier == identifier)
  }

  @Test func inMemoryStoresNeedNoURLAndMayShareOne() throws {
    let coordinator = Fixture.coordinator()
    let url = URL(fileURLWithPath: "/dev/null")
    _ = try add(coordinator, at: nil, type: StoreTypeName.inMemory)
    _ = try add(coordinator, at: url, type: StoreTypeName.inMemory)
    _ = try add(coordinator, at: url, type: StoreTypeName.inMemory)
    #expect(coordinator.persistentStores.count == 3)
  }

  @Test func synchronousDescriptionsCallTheHandlerBeforeReturning() throws {
    let coordinator = Fixture.coordinator()
    let description = PersistentStoreDescription()
    description.type = StoreTypeName.inMemory
    var calls = 0
    coordinator.addPersistentStore(with: description) { given, error in
      calls += 1
      #expect(given === description)
      #expect(error == nil)
    }
    #expect(calls == 1)
  }

  @Test func asynchronousDescriptionsCallTheHandlerOnceFromElsewhere() async throws {
    let folder = try TemporaryFolder()
    let coordinator = Fixture.coordinator()
    for (name, succeeds) in [("a.store", true), ("missing/b.store", false)] {
      let (results, feed) = AsyncStream.makeStream(of: Bool.self)
      let description = PersistentStoreDescription(url: folder.fileURL(name))
      description.type = FileStoreKind.typeName
      description.shouldAddStoreAsynchronously = true
      coordinator.addPersistentStore(with: description) { _, error in
        feed.yield(error == nil)
        feed.finish()
      }
      var seen: [Bool] = []
      for await result in results { seen.append(result) }
      #expect(seen == [succeeds])
    }
    #expect(coordinator.persistentStores.count == 1)
  }

  @Test func oneFileAddedFromManyThreadsIsOpenedOnce() throws {
    let folder = try TemporaryFolder()
    let coordinator = Fixture.coordinator()
    let url = folder.fileURL("a.store")
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      _ = try? coordinator.addPersistentStore(
        ofType: FileStoreKind.typeName, configurationName: nil, at: url)
    }
    #expect(coordinator.persistentStores.count == 1)
  }

  @Test func descriptionDefaultsAreCoreDatas() {
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a"))
    #expect(description.type == "SQLite")
    #expect(description.configuration == nil)
    #expect(!description.isReadOnly)
    #expect(description.timeout == 240)
    #expect(description.sqlitePragmas.isEmpty)
    #expect(!description.shouldAddStoreAsynchronously)
    #expect(description.shouldMigrateStoreAutomatically)
    #expect(description.shouldInferMappingModelAutomatically)
    description.setValue(NSString("OFF"), forPragmaNamed: "synchronous")
    description.setOption(NSNumber(value: true), forKey: StoreOptionKey.historyTracking)
    let copy = description.copy() as? PersistentStoreDescription
    #expect(copy?.options == description.options)
    let options = StoreOptions(copy?.storeOptions)
    #expect(options.tracksHistory && options.migratesAutomatically && options.infersMappingModel)
    #expect(options.sqlitePragmas == ["synchronous": "OFF"])
  }
}
