import CairnCoordinator
import CairnModel
import CairnModelFiles
import CairnStore
import Foundation

/// Works off the stages of one store.
struct StagedMigration {
  let manager: StagedMigrationManager
  let request: StoreMigrationRequest
  let migrator: StoreMigrator

  func run() throws {
    let plan = try plan()
    defer {
      manager.runningStage = nil
      manager.stageContainer = nil
    }
    for step in plan.steps {
      let stage = manager.stages[step.stage]
      manager.runningStage = stage
      let source = try model(step.from)
      let destination = try model(step.to)
      let custom = step.isCustom ? stage as? CustomMigrationStage : nil
      if let custom, let handler = custom.willMigrateHandler {
        try withContainer(source) { try handler(manager, custom) }
      }
      try migrator.migrateLightly(request, from: source, to: destination)
      if let custom, let handler = custom.didMigrateHandler {
        try withContainer(destination) { try handler(manager, custom) }
      }
    }
  }

  private func plan() throws -> StagePlan {
    let stages = try manager.stages.map { stage -> StagePlan.Stage in
      switch stage {
      case let stage as LightweightMigrationStage: return .lightweight(stage.versionChecksums)
      case let stage as CustomMigrationStage:
        return .custom(
          from: stage.currentModel.versionChecksum, to: stage.nextModel.versionChecksum)
      default:
        throw CoreDataError(
          .migration, "A stage must be a LightweightMigrationStage or a CustomMigrationStage.")
      }
    }
    do {
      return try StagePlan(
        stages: stages, from: try storedChecksum(), to: request.model.versionChecksum)
    } catch StagePlan.Problem.unknownVersion {
      throw failure(
        .managedObjectModelReferenceNotFound,
        "is of a model version that is in none of the migration stages. Add a stage for it.")
    } catch StagePlan.Problem.backwards {
      throw failure(
        .stagedMigrationBackwardMigration,
        "is of a newer model version than this program's; stages lead only forwards. Use the newer "
          + "program.")
    }
  }

  /// The version the file is of.
  private func storedChecksum() throws -> String {
    if let checksum = request.metadata[StoreMetadataKey.versionChecksum] as? String {
      return checksum
    }
    guard let hashes = ManagedObjectModel.entityHashes(inStoreMetadata: request.metadata) else {
      throw failure(
        .stagedMigrationFrameworkVersionMismatch,
        "does not say which model version it is of; it is too old for staged migration.")
    }
    return ManagedObjectModel.versionChecksum(ofEntityHashes: hashes)
  }

  /// A version by its checksum: the program's, one of a stage, one the options give, or one among
  /// the program's resources.
  private func model(_ checksum: String) throws -> ManagedObjectModel {
    if request.model.versionChecksum == checksum { return request.model }
    for stage in manager.stages {
      guard let stage = stage as? CustomMigrationStage else { continue }
      for reference in [stage.currentModel, stage.nextModel]
      where reference.versionChecksum == checksum {
        return try resolve(reference)
      }
    }
    let given = request.options.dictionary[StoreOptionKey.migrationSourceModels]
    let found =
      (given as? [ManagedObjectModel])?.first { $0.versionChecksum == checksum }
      ?? ProgramResources.model { $0.versionChecksum == checksum }
    guard let found else {
      throw failure(
        .managedObjectModelReferenceNotFound,
        "needs the model version with the checksum \(checksum), which is not among the program's "
          + "models. Give it under \(StoreOptionKey.migrationSourceModels).")
    }
    return found
  }

  private func resolve(_ reference: ManagedObjectModelReference) throws -> ManagedObjectModel {
    do {
      return try reference.resolution()
    } catch {
      throw failure(
        .managedObjectModelReferenceNotFound, "needs a model version that cannot be had: \(error)",
        error)
    }
  }

  private func withContainer(_ model: ManagedObjectModel, _ body: () throws -> Void) throws {
    let opened = try migrator.makeContainer(
      model,
      MigrationStore(url: request.url, kind: request.kind, options: request.options))
    manager.stageContainer = opened.container
    defer { manager.stageContainer = nil }
    do {
      try body()
    } catch {
      try? opened.close()
      throw error
    }
    try opened.close()
  }

  private func failure(
    _ code: CoreDataError.Code, _ reason: String, _ error: (any Error)? = nil
  ) -> CoreDataError {
    CoreDataError(
      code, "The store at \(request.url.path) \(reason)",
      userInfo: ["reason": reason, NSFilePathErrorKey: request.url.path], underlyingError: error)
  }
}
