// cairnctl migrate
import ArgumentParser
import Cairn
import CairnControl
import CairnPlatform
import CairnRecords
import Foundation

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Bring a store file to another version of its model.",
    discussion: """
      Says first what is changed and what is dropped; with --dry-run nothing else. A copy of the store is kept \
      beside it. What the file was made with is found in the package, or inside the store. A mapping model in \
      the package or beside it is taken before a lightweight migration; where neither leads straight there, or \
      only with a loss, the store goes through other versions of the package. Whatever ends this program, the \
      file is of the old version or of the new one. Nobody else may have it open: stop cairnd and the \
      applications first.
      Example: cairnctl migrate Library.sqlite --to Library.xcdatamodeld --dry-run
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: ArgumentHelp("The store's file: SQLite, XML or binary.", valueName: "file"),
    completion: .file())
  var path: String

  @Option(
    help: ArgumentHelp("The model to bring it to: a file or package.", valueName: "model"),
    completion: .file())
  var to: String

  @Option(
    help: ArgumentHelp(
      "The version of the package; the current one when left out.", valueName: "name"))
  var modelVersion: String?

  @Option(
    help: ArgumentHelp(
      "The model that the file was made with, where neither the package nor the file has it.",
      valueName: "model"), completion: .file())
  var from: String?

  @Flag(help: "Say what would happen, and change nothing.")
  var dryRun = false

  @Flag(help: "Keep no copy of the store as it was.")
  var noBackup = false

  @Flag(help: "Migrate although values are dropped.")
  var allowDrop = false

  struct Result: Encodable {
    /// One for each version on the way.
    let steps: [VersionMigrationPlan]
    /// Bytes free where the store is.
    let free: Int?
    let isMigrated: Bool
    /// The copy's path.
    let backup: String?
  }

  func run() throws {
    let ownership = StoreOwnership(of: path)
    _ = try storeType()
    if !dryRun { try checkUsers(ownership) }
    let migration = VersionMigration(
      route: try MigrationRoute(self), timeout: shared.timeout ?? 5)
    let plans = try self.plans(of: migration)
    let free = Self.free(at: path)
    if dryRun || plans.isDone { return try report(plans, free: free, backup: nil) }
    try refuse(plans, free: free)
    if !shared.json { MigrationText.lines(plans).forEach(Output.line) }
    let backup = try perform(migration)
    // Held until here, so that no daemon serves the store meanwhile.
    withExtendedLifetime(ownership) {}
    if shared.json {
      return try Output.json(Result(steps: plans, free: free, isMigrated: true, backup: backup))
    }
    Output.line("")
    Output.line(TerminalText.oneLine("migrated to \(migration.route.new.side.version)"))
    if let backup { Output.line(TerminalText.oneLine("the store as it was: \(backup)")) }
  }

  private func storeType() throws -> String {
    do {
      return try ReadOnlyStore.type(of: path)
    } catch let error as ReadOnlyStoreError {
      throw CommandFailure(error)
    }
  }

  private func plans(of migration: VersionMigration) throws -> [VersionMigrationPlan] {
    do {
      return try migration.plans()
    } catch let error as ReadOnlyStoreError {
      throw CommandFailure(error)
    } catch {
      throw Self.failure(error, path: path)
    }
  }

  private func report(_ plans: [VersionMigrationPlan], free: Int?, backup: String?) throws {
    if shared.json {
      return try Output.json(Result(steps: plans, free: free, isMigrated: false, backup: nil))
    }
    MigrationText.lines(plans).forEach(Output.line)
    if plans.isDone { return }
    Output.line("")
    TerminalText.wrapped(
      "the migration needs at most \(Readable.bytes(need(plans))) of disk"
        + (noBackup ? "" : ", \(Readable.bytes(plans.size)) of it for the copy that is kept")
        + (free.map { "; \(Readable.bytes($0)) are free" } ?? "")
    ).forEach(Output.line)
    if plans.obstacles.isEmpty, plans.last?.comparison.way != .missing {
      Output.line(
        plans.losses.isEmpty || allowDrop
          ? "nothing was changed; without --dry-run this is done"
          : "nothing was changed; with --allow-drop and without --dry-run this is done")
    } else {
      Output.line("nothing was changed; this cannot be done as it is")
    }
  }

  /// Bytes of disk, with the copy.
  private func need(_ plans: [VersionMigrationPlan]) -> Int {
    noBackup ? plans.room : plans.room + plans.size
  }

  /// What keeps the migration from beginning.
  private func refuse(_ plans: [VersionMigrationPlan], free: Int?) throws {
    if let obstacle = plans.obstacles.first {
      let more = plans.obstacles.count - 1
      throw CommandFailure(
        message: "\(path) cannot be migrated: \(obstacle.place): \(obstacle.reason)"
          + (more > 0 ? "; and \(Readable.count(more, "other reason"))" : ""),
        hint: plans.last?.comparison.way == .missing
          ? "put a mapping model beside the model; --dry-run shows everything"
          : "--dry-run shows everything")
    }
    if !plans.losses.isEmpty, !allowDrop {
      let list = plans.losses.prefix(5).map { "\($0.place) (\($0.values))" }
      throw CommandFailure(
        message: "values would be dropped: \(list.joined(separator: ", "))"
          + (plans.losses.count > 5 ? " and more" : ""),
        hint: "--dry-run shows everything; --allow-drop migrates all the same")
    }
    if let free, free < need(plans) {
      throw CommandFailure(
        message: "the migration may need \(Readable.bytes(need(plans))) of disk, and "
          + "\(Readable.bytes(free)) are free",
        hint: noBackup
          ? "make room there (`df -h`)"
          : "make room there, or copy the store elsewhere "
            + "and use --no-backup")
    }
  }

  /// - Throws: ``CommandFailure`` where others use the store, or this user would leave files that its
  ///   owner cannot open.
  private func checkUsers(_ ownership: StoreOwnership) throws {
    let facts = try? FileFacts(path: path)
    if let owner = facts?.owner, owner != HostIdentity.effectiveUser {
      let name = AccountLookup.userName(owner) ?? "#\(owner)"
      throw CommandFailure(
        message:
          "the store belongs to \(name), who could not open what another user makes beside it",
        hint: "runuser -u \(name) -- cairnctl migrate …")
    }
    let users = FileUsers.others(of: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
    if !users.isEmpty {
      throw CommandFailure(
        message: "others have the store open: "
          + users.map(String.init(describing:)).joined(separator: ", "),
        hint: "stop them first; of a daemon: systemctl stop cairnd")
    }
    do {
      try ownership.take()
    } catch {
      throw CommandFailure(
        message: "a cairnd serves \(path): "
          + (error.owner.map(String.init(describing:)) ?? "one of another user"),
        hint: "stop it first: systemctl stop cairnd")
    }
  }

  private func perform(_ migration: VersionMigration) throws -> String? {
    let stamp = Date().formatted(.iso8601).filter { !"-:".contains($0) }
    let folder = "\(path).backup-\(stamp)"
    let backup: String?
    do {
      let bar = MigrationProgress(isShown: !shared.json)
      defer { bar.clear() }
      backup = try migration.run(keeping: noBackup ? nil : folder) { bar.show($0) }
    } catch {
      throw Self.failure(error, path: path)
    }
    do {
      try migration.check()
    } catch {
      let failure = Self.failure(error, path: path)
      throw CommandFailure(
        message: "what was made of the store is not in order: \(failure.message)",
        hint: backup.map { "the store as it was: \($0)" }
          ?? "`cairnctl inspect \(ShellWord.path(path))` shows how it is; go back to a copy of yours"
      )
    }
    return backup
  }

  private static func failure(_ error: any Error, path: String) -> CommandFailure {
    let message =
      switch error {
      case let error as CoreDataError: error.message
      case let error as CocoaError: "\(path): \(error.localizedDescription)"
      default: "\(path): \(error)"
      }
    return CommandFailure(
      message: message,
      hint: "the store is as it was; `cairnctl inspect \(ShellWord.path(path))` shows how that is")
  }

  /// Bytes that this user may still write in the folder of a file.
  private static func free(at path: String) -> Int? {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let facts = try? FileManager.default.attributesOfFileSystem(forPath: folder)
    return (facts?[.systemFreeSize] as? NSNumber)?.intValue
  }
}

extension MigrationRoute {
  /// - Throws: ``CommandFailure`` for a store or a model that cannot be used.
  init(_ command: MigrateCommand) throws {
    let target = try ModelFileVersion(
      command.to, version: command.modelVersion, timeout: command.shared.timeout)
    let given = try command.from.map {
      try InspectedFile.modelVersions($0, timeout: command.shared.timeout)
    }
    do {
      try self.init(
        of: StoreLocation(file: command.path),
        to: Version(side: target.side, model: target.model), in: target.file, from: given)
    } catch let error as ReadOnlyStoreError {
      throw CommandFailure(error)
    }
  }
}
