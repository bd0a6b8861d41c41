import CairnModel
import CairnStore
import Foundation

/// Brings a store to the newest version stage by stage.
///
/// It does so when the store is opened with this manager under the option
/// `StoreOptionKey.stagedMigrationManager`. Source: `NSStagedMigrationManager`.
///
/// Each stage is committed by itself: after a failure the store is at the last one that was
/// completed, and opening it again goes on from there. The manager belongs to the thread that
/// opens the store while it is at work.
open class StagedMigrationManager: NSObject {
  /// In order, oldest first.
  public let stages: [MigrationStage]
  /// The stage that is worked off.
  package internal(set) var runningStage: MigrationStage?
  /// The container of the running handler; the umbrella module gives it its type.
  package internal(set) var stageContainer: AnyObject?

  /// A manager for stages in order, oldest first.
  public init(stages: [MigrationStage]) {
    self.stages = stages
    super.init()
  }

  /// A manager for stages in order, oldest first.
  public convenience init(_ stages: [MigrationStage]) { self.init(stages: stages) }
}

/// A container over one open store, and how to close it.
package struct StageContainer {
  let container: AnyObject
  let close: () throws -> Void

  package init(_ container: AnyObject, close: @escaping () throws -> Void) {
    self.container = container
    self.close = close
  }
}
