// Migrating a store when it is added: where the source model comes from, and what is refused.

import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct AutomaticMigrationTests {
  private let options: [AnyHashable: Any] = [
    StoreOptionKey.migrateAutomatically: NSNumber(value: true),
    StoreOptionKey.inferMappingModel: NSNumber(value: true),
  ]

  /// A store of a model version, closed.
  private func store(_ model: ManagedObjectModel, in folder: URL) throws -> URL {
    let url = folder.appendingPathComponent("\(UUID().uuidString).store")
    let coordinator = Fixture.coordinator(model, migrates: true)
    let store = try coordinator.addPersistentStore(
      ofType: FileStoreKind.typeName, configurationName: nil, at: url)
    try coordinator.remove(store)
    return url
  }

  private func open(
    _ url: URL, _ model: ManagedObjectModel, _ options: [AnyHashable: Any], migrates: Bool = true
  ) throws {
    _ = try Fixture.coordinator(model, migrates: migrates).addPersistentStore(
      ofType: FileStoreKind.typeName, configurationName: nil, at: url, options: options)
  }

  private func migrations(of url: URL) -> Int {
    FileStoreLog.shared.state.withLock { log in log.migrations.filter { $0 == url.path }.count }
  }

  @Test func theModelThatTheStoreRemembersIsTheSource() throws {
    let folder = try TemporaryFolder()
    let url = try store(Fixture.noteModel(), in: folder.url)
    try open(url, Fixture.noteModel(version: 2), options)
    #expect(migrations(of: url) == 1)
    try open(url, Fixture.noteModel(version: 2), options)
    #expect(migrations(of: url) == 1)
  }

  @Test func progressGoesFromZeroToOne() throws {
    let folder = try TemporaryFolder()
    let url = try store(Fixture.noteModel(), in: folder.url)
    let reports = Mutex<[Double]>([])
    let description = PersistentStoreDescription(url: url)
    description.type = FileStoreKind.typeName
    description.progressReport = { fraction in reports.withLock { $0.append(fraction) } }
    Fixture.coordinator(Fixture.noteModel(version: 2), migrates: true)
      .addPersistentStore(with: description) { _, error in #expect(error == nil) }
    #expect(reports.withLock { $0.first } == 0)
    #expect(reports.withLock { $0.last } == 1)
  }

  /// Another program that migrates a store when this one has read its metadata.
  private struct OtherProgram: StoreMigrating {
    let migrateMeanwhile: @Sendable () throws -> Void

    func model(withEntityHashes hashes: [String: Data]) -> ManagedObjectModel? { nil }
    func runStages(_ request: StoreMigrationRequest) throws -> Bool {
      try migrateMeanwhile()
      return false
    }
    func migrate(_ request: StoreMigrationRequest, from source: ManagedObjectModel) throws -> Bool {
      false
    }
    func removeLeftovers(of store: URL) {}
  }

  @Test func aStoreThatAnotherProgramHasMigratedMeanwhileIsOpened() throws {
    let folder = try TemporaryFolder()
    let url = try store(Fixture.noteModel(), in: folder.url)
    let options = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
    ]
    let other = OtherProgram {
      _ = try Fixture.coordinator(Fixture.noteModel(version: 2), migrates: true)
        .addPersistentStore(
          ofType: FileStoreKind.typeName, configurationName: nil, at: url, options: options)
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Fixture.noteModel(version: 2), storeKinds: [.migratingFile],
      migrator: other)
    let store = try coordinator.addPersistentStore(
      ofType: FileStoreKind.typeName, configurationName: nil, at: url, options: options)
    #expect(migrations(of: url) == 1, "by the other one")
    try coordinator.remove(store)
  }

  @Test func withoutASourceModelTheErrorSaysSo() throws {
    let folder = try TemporaryFolder()
    let url = try store(Fixture.noteModel(), in: folder.url)
    FileStoreLog.shared.state.withLock { $0.cachedModels[url.path] = nil }
    #expect(
      Fixture.code { try open(url, Fixture.noteModel(version: 2), options) }
        == .migrationMissingSourceModel)
    #expect(migrations(of: url) == 0)
    var given = options
    given[StoreOptionKey.migrationSourceModels] = [Fixture.noteModel()]
    try open(url, Fixture.noteModel(version: 2), given)
    #expect(migrations(of: url) == 1)
  }

  @Test func withoutInferenceThereIsNoMapping() throws {
    let folder = try TemporaryFolder()
    let url = try store(Fixture.noteModel(), in: folder.url)
    var options = options
    options[StoreOptionKey.inferMappingModel] = NSNumber(value: false)
    #expect(
      Fixture.code { try open(url, Fixture.noteModel(version: 2), options) }
        == .migrationMissingMappingModel)
  }

  @Test func aKindThatCannotMigrateSaysSo() throws {
    let folder = try TemporaryFolder()
    let url = try store(Fixture.noteModel(), in: folder.url)
    #expect(
      Fixture.code { try open(url, Fixture.noteModel(version: 2), options, migrates: false) }
        == .migrationMissingMappingModel)
  }

  @Test func aReadOnlyStoreIsNotMigrated() throws {
    let folder = try TemporaryFolder()
    let url = try store(Fixture.noteModel(), in: folder.url)
    var options = options
    options[StoreOptionKey.readOnly] = NSNumber(value: true)
    #expect(
      Fixture.code { try open(url, Fixture.noteModel(version: 2), options) }
        == .persistentStoreIncompatibleVersionHash)
    #expect(migrations(of: url) == 0)
  }

  @Test(arguments: [false, true])
  func aStoreOfAnUnknownNewerModelIsRefusedAndUnchanged(extraEntity: Bool) throws {
    let folder = try TemporaryFolder()
    let newer = Fixture.noteModel(version: extraEntity ? 1 : 2, extraEntity: extraEntity)
    let url = try store(newer, in: folder.url)
    let before = try Data(contentsOf: url)
    do {
      try open(url, Fixture.noteModel(), options)
      Issue.record("did not throw")
    } catch let error as CoreDataError {
      #expect(error.code == .migrationMissingSourceModel)
      #expect(error.message.contains(extraEntity ? "Extra" : "Note.date"))
    }
    #expect(try Data(contentsOf: url) == before)
    #expect(migrations(of: url) == 0)
  }

  @Test func aKnownVersionMayLoseWhatTheModelDrops() throws {
    let folder = try TemporaryFolder()
    let url = try store(Fixture.noteModel(version: 2), in: folder.url)
    var options = options
    options[StoreOptionKey.migrationSourceModels] = [Fixture.noteModel(version: 2)]
    try open(url, Fixture.noteModel(), options)
    #expect(migrations(of: url) == 1)
  }
}
