import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Makes the destination objects of one entity mapping; subclass it where expressions are not
/// enough.
///
/// Source: `NSEntityMigrationPolicy`.
///
/// One instance works for one mapping, on the manager's queue, in this order:
/// ``begin(_:with:)``; ``createDestinationInstances(forSource:in:manager:)`` for each source object;
/// ``endInstanceCreation(forMapping:manager:)``; when all mappings are that far,
/// ``createRelationships(forDestination:in:manager:)`` for each destination object and
/// ``endRelationshipCreation(forMapping:manager:)``; at last
/// ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``. What a method throws
/// ends the migration, and both stores stay as they were.
open class EntityMigrationPolicy: NSObject, MessageAnswering {
  public override init() { super.init() }

  /// Called once before anything else.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Makes the objects that come of one source object, attributes filled in, and tells the manager
  /// which they are.
  open func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard let entity = manager.destinationEntity(for: mapping) else { return }
    guard !entity.isAbstract else {
      throw CoreDataError(
        .entityMigrationPolicy,
        "The mapping \(mapping.title) makes objects of the abstract entity \(entity.name ?? "").")
    }
    let object = entity.insertObject(into: manager.destinationContext)
    let values = MappingValues(manager: manager, mapping: mapping, policy: self)
    for property in mapping.attributeMappings ?? [] {
      try values.setAttribute(property, of: object, source: sInstance)
    }
    try values.completeComposites(of: object)
    manager.associate(
      sourceInstance: sInstance, withDestinationInstance: object, for: mapping)
  }

  /// Called when all source objects of the mapping had their turn.
  open func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {}

  /// Fills in the relationships of one destination object.
  open func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let source = manager.sourceInstances(
      forEntityMappingName: mapping.title, destinationInstances: [dInstance]
    ).first
    let values = MappingValues(manager: manager, mapping: mapping, policy: self)
    for property in mapping.relationshipMappings ?? [] {
      try values.setRelationship(property, of: dInstance, source: source)
    }
  }

  /// Called when all destination objects of the mapping have their relationships.
  open func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {}

  /// For checks beyond the model's; the destination is complete but not saved.
  open func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {}

  /// Called last.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Answers `FUNCTION($entityPolicy, "selector:", …)` in expressions.
  ///
  /// Linux has no way to find a method by its name; override this and call the method that the
  /// selector names.
  @_spi(Runtime)
  open func answer(to selector: String, arguments: [Any?]) throws -> Any? {
    throw CoreDataError(
      .entityMigrationPolicy,
      "\(type(of: self)) does not answer \"\(selector)\". Override answer(to:arguments:) in a "
        + "file with @_spi(Runtime) import and call the method there.")
  }

  // MARK: Finding the class

  /// How mappings name the policy that does nothing of its own.
  private static let defaultClassName = "NSEntityMigrationPolicy"

  /// The policy of a mapping.
  ///
  /// - Throws: 134170 when the class that it names is not there, or is no policy.
  static func policy(for mapping: EntityMapping) throws -> EntityMigrationPolicy {
    guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty,
      name != defaultClassName
    else { return EntityMigrationPolicy() }
    guard let type = PolicyClasses.type(named: name) else {
      throw CoreDataError(
        .entityMigrationPolicy,
        "The mapping \(mapping.title) names the migration policy \(name), which is no class of this "
          + "program. Write it as Module.Class, or register it with "
          + "EntityMigrationPolicy.registerClass(_:forName:) (@_spi(Runtime)).")
    }
    return EntityMigrationPolicy.make(type)
  }

  /// Lets mappings find a class under a name; needed where the mapping's name does not say the
  /// module.
  @_spi(Runtime)
  public static func registerClass(_ type: EntityMigrationPolicy.Type, forName name: String) {
    PolicyClasses.register(type, forName: name)
  }
}
