// Migrates a store file, with a copy kept beside it.

import Cairn
import CairnModel
import CairnStore
import Foundation

/// Brings a store file from the version that it has to another.
///
/// The file is of the old version or of the new one at every moment, whatever ends the process: a
/// lightweight migration is one transaction of the database, one by mapping model makes a file beside and
/// puts it in place last.
public struct FileMigration {
  public let path: String
  public let source: ManagedObjectModel
  public let destination: ManagedObjectModel
  /// Nil for a lightweight migration.
  public let mapping: MappingModel?
  /// Seconds to wait for a lock of the file.
  public let timeout: Double

  public init(
    path: String, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    mapping: MappingModel?, timeout: Double
  ) {
    self.path = path
    self.source = source
    self.destination = destination
    self.mapping = mapping
    self.timeout = timeout
  }

  private var url: URL { URL(fileURLWithPath: path) }

  /// Copies the store into a new folder beside it, for its user alone.
  ///
  /// - Returns: The copy's path.
  /// - Throws: `CoreDataError` or `CocoaError`; then there is no copy.
  public func copy(into folder: String) throws -> String {
    let type = try ReadOnlyStore.type(of: path)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let copy = URL(fileURLWithPath: folder).appendingPathComponent(url.lastPathComponent)
    do {
      try PersistentStoreCoordinator(managedObjectModel: source).replacePersistentStore(
        at: copy, withPersistentStoreFrom: url, ofType: type)
      try check(copy, type, model: source)
      return copy.path
    } catch {
      try? FileManager.default.removeItem(atPath: folder)
      throw error
    }
  }

  /// Migrates.
  ///
  /// - Parameter progress: Called with 0 to 1, on any thread.
  /// - Throws: `CoreDataError`; the store is as it was then.
  public func run(progress: @escaping @Sendable (Double) -> Void) throws {
    let type = try ReadOnlyStore.type(of: path)
    var options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      StoreOptionKey.migrationSourceModels: [source], StoreOptionKey.timeout: timeout,
      StoreOptionKey.sqlitePragmas: ["synchronous": "FULL"],
      StoreOptionKey.migrationProgress: progress,
    ]
    if let mapping { options[StoreOptionKey.migrationMappingModels] = [mapping] }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: destination)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options)
    try coordinator.remove(store)
  }

  /// Reads all of what was made.
  ///
  /// - Throws: `CoreDataError` for a file with damage.
  public func check() throws {
    try check(url, ReadOnlyStore.type(of: path), model: destination)
  }

  /// - Throws: `CoreDataError` for a file with damage.
  private func check(_ url: URL, _ type: String, model: ManagedObjectModel) throws {
    guard type == StoreTypeName.sqlite else { return }
    let inspection = try StoreInspection(
      contentsOf: url, model: model, checks: true, timeout: timeout)
    guard let first = inspection.damage.first else { return }
    throw CoreDataError(
      .sqlite, "\(url.path) is damaged: \(first.description)",
      userInfo: [NSFilePathErrorKey: url.path])
  }
}
