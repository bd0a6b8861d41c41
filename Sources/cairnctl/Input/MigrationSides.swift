// The two models and the mapping model of a migration.
import Cairn
import CairnRecords
import Foundation

/// From which version to which a store file goes.
struct MigrationSides {
  let old: (side: ModelComparison.Side, model: ManagedObjectModel)
  let new: (side: ModelComparison.Side, model: ManagedObjectModel)
  let mapping: (model: MappingModel, url: URL)?
  private let path: String

  init(_ command: MigrateCommand, type: String) throws {
    path = command.path
    let target = try ModelFileVersion(
      command.to, version: command.modelVersion, timeout: command.shared.timeout)
    new = (target.side, target.model)
    let metadata: [String: Any]
    do {
      metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
        ofType: type, at: URL(fileURLWithPath: path))
    } catch let error as CoreDataError {
      throw CommandFailure(message: error.message)
    }
    func fits(_ model: ManagedObjectModel) -> Bool {
      model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
    func side(_ file: ModelVersions) -> (ModelComparison.Side, ManagedObjectModel)? {
      for version in file.versions {
        guard let model = try? version.model.get(), fits(model) else { continue }
        return (
          ModelComparison.Side(
            file: file.url.path, version: version.name, checksum: model.versionChecksum), model
        )
      }
      return nil
    }
    if let given = command.from {
      let file = try InspectedFile.modelVersions(given, timeout: command.shared.timeout)
      guard let found = side(file) else {
        throw CommandFailure(
          message: "\(path) was not made with a model of \(given)",
          hint: "`cairnctl inspect \(path)` shows what it says of its model")
      }
      old = found
    } else if fits(target.model) {
      old = new
    } else if let found = side(target.file) {
      old = found
    } else if let remembered = try? InspectedFile.modelVersions(
      path, timeout: command.shared.timeout), type == StoreTypeName.sqlite,
      let found = side(remembered)
    {
      old = (
        ModelComparison.Side(
          file: path, version: "the version inside the store", checksum: found.0.checksum), found.1
      )
    } else {
      throw CommandFailure(
        message:
          "the model that \(path) was made with is neither in \(command.to) nor in the store",
        hint: "name it by --from")
    }
    mapping = target.file.mapping(from: old.model, to: new.model)
  }

  func plan() throws -> FileMigrationPlan {
    do {
      return try FileMigrationPlan(path: path, from: old, to: new, mapping: mapping)
    } catch let error as ReadOnlyStoreError {
      throw CommandFailure(message: error.message, hint: error.hint)
    } catch let error as CoreDataError {
      throw CommandFailure(message: "\(path): \(error.message)")
    }
  }
}
