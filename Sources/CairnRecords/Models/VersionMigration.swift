// Migrates a store, with a copy kept.

import Cairn
import CairnModel
import CairnStore
import Foundation

/// Brings a store from the version that it has to another.
///
/// A file is of the old version or of the new one at every moment, whatever ends the process: a
/// lightweight migration is one transaction of the database; one by mapping model, or through other versions,
/// makes a file beside and puts it in place last. A store at a server takes each version on the way in a transaction of
/// its own.
public struct VersionMigration {
  public let route: MigrationRoute
  /// Seconds to wait for a lock of the file.
  public let timeout: Double
  /// More options to open the migrated file with.
  private let options: [AnyHashable: Any]

  public init(
    route: MigrationRoute, timeout: Double, options: [AnyHashable: Any] = [:]
  ) {
    self.route = route
    self.timeout = timeout
    self.options = options
  }

  private var location: StoreLocation { route.location }
  private var url: URL { location.url }

  /// Copies the store into a new folder, for its user alone, which is there once the copy is whole and durable.
  ///
  /// What a database holds is copied into a SQLite store, without what sync keeps in it.
  ///
  /// - Returns: The copy's path.
  /// - Throws: `CoreDataError`, `CocoaError` or ``CairnPlatform/PlatformError``; then there is no copy.
  private func copy(into folder: String) throws -> String {
    let new = URL(fileURLWithPath: folder)
    let name = location.isFile ? url.lastPathComponent : "copy.sqlite"
    StagedFolder.removeLeftovers(in: new.deletingLastPathComponent().path, of: "\(name).")
    let staging = try StagedFolder(for: folder)
    defer { staging.discard() }
    let copy = URL(fileURLWithPath: staging.path).appendingPathComponent(name)
    if location.isFile {
      try Self.copy(url, to: copy, ofType: location.type, model: route.old.model)
    } else {
      try copyRecords(to: copy)
    }
    let type = location.isFile ? location.type : StoreTypeName.sqlite
    try check(copy, type, model: route.old.model)
    try staging.publish()
    return new.appendingPathComponent(name).path
  }

  /// Copies what the tables of a database hold.
  private func copyRecords(to copy: URL) throws {
    let source = try ReadOnlyStore(location, using: route.old.model)
    guard let store = source.coordinator.persistentStores.first else { return }
    let copied = try source.coordinator.migratePersistentStore(
      store, to: copy, withType: StoreTypeName.sqlite)
    try source.coordinator.remove(copied)
  }

  private static func copy(
    _ store: URL, to copy: URL, ofType type: String, model: ManagedObjectModel
  ) throws {
    try PersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
      at: copy, withPersistentStoreFrom: store, ofType: type)
  }

  // MARK: Looking

  /// What each step of the way would do; up to the first that cannot be done.
  ///
  /// The method tries the steps before the last on a copy, which it removes. It does not copy a database, and returns
  /// the plan of the first step alone.
  ///
  /// - Parameter progress: Called with 0 to 1 while that is done, on any thread.
  /// - Throws: `ReadOnlyStoreError` or `CoreDataError` for a store that cannot be read or copied.
  public func plans(
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) throws -> [VersionMigrationPlan] {
    var plans = [try VersionMigrationPlan(at: location, step: route.steps[0])]
    guard location.isFile, route.steps.count > 1, plans[0].obstacles.isEmpty else { return plans }
    let steps = Double(route.steps.count)
    try onCopy { copy in
      for (index, step) in route.steps.dropLast().enumerated() {
        try migrate(copy, step) { progress((Double(index) + $0) / steps) }
        plans.append(
          try VersionMigrationPlan(
            at: StoreLocation(url: copy, type: location.type), step: route.steps[index + 1],
            of: location.text))
        if !plans[index + 1].obstacles.isEmpty { break }
      }
    }
    return plans
  }

  /// Runs work on a copy in a folder beside the store, or among temporary files where none can be made.
  private func onCopy(_ work: (URL) throws -> Void) throws {
    let elsewhere = FileManager.default.temporaryDirectory
      .appendingPathComponent(url.lastPathComponent)
    let folder = try (try? MigrationFolder(for: url)) ?? MigrationFolder(for: elsewhere)
    defer { folder.remove() }
    let copy = folder.url.appendingPathComponent(url.lastPathComponent)
    try Self.copy(url, to: copy, ofType: location.type, model: route.old.model)
    try work(copy)
  }

  // MARK: Migrating

  /// Migrates.
  ///
  /// Others can read a database meanwhile, and write to it only afterwards where a copy is kept: nothing is lost that is
  /// not in the copy. Of a file the caller sees to that.
  ///
  /// - Parameters:
  ///   - folder: A new folder for a copy of the store as it was; nil for none.
  ///   - progress: Called with 0 to 1, on any thread.
  /// - Returns: The copy's path.
  /// - Throws: `CoreDataError`, and what copying throws; the store is as it was then and there is no copy. A database may
  ///   be of a version on the way; then there is the copy, which the error names.
  public func run(
    keeping folder: String?, progress: @escaping @Sendable (Double) -> Void
  ) throws -> String? {
    var stepsDone = 0
    guard let folder else {
      try run(&stepsDone, progress)
      return nil
    }
    return try alone {
      let copy = try copy(into: folder)
      do {
        try run(&stepsDone, progress)
      } catch {
        if stepsDone == 0 {
          // The store is as it was, so that its copy is of no use.
          try? FileManager.default.removeItem(atPath: folder)
          throw error
        }
        let declared = error as? CoreDataError
        throw CoreDataError(
          declared?.code ?? .migration,
          "\(declared?.message ?? "\(error)") The store is of a version on the way; as it was: \(copy)",
          userInfo: declared?.userInfo ?? [:], underlyingError: error)
      }
      return copy
    }
  }

  /// Runs work while no other connection writes to the database.
  private func alone<Result>(_ work: () throws -> Result) throws -> Result {
    if location.isFile { return try work() }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: route.old.model)
    let options = location.openingOptions([
      StoreOptionKey.timeout: timeout,
      // It stands still while its rows are copied over other connections.
      StoreOptionKey.postgreSQLIdleTransactionTimeout: 0,
    ])
    let store = try coordinator.addPersistentStore(
      ofType: location.type, configurationName: nil, at: url, options: options)
    // Nothing is written over it, so that nothing is lost where it cannot be closed.
    defer { try? coordinator.remove(store) }
    guard let writes = store.capabilities.exclusiveWrites else { return try work() }
    return try writes.holdingWrites(work)
  }

  private func run(
    _ stepsDone: inout Int, _ progress: @escaping @Sendable (Double) -> Void
  ) throws {
    if route.steps.count == 1 || !location.isFile {
      return try takeSteps(at: url, &stepsDone, progress)
    }
    let folder = try MigrationFolder(for: url)
    defer { folder.remove() }
    let copy = folder.url.appendingPathComponent(url.lastPathComponent)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: route.old.model)
    let kind = try coordinator.kind(ofType: location.type)
    let options = StoreOptions([StoreOptionKey.timeout: timeout])
    // Others cannot write from before the copy is made until its successor is in its place.
    let hold = try kind.hold(url, for: copy, options: options)
    defer { hold?.release() }
    try Self.copy(url, to: copy, ofType: location.type, model: route.old.model)
    var stepsOfCopy = 0
    try takeSteps(at: copy, &stepsOfCopy, progress)
    if let hold { return try hold.replace() }
    try kind.replace(at: url, withStoreAt: copy, options: options)
  }

  private func takeSteps(
    at place: URL, _ done: inout Int, _ progress: @escaping @Sendable (Double) -> Void
  ) throws {
    let steps = Double(route.steps.count)
    for (index, step) in route.steps.enumerated() {
      try migrate(place, step) { progress((Double(index) + $0) / steps) }
      done += 1
    }
  }

  private func migrate(
    _ file: URL, _ step: MigrationRoute.Step, _ progress: @escaping @Sendable (Double) -> Void
  ) throws {
    let own: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      StoreOptionKey.migrationSourceModels: [step.from.model], StoreOptionKey.timeout: timeout,
      StoreOptionKey.sqlitePragmas: ["synchronous": "FULL"],
      StoreOptionKey.migrationProgress: progress,
    ]
    var options = location.openingOptions(self.options.merging(own) { $1 })
    if let mapping = step.mapping?.model {
      options[StoreOptionKey.migrationMappingModels] = [mapping]
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: step.to.model)
    let store = try coordinator.addPersistentStore(
      ofType: location.type, configurationName: nil, at: file, options: options)
    try coordinator.remove(store)
  }

  /// Reads all of what was made.
  ///
  /// - Throws: `CoreDataError` for a file with damage.
  public func check() throws {
    try check(url, location.type, model: route.new.model)
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
