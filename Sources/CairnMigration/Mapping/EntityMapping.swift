import CairnModel
import CairnPredicates
import Foundation

/// What a migration does with an entity, with Core Data's raw values.
public enum EntityMappingType: UInt, Sendable {
  /// Not said; treated as ``transformEntityMappingType``.
  case undefinedEntityMappingType = 0
  /// A policy class of the program makes the objects.
  case customEntityMappingType = 1
  /// The entity is new: nothing to bring over.
  case addEntityMappingType = 2
  /// The entity is gone: its objects are dropped.
  case removeEntityMappingType = 3
  /// The entity is the same in both versions.
  case copyEntityMappingType = 4
  /// Objects are brought over property by property.
  case transformEntityMappingType = 5
}

/// How the objects of one destination entity come to be from those of a source entity.
///
/// Source: `NSEntityMapping`.
///
/// Filled by one thread before the migration; not changed while it runs.
open class EntityMapping: NSObject {
  /// Names the mapping in expressions; unique in its model.
  open var name: String!
  open var mappingType: EntityMappingType = .undefinedEntityMappingType
  /// The entity of the source model, nil for a new one.
  open var sourceEntityName: String?
  /// The version of the source entity that the mapping was made for; nil for any.
  open var sourceEntityVersionHash: Data?
  /// The entity of the destination model, nil for one that is gone.
  open var destinationEntityName: String?
  /// The version of the destination entity that the mapping was made for; nil for any.
  open var destinationEntityVersionHash: Data?
  open var attributeMappings: [PropertyMapping]?
  open var relationshipMappings: [PropertyMapping]?
  /// Which source objects; nil for all that are of the source entity itself.
  open var sourceExpression: ObjectExpression?
  /// For the program's own use.
  open var userInfo: [AnyHashable: Any]?
  /// The class that does the work instead of ``EntityMigrationPolicy``, by its name.
  open var entityMigrationPolicyClassName: String?

  public override init() { super.init() }

  /// The name as error messages show it.
  var title: String {
    name ?? "\(sourceEntityName ?? "")To\(destinationEntityName ?? "")"
  }

  /// Whether the other makes the same of the same entity.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? EntityMapping else { return false }
    if self === other { return true }
    return name == other.name && mappingType == other.mappingType
      && sourceEntityName == other.sourceEntityName
      && sourceEntityVersionHash == other.sourceEntityVersionHash
      && destinationEntityName == other.destinationEntityName
      && destinationEntityVersionHash == other.destinationEntityVersionHash
      && (attributeMappings ?? []) == (other.attributeMappings ?? [])
      && (relationshipMappings ?? []) == (other.relationshipMappings ?? [])
      && sourceExpression == other.sourceExpression
      && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
      && MappingNotes.areEqual(userInfo, other.userInfo)
  }

  open override var hash: Int { title.hashValue }

  open override var description: String {
    "<EntityMapping: \(title), \(sourceEntityName ?? "nothing") to "
      + "\(destinationEntityName ?? "nothing")>"
  }
}

/// The program's own notes in mappings.
enum MappingNotes {
  /// None is the same as no notes.
  static func areEqual(_ one: [AnyHashable: Any]?, _ other: [AnyHashable: Any]?) -> Bool {
    NSDictionary(dictionary: one ?? [:]).isEqual(to: other ?? [:])
  }
}
