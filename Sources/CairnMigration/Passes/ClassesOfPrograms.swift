// Makes migration managers and policies of programs' classes, which Cairn knows only while the program
// runs, in the way that `StoreMaking.swift` in CairnStore explains.
//
// A mapping model names policy classes, and Cairn makes those only that the program has registered or
// linked as subclasses of the policy: what stops the program is its own class without `init()`.
import CairnModel

extension MigrationManager {
  package convenience init(
    byFramework source: ManagedObjectModel, _ destination: ManagedObjectModel
  ) {
    self.init(sourceModel: source, destinationModel: destination)
  }

  @_silgen_name(
    "$s14CairnMigration0B7ManagerC11byFramework_AC0A5Model013ManagedObjectF0C_AGtcfC")
  private class func madeByFramework(
    _ source: __owned ManagedObjectModel, _ destination: __owned ManagedObjectModel
  ) -> MigrationManager

  /// A manager of a class.
  static func make(
    _ type: MigrationManager.Type, from source: ManagedObjectModel,
    to destination: ManagedObjectModel
  ) -> MigrationManager {
    type.madeByFramework(source, destination)
  }
}

extension EntityMigrationPolicy {
  package convenience init(byFramework nothing: Void) { self.init() }

  @_silgen_name("$s14CairnMigration06EntityB6PolicyC11byFrameworkACyt_tcfC")
  private class func madeByFramework() -> EntityMigrationPolicy

  /// A policy of a class.
  static func make(_ type: EntityMigrationPolicy.Type) -> EntityMigrationPolicy {
    type.madeByFramework()
  }
}
