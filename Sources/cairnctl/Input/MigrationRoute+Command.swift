// The way of a store file that a person names on the command line.
import Cairn
import CairnRecords
import Foundation

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
        of: command.path, to: Version(side: target.side, model: target.model), in: target.file,
        from: given)
    } catch let error as ReadOnlyStoreError {
      throw CommandFailure(error)
    }
  }
}
