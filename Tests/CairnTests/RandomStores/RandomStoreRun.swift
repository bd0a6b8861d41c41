// One random model and what is done to a store of it.

import Cairn
import Foundation
import ParitySamples
import TestSupport
import Testing

final class RandomStoreRun {
  private let seed: UInt64
  var random: ParityRandom
  var shape: RandomModel
  private let folder: TemporaryFolder
  private let url: URL
  private var options: [AnyHashable: Any]
  /// One or two on the same file.
  private var coordinators: [PersistentStoreCoordinator] = []
  var desks: [Desk] = []
  /// What was done, for people who look for the cause of a failure.
  var trail: [String] = []
  private(set) var saves = 0
  private(set) var hasFailed = false
  /// How many steps before a failure are shown; all of them are too many.
  private static let shownSteps =
    ProcessInfo.processInfo.environment["CAIRN_RANDOM_STEPS"].flatMap { Int($0) } ?? 25

  /// A context and the objects that it has shown.
  struct Desk {
    let context: ManagedObjectContext
    var objects: [ManagedObject] = []
    var alive: [ManagedObject] {
      objects.filter { $0.managedObjectContext != nil && !$0.isDeleted }
    }
  }

  /// The notification of a save.
  // Unchecked: it is posted and used on the queue of the context that saves.
  private final class Heard: @unchecked Sendable { var note: Notification? }

  init(seed: UInt64) throws {
    self.seed = seed
    random = ParityRandom(state: seed == 0 ? 1 : seed)
    for _ in 0..<8 { _ = random.below(2) }
    shape = RandomModel(&random)
    folder = try TemporaryFolder()
    url = folder.fileURL("Random.sqlite")
    var options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      StoreOptionKey.sqlitePragmas: ["synchronous": "OFF"],
    ]
    if random.below(2) == 0 { options[StoreOptionKey.historyTracking] = true }
    if random.below(3) == 0 { options[StoreOptionKey.rowChecksums] = true }
    self.options = options
  }

  func run(versions: Int, steps: Int) throws {
    for version in 0..<versions where !hasFailed {
      if version > 0 { try migrate() } else { try open() }
      for _ in 0..<steps where !hasFailed { try step(random.below(desks.count)) }
      for desk in desks.indices where !hasFailed { try save(desk) }
      try close()
    }
  }

  // MARK: Life

  private func stack() throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try shape.make())
    _ = try coordinator.addPersistentStore(
      ofType: "SQLite", configurationName: nil, at: url, options: options)
    return coordinator
  }

  private static let policies: [MergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  private func open() throws {
    coordinators = []
    for _ in 0..<(1 + random.below(2)) { coordinators.append(try stack()) }
    desks = (0..<(coordinators.count + random.below(2))).map { number in
      let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinators[number % coordinators.count]
      // Rows that another coordinator has changed are read again.
      if coordinators.count > 1 { context.stalenessInterval = 0 }
      context.mergePolicy = random.below(2) == 0 ? .error : random.pick(Self.policies)
      context.performAndWait {
        context.undoManager = Cairn.UndoManager()
        context.undoManager?.groupsByEvent = false
      }
      return Desk(context: context)
    }
    trail.append("open \(coordinators.count) coordinators, \(desks.count) contexts")
    for desk in desks.indices { try reload(desk) }
  }

  private func close() throws {
    for coordinator in coordinators {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }

  private func migrate() throws {
    let before = try storedContents(isFresh: false)
    // A version that lacks something is only known by its model.
    options[StoreOptionKey.migrationSourceModels] = [try shape.make()]
    shape.evolve(&random)
    trail.append("migrate")
    try open()
    let after = try storedContents(isFresh: false)
    let former = Dictionary(
      shape.entities.flatMap { entity in
        entity.attributes.compactMap { attribute in
          attribute.formerName.map { ("\(entity.id) \(attribute.name)", $0) }
        }
      }, uniquingKeysWith: { first, _ in first })
    for (key, old) in before {
      guard let new = after[key] else {
        fail("\(key) is lost by the migration")
        continue
      }
      for (name, value) in new {
        let names = former.filter { $0.key.hasSuffix(" \(name)") }.map(\.value)
        guard let known = ([name] + names).compactMap({ old[$0] }).first, names.count <= 1 else {
          continue
        }
        // A name may have passed to another attribute.
        if known != value, names.isEmpty, !old.values.contains(value) {
          fail("\(key) \(name) was \(known) before the migration and is \(value)")
        }
      }
    }
    expect(Set(after.keys) == Set(before.keys), "a migration made objects")
    inspect("migration")
  }

  /// What a stack of its own reads, as another process would.
  private func storedContents(isFresh: Bool) throws -> [String: [String: String]] {
    let other = try stack()
    defer { for store in other.persistentStores { try? other.remove(store) } }
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = other
    return try contents(in: context, isFresh: isFresh)
  }

  // MARK: Steps

  private func step(_ desk: Int) throws {
    if random.below(24) == 0 { return try child(desk) }
    let context = desks[desk].context
    try context.performAndWait {
      context.undoManager?.beginUndoGrouping()
      edit(desk)
      context.processPendingChanges()
      context.undoManager?.endUndoGrouping()
      switch random.below(24) {
      case 0, 1: undo(desk)
      case 2:
        trail.append("\(desk) refresh")
        context.refreshAllObjects()
      case 3: if random.below(3) == 0 { try rollback(desk) }
      case 4: try batch(desk)
      case 5...8: try save(desk)
      default: break
      }
    }
  }

  func edit(_ desk: Int) {
    switch random.below(24) {
    case 0...4: insert(desk)
    case 5...8: change(desk)
    case 9...15: relate(desk)
    case 16: delete(desk)
    default: break
    }
  }

  private func rollback(_ desk: Int) throws {
    let context = desks[desk].context
    trail.append("\(desk) rollback")
    context.rollback()
    expect(!context.hasChanges, "changes are left after a rollback")
    context.refreshAllObjects()
    try compare(context, after: "rollback", isFresh: true)
    try reload(desk)
  }

  // MARK: Saving and comparing

  static func isExpected(_ error: CoreDataError) -> Bool {
    // The last: a new object that another object refers to was deleted.
    [.managedObjectMerge, .managedObjectConstraintMerge, .managedObjectValidation]
      .contains(error.code)
  }

  func save(_ desk: Int) throws {
    let context = desks[desk].context
    try context.performAndWait {
      context.processPendingChanges()
      guard context.hasChanges else { return }
      let before = try storedContents(isFresh: true)
      let pending = PendingSave(
        context, hasUniqueValues: shape.entities.contains { $0.unique != nil })
      let heard = Heard()
      let token = NotificationCenter.default.addObserver(
        forName: ManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
      ) { heard.note = $0 }
      defer { NotificationCenter.default.removeObserver(token) }
      do {
        try context.save()
        trail.append("\(desk) save")
        saves += 1
        for problem in pending.problems(before: before, after: try storedContents(isFresh: true)) {
          fail("after save: \(problem)")
        }
      } catch let error as CoreDataError where Self.isExpected(error) {
        trail.append("\(desk) save refused: \(error.code)")
        inspect("refused save")
        expect(try storedContents(isFresh: true) == before, "a refused save has changed the file")
        context.reset()
        try reload(desk)
        return
      }
      inspect("save")
      if desks.count == 1 { try compare(context, after: "save", isFresh: false) }
      try tellOthers(heard.note, than: desk)
      context.refreshAllObjects()
      try compare(context, after: "refresh", isFresh: true)
      try reload(desk)
    }
  }

  func fetchAll(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    let entities = context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
    return try entities.filter { $0.superentity == nil }.sorted {
      ($0.name ?? "") < ($1.name ?? "")
    }
    .flatMap { entity in
      let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
      return try context.fetch(request).sorted {
        RandomValues.key($0).compare(RandomValues.key($1), options: .numeric)
          == .orderedAscending
      }
    }
  }

  func reload(_ desk: Int) throws {
    let context = desks[desk].context
    let all = try context.performAndWait { try fetchAll(context) }
    let known = Set(all.map(ObjectIdentifier.init))
    desks[desk].objects = all + desks[desk].alive.filter { !known.contains(ObjectIdentifier($0)) }
  }

  func contents(
    in context: ManagedObjectContext, isFresh: Bool
  ) throws -> [String: [String: String]] {
    try context.performAndWait {
      let all = try fetchAll(context)
      return Dictionary(
        all.map {
          (
            RandomValues.key($0),
            RandomValues.contents(of: $0, isFresh: isFresh)
          )
        }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// Compares what a context shows with what a second stack reads.
  func compare(
    _ context: ManagedObjectContext, after moment: String, isFresh: Bool
  ) throws {
    let stored = try storedContents(isFresh: isFresh)
    let shown = try contents(in: context, isFresh: isFresh)
    if stored == shown { return }
    for key in Set(stored.keys).union(shown.keys).sorted() where stored[key] != shown[key] {
      guard let there = stored[key], let here = shown[key] else {
        fail("after \(moment): \(key) is \(stored[key] == nil ? "not stored" : "not shown")")
        continue
      }
      for name in there.keys.sorted() where there[name] != here[name] {
        fail(
          "after \(moment): \(key) \(name) is stored as \(there[name] ?? "?"), shown as "
            + "\(here[name] ?? "?")")
      }
    }
  }

  func inspect(_ moment: String) {
    do {
      let damage = try StoreInspection(contentsOf: url, isStrict: true).damage
      expect(damage.isEmpty, "after \(moment): \(damage.prefix(4))")
    } catch {
      fail("after \(moment) the store cannot be inspected: \(error)")
    }
  }

  func expect(_ holds: Bool, _ message: String) { if !holds { fail(message) } }

  func fail(_ message: String) {
    hasFailed = true
    Issue.record("seed \(seed): \(message); \(shape); \(trail.suffix(Self.shownSteps))")
  }
}
