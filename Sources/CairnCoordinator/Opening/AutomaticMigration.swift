import CairnModel
import CairnStore
import Foundation

/// Brings a store of another model version to the coordinator's.
///
/// Finds the source model and refuses what would lose data unasked. A mapping model of the program
/// comes first; else the store type does the work in place, in one transaction, with an inferred
/// mapping.
struct AutomaticMigration {
  let request: StoreMigrationRequest
  let difference: VersionDifference
  let migrator: (any StoreMigrating)?
  private var url: URL { request.url }
  private var options: StoreOptions { request.options }
  private var model: ManagedObjectModel { request.model }
  private var metadata: [String: Any] { request.metadata }

  init(
    request: StoreMigrationRequest, difference: VersionDifference,
    migrator: (any StoreMigrating)?
  ) {
    self.request = request
    self.difference = difference
    self.migrator = migrator
  }

  /// Migrates the file.
  ///
  /// - Throws: 134130 without a source model, or when the store knows more than the model and the
  ///   program does not know that version; 134140 when there is no mapping model and inference was
  ///   not asked for, or the store type cannot do it; 134190 and 134110 from the store type, and
  ///   what a mapping model's policies throw. The file is as it was then.
  func run() throws {
    guard !options.isReadOnly else {
      throw CoreDataError(
        .persistentStoreIncompatibleVersionHash,
        "The store at \(url.storePlace) needs to be migrated (entities \(difference.explanation)), but "
          + "is to be opened read-only.",
        userInfo: userInfo(reason: "A read-only store cannot be migrated."))
    }
    if inPlace == nil, migrator == nil { throw cannotMigrate() }
    let source: (model: ManagedObjectModel, isKnownToProgram: Bool)
    do {
      source = try sourceModel()
      try source.model.prepareForUse()
    } catch  where !options.infersMappingModel {
      throw missingMapping(from: nil)
    }
    if !source.isKnownToProgram || options.refusesLossyMigration {
      try refuseLoss(from: source.model)
    }
    report(0)
    if let migrator, try migrator.migrate(request, from: source.model) {
      report(1)
      return
    }
    guard options.infersMappingModel else { throw missingMapping(from: source.model) }
    guard let inPlace else { throw cannotMigrate() }
    try inPlace.migrateInPlace(at: url, from: source.model, to: model, options: options)
    report(1)
  }

  private var inPlace: (any InPlaceMigrating.Type)? {
    request.kind.storeClass.inPlaceMigration
  }

  private func cannotMigrate() -> CoreDataError {
    CoreDataError(
      .migrationMissingMappingModel,
      "Stores of type \(request.kind.type) cannot be migrated in place.",
      userInfo: userInfo(reason: "Can't find mapping model for migration"))
  }

  private func missingMapping(from source: ManagedObjectModel?) -> CoreDataError {
    var info = userInfo(reason: "Can't find mapping model for migration")
    info["sourceModel"] = source
    info["destinationModel"] = model
    return CoreDataError(
      .migrationMissingMappingModel,
      "The store at \(url.storePlace) needs to be migrated (entities \(difference.explanation)), and "
        + "there is no mapping model. Allow an inferred one with the option "
        + "\(StoreOptionKey.inferMappingModel).",
      userInfo: info)
  }

  /// The model the store was written with: one the program gave, one among its resources, or the
  /// one the store remembers.
  private func sourceModel() throws -> (model: ManagedObjectModel, isKnownToProgram: Bool) {
    let stored = VersionDifference.hashes(in: metadata)
    let given =
      options.dictionary[StoreOptionKey.migrationSourceModels] as? [ManagedObjectModel] ?? []
    if let model = given.first(where: { $0.entityVersionHashesByName == stored }) {
      return (model, true)
    }
    if let model = migrator?.model(withEntityHashes: stored) { return (model, true) }
    var problem: (any Error)?
    do {
      if let model = try inPlace?.cachedModel(at: url, options: options),
        model.entityVersionHashesByName == stored
      {
        return (model, false)
      }
    } catch let error as CoreDataError where error.code == .migrationMissingSourceModel {
      // It is there, but no model can be made of it.
      problem = error
    }
    throw CoreDataError(
      .migrationMissingSourceModel,
      "The store at \(url.storePlace) was written with a model that is not known (entities "
        + "\(difference.explanation)). Give its models under "
        + "\(StoreOptionKey.migrationSourceModels).",
      userInfo: userInfo(reason: "Can't find model for source store"), underlyingError: problem)
  }

  /// A version that the program does not know and that has more than the model is taken for a
  /// newer one: an old program must not strip a store that a new one has moved on.
  private func refuseLoss(from source: ManagedObjectModel) throws {
    let loss = MigrationLoss(ModelDifference(from: source, to: model))
    let orders = options.refusesLossyMigration ? loss.orders : []
    let lost = loss.names + orders.map { "the order of \($0)" }
    let isLost = !lost.isEmpty
    guard isLost || !loss.uncertain.isEmpty else { return }
    let list = Self.list(isLost ? lost : loss.uncertain)
    throw CoreDataError(
      .migrationMissingSourceModel,
      "The store at \(url.storePlace) was written with another version of the model, "
        + (isLost
          ? "with \(list), which this program's model does not have. Open it with the program that "
            + "wrote it. If this one drops them on purpose, "
          : "in which something else may have the name \(list), as a renaming identifier says. Open "
            + "it with the program that wrote it. To follow the names on purpose, ")
        + "give the store's model under \(StoreOptionKey.migrationSourceModels).",
      userInfo: userInfo(
        reason: isLost
          ? "The store's model has more: this one lacks \(list)."
          : "Whether \(list) was renamed cannot be told."))
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(8).joined(separator: ", ") + (names.count > 8 ? " and more" : "")
  }

  private func userInfo(reason: String) -> [String: Any] {
    [
      "metadata": metadata, "reason": reason, "entities": difference.names,
      NSFilePathErrorKey: url.path,
    ]
  }

  private func report(_ fraction: Double) {
    let option = options.dictionary[StoreOptionKey.migrationProgress]
    if let progress = option as? @Sendable (Double) -> Void {
      progress(fraction)
    } else if let progress = option as? (Double) -> Void {
      progress(fraction)
    }
  }
}
