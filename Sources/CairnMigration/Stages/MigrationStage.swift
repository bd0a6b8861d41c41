import CairnModel
import CairnModelFiles
import Foundation

/// One step of a staged migration.
///
/// Source: `NSMigrationStage`.
///
/// Use ``LightweightMigrationStage`` and ``CustomMigrationStage``.
open class MigrationStage: NSObject {
  /// A name for people.
  open var label: String!

  public override init() { super.init() }
}

/// Model versions between which an inferred mapping suffices.
///
/// Source: `NSLightweightMigrationStage`.
open class LightweightMigrationStage: MigrationStage {
  /// `ManagedObjectModel.versionChecksum` of the versions, oldest first.
  public let versionChecksums: [String]

  /// A stage for versions, oldest first.
  public init(versionChecksums: [String]) {
    self.versionChecksums = versionChecksums
    super.init()
  }

  /// A stage for versions, oldest first.
  public convenience init(_ checksums: [String]) { self.init(versionChecksums: checksums) }
}

/// A step from one version to the next with work of the program before and after it.
///
/// Source: `NSCustomMigrationStage`.
///
/// The step itself is an inferred mapping. The handlers run on the thread that opens the store.
open class CustomMigrationStage: MigrationStage {
  /// The version before the step.
  public let currentModel: ManagedObjectModelReference
  /// The version after the step.
  public let nextModel: ManagedObjectModelReference
  /// Called before the step, with the manager's container on the current version.
  public var willMigrateHandler: ((StagedMigrationManager, CustomMigrationStage) throws -> Void)?
  /// Called after the step, with the manager's container on the next version.
  ///
  /// Called again when the store is opened the next time, if it throws or the program ends in it: what it has saved by
  /// then is there already.
  public var didMigrateHandler: ((StagedMigrationManager, CustomMigrationStage) throws -> Void)?

  /// A step between two versions.
  public init(
    currentModelReference: ManagedObjectModelReference,
    nextModelReference: ManagedObjectModelReference
  ) {
    currentModel = currentModelReference
    nextModel = nextModelReference
    super.init()
  }

  /// A step between two versions.
  public convenience init(
    migratingFrom currentModel: ManagedObjectModelReference,
    to nextModel: ManagedObjectModelReference
  ) {
    self.init(currentModelReference: currentModel, nextModelReference: nextModel)
  }
}
