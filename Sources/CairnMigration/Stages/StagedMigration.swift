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
    defer {
      manager.runningStage = nil
      manager.stageContainer = nil
    }
    try finishInterruptedStage()
    for step in try plan().steps {
      let stage = manager.stages[step.stage]
      manager.runningStage = stage
      let source = try model(step.from)
      let destination = try model(step.to)
      let custom = step.isCustom ? stage as? CustomMigrationStage : nil
      if let custom, let handler = custom.willMigrateHandler {
        try withContainer(source) { try handler(manager, custom) }
      }
      let finishes = custom?.didMigrateHandler != nil
      if finishes { try note(unfinished: step.to) }
      try migrator.migrateLightly(request, from: source, to: destination)
      if let custom, finishes { try finish(custom, at: destination) }
    }
  }

  private func finish(_ stage: CustomMigrationStage, at destination: ManagedObjectModel) throws {
    if let handler = stage.didMigrateHandler {
      try withContainer(destination) { try handler(manager, stage) }
    }
    try note(unfinished: nil)
  }

  /// Calls the handler again that failed, or in which the program ended, when the store had come to the next version
  /// already: nothing else would do what is left of that stage.
  private func finishInterruptedStage() throws {
    guard let version = request.metadata[StoreMetadataKey.unfinishedStage] as? String,
      try version == storedChecksum()
    else { return }
    for case let stage as CustomMigrationStage in manager.stages
    where stage.nextModel.versionChecksum == version {
      manager.runningStage = stage
      return try finish(stage, at: model(version))
    }
  }

  /// Notes in the store, before it comes to a version, that the stage has more to do there; nil once that is done.
  private func note(unfinished version: String?) throws {
    var metadata = try request.kind.metadata(at: request.url, options: request.options)
    metadata[StoreMetadataKey.unfinishedStage] = version
    try request.kind.setMetadata(metadata, at: request.url, options: request.options)
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

  /// A version by its checksum: the program's, one of a stage, one the options give, one among
  /// the program's resources, or the one that the store keeps.
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
    guard let found = try found ?? keptModel(checksum) else {
      throw failure(
        .managedObjectModelReferenceNotFound,
        "needs the model version with the checksum \(checksum), which is not among the program's "
          + "models. Give it under \(StoreOptionKey.migrationSourceModels).")
    }
    return found
  }

  /// The model inside the store, if it is of that version.
  private func keptModel(_ checksum: String) throws -> ManagedObjectModel? {
    let inPlace = request.kind.storeClass.inPlaceMigration
    let model = try inPlace?.cachedModel(at: request.url, options: request.options)
    return model?.versionChecksum == checksum ? model : nil
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
