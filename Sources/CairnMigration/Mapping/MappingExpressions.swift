import CairnModel
import CairnPredicates

/// The usual expressions of mappings, as Xcode's editor shows them.
enum MappingExpressions {
  /// `$source.name`.
  static func source(_ keyPath: String) -> ObjectExpression {
    ObjectExpression(
      forFunction: ObjectExpression(forVariable: "source"), selectorName: "valueForKeyPath:",
      arguments: [ObjectExpression(forConstantValue: keyPath)])
  }

  /// What a mapping made of the objects that a relationship of the source leads to.
  static func destinations(of keyPath: String, mappingNamed name: String) -> ObjectExpression {
    ObjectExpression(
      forFunction: ObjectExpression(forVariable: "manager"),
      selectorName: ManagerMessage.destinationInstancesByMapping,
      arguments: [ObjectExpression(forConstantValue: name), source(keyPath)])
  }

  /// What any mapping made of the objects that a relationship of the source leads to.
  static func destinations(of keyPath: String) -> ObjectExpression {
    ObjectExpression(
      forFunction: ObjectExpression(forVariable: "manager"),
      selectorName: ManagerMessage.destinationInstancesByRelationship,
      arguments: [ObjectExpression(forConstantValue: keyPath), source(keyPath)])
  }

  /// `FETCH(…)` of all objects of a source entity.
  static func all(ofSourceEntity name: String) -> ObjectExpression {
    ObjectExpression(
      forFetch: ObjectExpression(
        forFunction: ObjectExpression(forVariable: "manager"),
        selectorName: ManagerMessage.sourceFetchRequest,
        arguments: [
          ObjectExpression(forConstantValue: name),
          ObjectExpression(forConstantValue: "TRUEPREDICATE"),
        ]),
      context: ObjectExpression(
        forFunction: ObjectExpression(forVariable: "manager"), selectorName: "valueForKeyPath:",
        arguments: [ObjectExpression(forConstantValue: "sourceContext")]), countOnly: false)
  }
}

/// What expressions may ask a migration manager, as Core Data names it.
enum ManagerMessage {
  static let destinationInstancesByMapping =
    "destinationInstancesForEntityMappingNamed:sourceInstances:"
  static let sourceInstancesByMapping =
    "sourceInstancesForEntityMappingNamed:destinationInstances:"
  static let destinationInstancesByRelationship =
    "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  static let sourceFetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
}
