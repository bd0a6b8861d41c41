// What a migration leaves beside the store when its program dies.

import Cairn
import CairnPlatform
import Foundation
import TestSupport
import Testing

/// Specification: operations.md 3.3 – nothing is left of what a crash broke off.
@Suite struct MigrationFolderTests {
  private func leftFolder(of store: URL) throws -> URL {
    let folder = store.deletingLastPathComponent()
      .appendingPathComponent(".\(store.lastPathComponent).migrating")
      .appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data([1]).write(to: folder.appendingPathComponent(store.lastPathComponent))
    return folder
  }

  private func open(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws {
    try Shelf.with(Shelf.first(), "SQLite", url, options) { _ in }
  }

  @Test func openingRemovesWhatAMigrationLeft() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    _ = try leftFolder(of: url)
    _ = try leftFolder(of: url)
    try open(url)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == before)
  }

  @Test func whatAMigrationNeedsThatIsUnderWayStays() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    let (left, needed) = (try leftFolder(of: url), try leftFolder(of: url))
    let lock = try #require(try AdvisoryLock.attempt(folder: needed.path))
    try open(url)
    #expect(!FileManager.default.fileExists(atPath: left.path))
    #expect(FileManager.default.fileExists(atPath: needed.path))
    lock.release()
    try open(url)
    #expect(!FileManager.default.fileExists(atPath: needed.deletingLastPathComponent().path))
  }

  @Test func neitherReadingOnlyNorForeignFilesAreTouched() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    let left = try leftFolder(of: url)
    try open(url, [StoreOptionKey.readOnly: true])
    #expect(FileManager.default.fileExists(atPath: left.path))
    let foreign = left.deletingLastPathComponent().appendingPathComponent("notes")
    try Data([1]).write(to: foreign)
    try open(url)
    #expect(!FileManager.default.fileExists(atPath: left.path))
    #expect(FileManager.default.fileExists(atPath: foreign.path))
  }

  /// The folder is there, and locked, for as long as the migration runs.
  @Test func aMigrationLocksItsFolder() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    let parent = folder.fileURL(".\(url.lastPathComponent).migrating")
    let seen = Seen()
    let report: @Sendable (Double) -> Void = { _ in
      for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] {
        let lock = try? AdvisoryLock.attempt(folder: parent.appendingPathComponent(name).path)
        seen.add(isLocked: lock == nil)
      }
    }
    let mapping = MappingModel()
    mapping.entityMappings = try MappingModel.inferredMappingModel(
      forSourceModel: Shelf.first(), destinationModel: Shelf.grown()
    ).entityMappings
    let options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true,
      StoreOptionKey.migrationSourceModels: [Shelf.first()],
      StoreOptionKey.migrationMappingModels: [mapping],
      StoreOptionKey.migrationProgress: report,
    ]
    try Shelf.with(Shelf.grown(), "SQLite", url, options) { _ in }
    #expect(seen.all.contains(true) && !seen.all.contains(false))
    #expect(!FileManager.default.fileExists(atPath: parent.path))
  }
}

// Unchecked: used by the one thread that migrates.
private final class Seen: @unchecked Sendable {
  private(set) var all: [Bool] = []
  func add(isLocked: Bool) { all.append(isLocked) }
}
