import CairnModel
import CairnStore
import Foundation

/// Migration that works with objects: mapping models, stages, and store types that cannot change
/// their files in place.
///
/// It needs contexts, which a coordinator does not know; who makes the coordinator hands it in.
package protocol StoreMigrating: Sendable {
  /// A model of the program with exactly these entity hashes, nil when there is none.
  func model(withEntityHashes hashes: [String: Data]) -> ManagedObjectModel?

  /// Works off the stages that the options ask for; false when they ask for none.
  ///
  /// - Throws: 134504 to 134506 and whatever a stage throws; the store is at the last stage that
  ///   was completed.
  func runStages(_ request: StoreMigrationRequest) throws -> Bool

  /// Migrates with a mapping model of the program, or object by object with an inferred one where
  /// the store type cannot do it in place; false when it leaves the work to the store type.
  ///
  /// - Throws: Whatever the migration throws; the store is as it was.
  func migrate(_ request: StoreMigrationRequest, from source: ManagedObjectModel) throws -> Bool

  /// Removes what migrations of a store left beside it that a crash broke off; not what one that is
  /// under way needs.
  func removeLeftovers(of store: URL)
}

/// A store file of another model version, and what it is to become.
package struct StoreMigrationRequest {
  package let kind: any StoreKind
  package let url: URL
  package let options: StoreOptions
  package let configurationName: String?
  /// The version the file is to have.
  package let model: ManagedObjectModel
  /// What the file says of itself.
  package let metadata: [String: Any]

  package init(
    kind: any StoreKind, url: URL, options: StoreOptions, configurationName: String?,
    model: ManagedObjectModel, metadata: [String: Any]
  ) {
    self.kind = kind
    self.url = url
    self.options = options
    self.configurationName = configurationName
    self.model = model
    self.metadata = metadata
  }
}
