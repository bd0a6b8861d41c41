// What a store needs to be of the version of the model that the daemon is to serve.

import Cairn
import CairnControl
import CairnPlatform
import CairnRecords
import CairnSync
import Foundation
import Logging
import Synchronization

/// The version to bring stores to, and the file that has it.
struct ModelTarget: Sendable {
  let versions: ModelVersions
  let version: MigrationRoute.Version

  /// The current version of the model that the configuration names.
  ///
  /// - Parameter model: That version, as it was read.
  init(_ section: ModelSection, current model: ManagedObjectModel) throws {
    switch section {
    case .file(let path): versions = try ModelVersions(contentsOf: URL(fileURLWithPath: path))
    case .fromStore:
      versions = ModelVersions(
        model, named: "from-store", of: URL(fileURLWithPath: "from-store"))
    }
    let hashes = model.entityVersionHashesByName
    let known = versions.versions.first {
      (try? $0.model.get())?.entityVersionHashesByName == hashes
    }
    version = MigrationRoute.Version(
      side: ModelComparison.Side(
        file: versions.url.path, version: known?.name ?? versions.current,
        checksum: model.versionChecksum), model: model)
  }
}

/// The way of one store to that version, and what becomes of its rows.
struct StoreModelChange: Sendable {
  /// `local`, or the name of the replica.
  let store: String
  let location: StoreLocation
  let target: ModelTarget
  /// The version that the store has.
  let old: MigrationRoute.Version
  let plans: [VersionMigrationPlan]

  /// Reads the store and counts.
  ///
  /// - Throws: `ReadOnlyStoreError` or `CoreDataError` for a store that cannot be read, or whose version is
  ///   neither in the model's file nor inside the store.
  init(
    of store: String, at location: StoreLocation, to target: ModelTarget,
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) throws {
    self.store = store
    self.location = location
    self.target = target
    let route = try Self.route(of: location, to: target)
    old = route.old
    plans = try VersionMigration(route: route, timeout: Self.timeout).plans(progress: progress)
  }

  private static let timeout = 10.0

  private static func route(
    of location: StoreLocation, to target: ModelTarget
  ) throws -> MigrationRoute {
    try MigrationRoute(of: location, to: target.version, in: target.versions)
  }

  /// Whether the store is of the version already.
  var isDone: Bool { plans.isDone }

  /// Whether the model's file lacks the store's version: a newer program may have made it.
  private var isForeign: Bool { old.side.file == location.text }

  private var isPossible: Bool {
    plans.obstacles.isEmpty && plans.last?.comparison.way != .missing
  }

  /// What a person has to agree to: values that are dropped; of a version that is not known here, also what
  /// it has more, with and without values.
  private var losses: [VersionMigrationPlan.Drop] {
    isForeign ? plans.flatMap(\.drops) : plans.losses
  }

  /// Of a version that is not known here: names that could mean something else than before.
  private var doubts: [String] { isForeign ? plans.flatMap(\.comparison.uncertain) : [] }

  /// Whether the store follows the model without being asked.
  var goesByItself: Bool { !isDone && isPossible && losses.isEmpty && doubts.isEmpty }

  // MARK: Words

  private var subject: String { store == StoreReference.localName ? "the local store" : store }

  /// What a person has to decide, with the command that does; nil where nothing is to be decided.
  var problem: StatusProblem? {
    guard !isDone, !goesByItself else { return nil }
    let (was, new) = (old.side.version, target.version.side.version)
    let place = isForeign ? foreign : "\(subject) stays at \(was) of the model"
    let command = "cairnctl store migrate \(store)"
    return StatusProblem(code: Self.code, message: "\(place): \(reason(new)); \(advice(command))")
  }

  private var foreign: String {
    "\(subject) (\(location.text)) is of a version of the model that \(target.versions.url.path) does not have"
  }

  /// Why a store is not even served at the version that it has.
  ///
  /// Its version is not known here, and no daemon has kept it before: the configuration may name the store of
  /// something else.
  var strangeness: EngineFailure? {
    let isKept = FileManager.default.fileExists(atPath: location.url.path + "-cairn")
    guard isForeign, !goesByItself, !isKept else { return nil }
    return EngineFailure(
      code: Self.code,
      reason: "\(foreign): \(reason(target.version.side.version)); put the model there that the "
        + "store was made with, or name another store in local.path",
      isTransient: false)
  }

  static let code = "incompatible-model"

  /// That it was tried, and why it failed.
  func failure(_ reason: String) -> StatusProblem {
    StatusProblem(
      code: Self.code,
      message: "\(subject) stays at \(old.side.version) of the model, since bringing it to "
        + "\(target.version.side.version) failed: \(reason); `cairnctl store migrate \(store)` tries "
        + "again")
  }

  /// That it would follow without being asked, but for the configuration.
  var refusal: StatusProblem {
    StatusProblem(
      code: Self.code,
      message: "\(subject) stays at \(old.side.version) of the model, as the configuration has "
        + "`migrate: false` for it; `cairnctl store migrate \(store)` brings it to "
        + target.version.side.version)
  }

  /// That the local store has to be brought to the version of this one first.
  var waitingForLocal: StatusProblem {
    StatusProblem(
      code: Self.code,
      message: "\(subject) is at \(old.side.version) of the model, and the local store stays at "
        + "\(target.version.side.version): that one comes first, with `cairnctl store migrate local`"
    )
  }

  private func reason(_ new: String) -> String {
    if !isPossible {
      let first = plans.obstacles.first.map { obstacle in
        let reason = obstacle.reason
        return "\(obstacle.place): \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)"
      }
      let more = plans.obstacles.count > 1 ? " (and \(plans.obstacles.count - 1) more)" : ""
      return "it cannot be brought to \(new): "
        + (first.map { $0 + more } ?? "a mapping model is needed, and there is none")
    }
    guard !losses.isEmpty else {
      return "whether \(doubts.prefix(5).joined(separator: ", ")) was renamed cannot be told"
    }
    let list = losses.prefix(8).map {
      "\($0.place) (\(Readable.count($0.values, "row")))"
    }.joined(separator: ", ")
    return "\(new) would drop \(list)" + (losses.count > 8 ? " and more" : "")
  }

  private func advice(_ command: String) -> String {
    if !isPossible {
      return "`\(command) --dry-run` shows all, `\(command)` does it once it can be"
    }
    // A replica may be shared, and its other programs are not asked.
    let isShared = store != StoreReference.localName
    let place = location.isFile ? "file" : "database"
    let warning = isShared ? ", also for other programs that share the \(place)" : ""
    let does = "`\(command) --dry-run` shows all, `\(command) --allow-drop` does it\(warning)"
    return isForeign ? "put the newer model there; or \(does)" : does
  }

  /// That it is under way.
  var progressProblem: StatusProblem {
    StatusProblem(
      code: "migrating",
      message: "\(subject) is being brought from \(old.side.version) to "
        + "\(target.version.side.version) of the model; until then it is read as it was, and not "
        + "written")
  }

  /// As a caller sees it.
  var onWire: MigrateStores.Plan {
    MigrateStores.Plan(
      store: store, location: location.text, users: isDone ? nil : users,
      needsConsent: isDone || goesByItself ? nil : true,
      steps: plans.map { plan in
        MigrateStores.Step(
          from: plan.comparison.old.version, to: plan.comparison.new.version,
          way: MigrateStores.Step.Way(rawValue: plan.comparison.way.rawValue) ?? .missing,
          changed: plan.touched.map { .init(place: $0.entity, values: $0.rows) },
          dropped: plan.drops.map { .init(place: $0.place, values: $0.values) },
          obstacles: plan.obstacles.map { .init(place: $0.place, reason: $0.reason) })
      })
  }

  // MARK: Doing

  /// Logs that it was done.
  func log(kept: String?, to logger: Logger) {
    let version = target.version.side.version
    let copy = kept.map { "; as it was: \($0)" } ?? ""
    logger.event(
      .storeMigrated,
      "\(store) was brought from \(old.side.version) to \(version) of the model\(copy)",
      metadata: ["store": .string(store), "model": .string(version)])
  }

  /// - Throws: ``CairnControl/ControlError`` for what cannot be done, or not without consent.
  func check(allowDrop: Bool) throws(ControlError) {
    guard !isDone, let problem else { return }
    if !isPossible || !allowDrop {
      throw .notPossible(
        code: isPossible ? "values-dropped" : "cannot-migrate",
        reason: "nothing was done: \(problem.message)")
    }
  }

  /// Other processes that have the store open, by their names; a daemon on it by its unit, where it has one.
  ///
  /// None of a database: each Cairn store that has it open looks at its version in each transaction.
  var users: [String] {
    if !location.isFile { return [] }
    let file = location.url.resolvingSymlinksInPath().path
    let owner = StoreOwnership.owner(of: file)
    return FileUsers.others(of: file).map { user in
      guard let owner, owner.process == user.process, owner.unit != nil else {
        return user.description
      }
      return owner.description
    }
  }

  /// - Throws: ``CairnControl/ControlError`` where values are dropped while others have the store open: they
  ///   go on writing such values until they notice.
  func checkUsers() throws(ControlError) {
    if losses.isEmpty || isDone { return }
    let users = users
    if users.isEmpty { return }
    throw .notPossible(
      code: "store-in-use",
      reason: "nothing was done: \(users.joined(separator: ", ")) "
        + "\(users.count == 1 ? "has" : "have") \(subject) (\(location.text)) open and may go on writing what would "
        + "be dropped; stop that first, then: cairnctl store migrate \(store) --allow-drop")
  }

  /// Migrates the store, which this daemon has open for reading at most; keeps a copy where values are dropped.
  ///
  /// - Parameter options: How the daemon opens the store.
  /// - Returns: The copy's file.
  /// - Throws: ``CairnControl/ControlError`` where values would be dropped that were not there when it was
  ///   counted, or while others have the store open; what a migration or copying throws. The store is as it was then.
  func run(
    options: [AnyHashable: Any], backups: String, at date: Date,
    progress: @escaping @Sendable (Double) -> Void
  ) throws -> String? {
    // Programs may have written since it was counted.
    let now = try StoreModelChange(of: store, at: location, to: target)
    if losses.isEmpty, !now.losses.isEmpty { try now.check(allowDrop: false) }
    try now.checkUsers()
    let route = try Self.route(of: location, to: target)
    let migration = VersionMigration(route: route, timeout: Self.timeout, options: options)
    var folder: String?
    if !losses.isEmpty {
      try StoreBackup.makeFolder(backups)
      let name = "\(store)-before-migration-\(StoreBackup.stamp(date))"
      folder = StoreBackup.unusedFolder("\(backups)/\(name)")
    }
    return try migration.run(keeping: folder, progress: progress)
  }
}

/// What persons have to decide about the versions of stores, by the stores' names.
///
/// Mutable state: the problems, inside the mutex.
final class ModelDecisions: Sendable {
  private let problems = Mutex<[String: StatusProblem]>([:])

  func note(_ change: StoreModelChange) {
    problems.withLock { $0[change.store] = change.problem }
  }

  func note(_ problem: StatusProblem, of store: String) {
    problems.withLock { $0[store] = problem }
  }

  func forget(_ store: String) { problems.withLock { $0[store] = nil } }

  func problem(of store: String) -> StatusProblem? { problems.withLock { $0[store] } }

  /// The names of the stores.
  var stores: Set<String> { problems.withLock { Set($0.keys) } }
}
