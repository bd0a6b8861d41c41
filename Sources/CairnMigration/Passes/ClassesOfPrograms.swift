// Managers and policies of programs' classes, made of a class that is known only while the program
// runs.
//
// Swift makes objects of such a class through required initializers alone, and a subclass that has a
// designated initializer of its own would have to write those out, which no program for Apple's
// platforms does. A convenience initializer, though, is handed the class that it makes an object of
// and asks it for the designated one, as it does for a subclass that inherits both. Here it is called
// by its symbol with the class at hand. A class that does not have the designated initializer stops
// the program with the message that it stops with on Apple's platforms ("Use of unimplemented
// initializer").
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
