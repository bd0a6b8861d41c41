// One store, three versions of a random model, one way of migration.

import Cairn
import CairnTesting
import Foundation
import ParitySamples
import TestSupport
import Testing

/// How a store gets to the next version.
enum MigrationWay: String, CaseIterable {
  case inPlace, staged, withObjects, xml, binary
  var storeType: String {
    switch self {
    case .inPlace, .staged, .withObjects: return "SQLite"
    case .xml: return "XML"
    case .binary: return "Binary"
    }
  }
}

final class RandomMigrationRun {
  let seed: UInt64
  let way: MigrationWay
  private var random: ParityRandom
  private let shapes: [MigrationShape]
  private let folder: URL
  /// Nil in a run whose folder another one made.
  private let own: TemporaryFolder?
  /// The versions that stores were left at by processes that were killed, counted from that which the
  /// process began with.
  private(set) var deaths: [Int] = []
  private var url: URL { folder.appendingPathComponent("live/Store.data") }

  /// - Parameter given: A folder with the store of another run of this seed.
  init(seed: UInt64, in given: URL? = nil) throws {
    self.seed = seed
    random = ParityRandom(state: seed == 0 ? 1 : seed)
    for _ in 0..<8 { _ = random.below(2) }
    way = random.pick(MigrationWay.allCases)
    let first = MigrationShape(&random)
    let second = first.next(&random)
    shapes = [first, second, second.next(&random)]
    if let given {
      (own, folder) = (nil, given)
    } else {
      let made = try TemporaryFolder()
      (own, folder) = (made, made.url)
    }
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("live"), withIntermediateDirectories: true)
  }

  func run() async throws {
    try fill()
    var contents = try read(url, shapes[0], [:])
    let steps = way == .staged ? [(0, 2)] : [(0, 1), (1, 2)]
    for (from, to) in steps {
      var wanted = contents
      for index in from..<to {
        wanted = wanted.migrated(from: shapes[index], to: shapes[index + 1])
      }
      try await migrate(from: from, to: to, before: contents, wanted: wanted)
      let after = try read(url, shapes[to], [:])
      compare(after, with: wanted, from: from, to: to, "")
      // What is free in order has one now.
      contents = after
    }
  }

  // MARK: Steps

  private func fill() throws {
    try with(url, shapes[0], [:]) { context in
      var objects: [(MigrationShape.Entity, ManagedObject)] = []
      for number in 0..<(5 + random.below(25)) {
        let entity = random.pick(shapes[0].entities)
        let object = EntityDescription.insertNewObject(forEntityName: entity.name, into: context)
        object.setValue(NSNumber(value: number), forKey: MigrationShape.key)
        for attribute in shapes[0].attributes(of: entity.id) {
          if attribute.isOptional, random.below(3) == 0 { continue }
          let text = MigrationValues.random(attribute.type, &random)
          object.setValue(
            MigrationValues.value(text, attribute.type), forKey: attribute.name)
        }
        objects.append((entity, object))
      }
      for (entity, object) in objects {
        for end in shapes[0].ends(of: entity.id) where random.below(3) != 0 {
          let members = objects.filter { other, _ in
            shapes[0].lineage(of: other.id).contains { $0.id == end.destination }
          }.map(\.1)
          if members.isEmpty { continue }
          if !end.isToMany {
            object.setValue(random.pick(members), forKey: end.name)
            continue
          }
          let some = (0..<(1 + random.below(4))).map { _ in random.pick(members) }
          object.setValue(
            end.isOrdered ? NSOrderedSet(array: some) as Any : NSSet(array: some) as Any,
            forKey: end.name)
        }
      }
      try context.save()
    }
  }

  private func migrate(
    from: Int, to: Int, before: MigratedContents, wanted: MigratedContents
  ) async throws {
    if random.below(10) == 0 { try await die(from: from, to: to, before: before, wanted: wanted) }
    try migrateStore(from: from, to: to)
  }

  /// Brings the store from one version to another.
  ///
  /// - Parameter report: Is told of progress where the store reports it.
  func migrateStore(
    from: Int, to: Int, report: (@Sendable (Double) -> Void)? = nil
  ) throws {
    if way == .withObjects { return try withObjects(from: from, to: to) }
    var options = options(from: from, to: to)
    if let report { options[StoreOptionKey.migrationProgress] = report }
    try with(url, shapes[to], options) { _ in }
  }

  private func options(from: Int, to: Int) -> [AnyHashable: Any] {
    var options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      StoreOptionKey.migrationSourceModels: shapes[from...to].map { $0.make() },
    ]
    if way == .staged {
      options[StoreOptionKey.stagedMigrationManager] = StagedMigrationManager([
        LightweightMigrationStage(shapes.map { $0.make().versionChecksum })
      ])
    }
    return options
  }

  private func withObjects(from: Int, to: Int) throws {
    let manager = MigrationManager(
      sourceModel: shapes[from].make(), destinationModel: shapes[to].make())
    manager.usesStoreSpecificMigrationManager = false
    // Links lead from batch to batch.
    manager.batchSize = 1 + Int(seed % 7)
    let new = folder.appendingPathComponent("new-\(to).data")
    try manager.migrateStore(
      from: url, sourceType: "SQLite", options: nil, with: nil, toDestinationURL: new,
      destinationType: "SQLite", destinationOptions: nil)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: shapes[to].make())
    try coordinator.replacePersistentStore(
      at: url, withPersistentStoreFrom: new, sourceOptions: nil, ofType: "SQLite")
  }

  // MARK: Killed

  /// Lets another process migrate a copy of the store, which does not live to see the end.
  private func die(
    from: Int, to: Int, before: MigratedContents, wanted: MigratedContents
  ) async throws {
    let copy = folder.appendingPathComponent("killed", isDirectory: true)
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: copy) }
    try FileManager.default.copyItem(
      at: url.deletingLastPathComponent(), to: copy.appendingPathComponent("live"))
    // Few operations more often than many, as there are.
    let operation = 1 + random.below(1 << (1 + random.below(9)))
    await MigrationDeath(
      seed: seed, from: from, to: to, operation: operation, folder: copy.path
    ).happen()
    let killed = try RandomMigrationRun(seed: seed, in: copy)
    deaths.append(
      try killed.check(from: from, to: to, before: before, wanted: wanted, "killed at \(operation)")
    )
  }

  /// The files that a killed program left open as the old version or as a later one, whole, and
  /// migrate on to what they would have become.
  ///
  /// - Returns: How many versions the store had got on.
  private func check(
    from: Int, to: Int, before: MigratedContents, wanted: MigratedContents, _ moment: String
  ) throws -> Int {
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
      ofType: way.storeType, at: url)
    let version = (from...to).first {
      shapes[$0].make().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
    guard let version else {
      fail("\(moment): the store is of no version")
      return 0
    }
    if version == from, try read(url, shapes[from], [:]) != before {
      fail("\(moment): the old version has changed")
    }
    if way == .withObjects {
      // A migration to a place of its own takes away what was left there.
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
      where file.hasPrefix("new-") {
        try FileManager.default.removeItem(at: folder.appendingPathComponent(file))
      }
      if version == from { try withObjects(from: from, to: to) }
    }
    let after = try read(url, shapes[to], options(from: from, to: to))
    compare(after, with: wanted, from: from, to: to, "\(moment) with version \(version), then ")
    let left = try FileManager.default.contentsOfDirectory(
      atPath: url.deletingLastPathComponent().path)
    if left.contains(where: { $0.contains("migrating") }) { fail("\(moment): \(left) is left") }
    return version - from
  }

  // MARK: Stores

  private func with<T>(
    _ url: URL, _ shape: MigrationShape, _ options: [AnyHashable: Any],
    _ body: (ManagedObjectContext) throws -> T
  ) throws -> T {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: shape.make())
    let store = try coordinator.addPersistentStore(
      ofType: way.storeType, configurationName: nil, at: url, options: options)
    defer { try? coordinator.remove(store) }
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  private func read(
    _ url: URL, _ shape: MigrationShape, _ options: [AnyHashable: Any]
  ) throws -> MigratedContents {
    try with(url, shape, options) { try MigratedContents($0, shape) }
  }

  private func compare(
    _ after: MigratedContents, with wanted: MigratedContents, from: Int, to: Int, _ moment: String
  ) {
    let problems = wanted.problems(with: after, along: Array(shapes[from...to]))
    if problems.isEmpty { return }
    fail("\(moment)\(from) to \(to): \(problems.prefix(6))")
  }

  private func fail(_ message: String) {
    Issue.record(
      "seed \(seed), \(way.rawValue): \(message); \(shapes.dropFirst().map(\.changes))")
  }
}
