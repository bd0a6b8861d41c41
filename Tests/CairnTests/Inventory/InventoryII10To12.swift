// Proof that symbols of the inventory exist, with labels and types: this file compiles.
// Chapters II.10 and II.12 of the specification.

import CoreData
import Testing

/// Constants have the values of Apple's.
@Suite struct InventoryII10To12 {
  @Test func constantsOfChapterII10() {
    #expect(NSEntityMappingType.undefinedEntityMappingType.rawValue == 0)
    #expect(NSEntityMappingType.customEntityMappingType.rawValue == 1)
    #expect(NSEntityMappingType.addEntityMappingType.rawValue == 2)
    #expect(NSEntityMappingType.removeEntityMappingType.rawValue == 3)
    #expect(NSEntityMappingType.copyEntityMappingType.rawValue == 4)
    #expect(NSEntityMappingType.transformEntityMappingType.rawValue == 5)
  }
  @Test func constantsOfChapterII12() {
    #expect(NSComparisonPredicate.Modifier.direct.rawValue == 0)
    #expect(NSComparisonPredicate.Modifier.all.rawValue == 1)
    #expect(NSComparisonPredicate.Modifier.any.rawValue == 2)
    #expect(NSComparisonPredicate.Operator.lessThan.rawValue == 0)
    #expect(NSComparisonPredicate.Operator.lessThanOrEqualTo.rawValue == 1)
    #expect(NSComparisonPredicate.Operator.greaterThan.rawValue == 2)
    #expect(NSComparisonPredicate.Operator.greaterThanOrEqualTo.rawValue == 3)
    #expect(NSComparisonPredicate.Operator.equalTo.rawValue == 4)
    #expect(NSComparisonPredicate.Operator.notEqualTo.rawValue == 5)
    #expect(NSComparisonPredicate.Operator.matches.rawValue == 6)
    #expect(NSComparisonPredicate.Operator.like.rawValue == 7)
    #expect(NSComparisonPredicate.Operator.beginsWith.rawValue == 8)
    #expect(NSComparisonPredicate.Operator.endsWith.rawValue == 9)
    #expect(NSComparisonPredicate.Operator.in.rawValue == 10)
    #expect(NSComparisonPredicate.Operator.customSelector.rawValue == 11)
    #expect(NSComparisonPredicate.Operator.contains.rawValue == 99)
    #expect(NSComparisonPredicate.Operator.between.rawValue == 100)
    #expect(NSCompoundPredicate.LogicalType.not.rawValue == 0)
    #expect(NSCompoundPredicate.LogicalType.and.rawValue == 1)
    #expect(NSCompoundPredicate.LogicalType.or.rawValue == 2)
    #expect(NSExpression.ExpressionType.constantValue.rawValue == 0)
    #expect(NSExpression.ExpressionType.evaluatedObject.rawValue == 1)
    #expect(NSExpression.ExpressionType.variable.rawValue == 2)
    #expect(NSExpression.ExpressionType.keyPath.rawValue == 3)
    #expect(NSExpression.ExpressionType.function.rawValue == 4)
    #expect(NSExpression.ExpressionType.unionSet.rawValue == 5)
    #expect(NSExpression.ExpressionType.intersectSet.rawValue == 6)
    #expect(NSExpression.ExpressionType.minusSet.rawValue == 7)
    #expect(NSExpression.ExpressionType.subquery.rawValue == 13)
    #expect(NSExpression.ExpressionType.aggregate.rawValue == 14)
    #expect(NSExpression.ExpressionType.anyKey.rawValue == 15)
    #expect(NSExpression.ExpressionType.block.rawValue == 19)
    #expect(NSExpression.ExpressionType.conditional.rawValue == 20)
  }
}

// None of these functions is called; as deprecated ones they may use what Apple deprecated.

private func any<T>() -> T { fatalError("never called") }

@available(*, deprecated)
private func uses_NSEntityMappingType() throws {
  let _: NSEntityMappingType.Type = NSEntityMappingType.self
}
@available(*, deprecated)
private func uses_NSEntityMapping(_ x: NSEntityMapping) throws {
  let _: NSEntityMapping.Type = NSEntityMapping.self
  do { let v: String? = x.name; x.name = v }
  do { let v: NSEntityMappingType = x.mappingType; x.mappingType = v }
  do { let v: String? = x.sourceEntityName; x.sourceEntityName = v }
  do { let v: Data? = x.sourceEntityVersionHash; x.sourceEntityVersionHash = v }
  do { let v: String? = x.destinationEntityName; x.destinationEntityName = v }
  do { let v: Data? = x.destinationEntityVersionHash; x.destinationEntityVersionHash = v }
  do { let v: [NSPropertyMapping]? = x.attributeMappings; x.attributeMappings = v }
  do { let v: [NSPropertyMapping]? = x.relationshipMappings; x.relationshipMappings = v }
  do { let v: NSExpression? = x.sourceExpression; x.sourceExpression = v }
  do { let v: [AnyHashable: Any]? = x.userInfo; x.userInfo = v }
  do { let v: String? = x.entityMigrationPolicyClassName; x.entityMigrationPolicyClassName = v }
}
@available(*, deprecated)
private func uses_NSPropertyMapping(_ x: NSPropertyMapping) throws {
  let _: NSPropertyMapping.Type = NSPropertyMapping.self
  do { let v: String? = x.name; x.name = v }
  do { let v: NSExpression? = x.valueExpression; x.valueExpression = v }
  do { let v: [AnyHashable: Any]? = x.userInfo; x.userInfo = v }
}
@available(*, deprecated)
private func uses_NSMappingModel(_ x: NSMappingModel) throws {
  let _: NSMappingModel.Type = NSMappingModel.self
  let _: ([Bundle]?, NSManagedObjectModel?, NSManagedObjectModel?) -> NSMappingModel? =
    NSMappingModel.init(from:forSourceModel:destinationModel:)
  let _: (NSManagedObjectModel, NSManagedObjectModel) throws -> NSMappingModel = NSMappingModel
    .inferredMappingModel(forSourceModel:destinationModel:)
  let _: (URL?) -> NSMappingModel? = NSMappingModel.init(contentsOf:)
  do { let v: [NSEntityMapping]? = x.entityMappings; x.entityMappings = v }
  let _: [String: NSEntityMapping] = x.entityMappingsByName
}
@available(*, deprecated)
private func uses_NSEntityMigrationPolicy(_ x: NSEntityMigrationPolicy) throws {
  let _: NSEntityMigrationPolicy.Type = NSEntityMigrationPolicy.self
  let _: (NSEntityMapping, NSMigrationManager) throws -> Void = x.begin(_:with:)
  let _: (NSManagedObject, NSEntityMapping, NSMigrationManager) throws -> Void = x
    .createDestinationInstances(forSource:in:manager:)
  let _: (NSEntityMapping, NSMigrationManager) throws -> Void = x.endInstanceCreation(
    forMapping:manager:)
  let _: (NSManagedObject, NSEntityMapping, NSMigrationManager) throws -> Void = x
    .createRelationships(forDestination:in:manager:)
  let _: (NSEntityMapping, NSMigrationManager) throws -> Void = x.endRelationshipCreation(
    forMapping:manager:)
  let _: (NSEntityMapping, NSMigrationManager) throws -> Void = x.performCustomValidation(
    forMapping:manager:)
  let _: (NSEntityMapping, NSMigrationManager) throws -> Void = x.end(_:manager:)
}
@available(*, deprecated)
private func uses_NSMigrationManager(_ x: NSMigrationManager) throws {
  let _: NSMigrationManager.Type = NSMigrationManager.self
  let _: (NSManagedObjectModel, NSManagedObjectModel) -> NSMigrationManager = NSMigrationManager
    .init(sourceModel:destinationModel:)
  let _:
    (URL, String, [AnyHashable: Any]?, NSMappingModel?, URL, String, [AnyHashable: Any]?) throws ->
      Void = x.migrateStore(
        from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)
  _ = { () throws in
    try x.migrateStore(
      from: any(), sourceType: any(), with: any(), toDestinationURL: any(), destinationType: any())
  }
  do { let v: Bool = x.usesStoreSpecificMigrationManager; x.usesStoreSpecificMigrationManager = v }
  let _: () -> Void = x.reset
  let _: NSMappingModel = x.mappingModel
  let _: NSManagedObjectModel = x.sourceModel
  let _: NSManagedObjectModel = x.destinationModel
  let _: NSManagedObjectContext = x.sourceContext
  let _: NSManagedObjectContext = x.destinationContext
  let _: (NSEntityMapping) -> NSEntityDescription? = x.sourceEntity(for:)
  let _: (NSEntityMapping) -> NSEntityDescription? = x.destinationEntity(for:)
  let _: (NSManagedObject, NSManagedObject, NSEntityMapping) -> Void = x.associate(
    sourceInstance:withDestinationInstance:for:)
  let _: (String, [NSManagedObject]?) -> [NSManagedObject] = x.destinationInstances(
    forEntityMappingName:sourceInstances:)
  let _: (String, [NSManagedObject]?) -> [NSManagedObject] = x.sourceInstances(
    forEntityMappingName:destinationInstances:)
  let _: NSEntityMapping = x.currentEntityMapping
  let _: Float = x.migrationProgress
  do { let v: [AnyHashable: Any]? = x.userInfo; x.userInfo = v }
  let _: (any Error) -> Void = x.cancelMigrationWithError(_:)
  let _:
    (
      URL, NSPersistentStore.StoreType, [AnyHashable: Any]?, NSMappingModel, URL,
      NSPersistentStore.StoreType, [AnyHashable: Any]?
    ) throws -> Void = x.migrateStore(from:type:options:mapping:to:type:options:)
  _ = { () throws in
    try x.migrateStore(from: any(), type: any(), mapping: any(), to: any(), type: any())
  }
}
@available(*, deprecated)
private func uses_NSMigrationStage(_ x: NSMigrationStage) throws {
  let _: NSMigrationStage.Type = NSMigrationStage.self
  do { let v: String? = x.label; x.label = v }
}
@available(*, deprecated)
private func uses_NSLightweightMigrationStage(_ x: NSLightweightMigrationStage) throws {
  let _: NSLightweightMigrationStage.Type = NSLightweightMigrationStage.self
  let _: NSMigrationStage.Type = NSLightweightMigrationStage.self
  let _: [String] = x.versionChecksums
  let _: ([String]) -> NSLightweightMigrationStage = NSLightweightMigrationStage.init(_:)
}
@available(*, deprecated)
private func uses_NSCustomMigrationStage(_ x: NSCustomMigrationStage) throws {
  let _: NSCustomMigrationStage.Type = NSCustomMigrationStage.self
  let _: NSMigrationStage.Type = NSCustomMigrationStage.self
  let _: NSManagedObjectModelReference = x.currentModel
  let _: NSManagedObjectModelReference = x.nextModel
  let _: (NSManagedObjectModelReference, NSManagedObjectModelReference) -> NSCustomMigrationStage =
    NSCustomMigrationStage.init(migratingFrom:to:)
  do {
    let v:
      (
        (_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage)
          throws -> Void
      )? = x.willMigrateHandler
      ;
    x.willMigrateHandler = v
  }
  do {
    let v:
      (
        (_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage)
          throws -> Void
      )? = x.didMigrateHandler
      ;
    x.didMigrateHandler = v
  }
}
@available(*, deprecated)
private func uses_NSStagedMigrationManager(_ x: NSStagedMigrationManager) throws {
  let _: NSStagedMigrationManager.Type = NSStagedMigrationManager.self
  let _: [NSMigrationStage] = x.stages
  let _: NSPersistentContainer? = x.container
  let _: ([NSMigrationStage]) -> NSStagedMigrationManager = NSStagedMigrationManager.init(_:)
}
@available(*, deprecated)
private func uses_NSComparisonPredicate_Options() throws {
  let _: NSComparisonPredicate.Options.Type = NSComparisonPredicate.Options.self
  let _: (UInt) -> NSComparisonPredicate.Options = NSComparisonPredicate.Options.init(rawValue:)
  let _: NSComparisonPredicate.Options = NSComparisonPredicate.Options.caseInsensitive
  let _: NSComparisonPredicate.Options = NSComparisonPredicate.Options.diacriticInsensitive
  let _: NSComparisonPredicate.Options = NSComparisonPredicate.Options.normalized
}
@available(*, deprecated)
private func uses_NSComparisonPredicate_Modifier() throws {
  let _: NSComparisonPredicate.Modifier.Type = NSComparisonPredicate.Modifier.self
}
@available(*, deprecated)
private func uses_NSComparisonPredicate_Operator() throws {
  let _: NSComparisonPredicate.Operator.Type = NSComparisonPredicate.Operator.self
}
@available(*, deprecated)
private func uses_NSComparisonPredicate(_ x: NSComparisonPredicate) throws {
  let _: NSComparisonPredicate.Type = NSComparisonPredicate.self
  let _: NSPredicate.Type = NSComparisonPredicate.self
  let _:
    (
      NSExpression, NSExpression, NSComparisonPredicate.Modifier, NSComparisonPredicate.Operator,
      NSComparisonPredicate.Options
    ) -> NSComparisonPredicate = NSComparisonPredicate.init(
      leftExpression:rightExpression:modifier:type:options:)
  _ = {
    NSComparisonPredicate(
      leftExpression: any(), rightExpression: any(), modifier: any(), type: any())
  }
  let _: (NSExpression, NSExpression, Selector) -> NSComparisonPredicate = NSComparisonPredicate
    .init(leftExpression:rightExpression:customSelector:)
  let _: (NSCoder) -> NSComparisonPredicate? = NSComparisonPredicate.init(coder:)
  let _: NSComparisonPredicate.Operator = x.predicateOperatorType
  let _: NSComparisonPredicate.Modifier = x.comparisonPredicateModifier
  let _: NSExpression = x.leftExpression
  let _: NSExpression = x.rightExpression
  let _: Selector? = x.customSelector
  let _: NSComparisonPredicate.Options = x.options
}
@available(*, deprecated)
private func uses_NSCompoundPredicate_LogicalType() throws {
  let _: NSCompoundPredicate.LogicalType.Type = NSCompoundPredicate.LogicalType.self
}
@available(*, deprecated)
private func uses_NSCompoundPredicate(_ x: NSCompoundPredicate) throws {
  let _: NSCompoundPredicate.Type = NSCompoundPredicate.self
  let _: NSPredicate.Type = NSCompoundPredicate.self
  let _: (NSCompoundPredicate.LogicalType, [NSPredicate]) -> NSCompoundPredicate =
    NSCompoundPredicate.init(type:subpredicates:)
  let _: (NSCoder) -> NSCompoundPredicate? = NSCompoundPredicate.init(coder:)
  let _: NSCompoundPredicate.LogicalType = x.compoundPredicateType
  let _: [Any] = x.subpredicates
  let _: ([NSPredicate]) -> NSCompoundPredicate = NSCompoundPredicate.init(
    andPredicateWithSubpredicates:)
  let _: ([NSPredicate]) -> NSCompoundPredicate = NSCompoundPredicate.init(
    orPredicateWithSubpredicates:)
  let _: (NSPredicate) -> NSCompoundPredicate = NSCompoundPredicate.init(
    notPredicateWithSubpredicate:)
}
@available(*, deprecated)
private func uses_NSExpression_ExpressionType() throws {
  let _: NSExpression.ExpressionType.Type = NSExpression.ExpressionType.self
}
@available(*, deprecated)
private func uses_NSExpression(_ x: NSExpression) throws {
  let _: NSExpression.Type = NSExpression.self
  _ = (x as any NSSecureCoding)
  _ = (x as any NSCopying)
  let _: (String, [Any]) -> NSExpression = NSExpression.init(format:argumentArray:)
  let _: (String, CVaListPointer) -> NSExpression = NSExpression.init(format:arguments:)
  let _: (Any?) -> NSExpression = NSExpression.init(forConstantValue:)
  let _: () -> NSExpression = NSExpression.expressionForEvaluatedObject
  let _: (String) -> NSExpression = NSExpression.init(forVariable:)
  let _: (String) -> NSExpression = NSExpression.init(forKeyPath:)
  let _: (String, [Any]) -> NSExpression = NSExpression.init(forFunction:arguments:)
  let _: ([NSExpression]) -> NSExpression = NSExpression.init(forAggregate:)
  let _: (NSExpression, NSExpression) -> NSExpression = NSExpression.init(forUnionSet:with:)
  let _: (NSExpression, NSExpression) -> NSExpression = NSExpression.init(forIntersectSet:with:)
  let _: (NSExpression, NSExpression) -> NSExpression = NSExpression.init(forMinusSet:with:)
  let _: (NSExpression, String, NSPredicate) -> NSExpression = NSExpression.init(
    forSubquery:usingIteratorVariable:predicate:)
  let _: (NSExpression, String, [Any]?) -> NSExpression = NSExpression.init(
    forFunction:selectorName:arguments:)
  let _: () -> NSExpression = NSExpression.expressionForAnyKey
  let _:
    (@escaping (Any?, [NSExpression], NSMutableDictionary?) -> Any, [NSExpression]?) -> NSExpression =
      NSExpression.init(block:arguments:)
  let _: (NSPredicate, NSExpression, NSExpression) -> NSExpression = NSExpression.init(
    forConditional:trueExpression:falseExpression:)
  let _: (NSExpression.ExpressionType) -> NSExpression = NSExpression.init(expressionType:)
  let _: (NSCoder) -> NSExpression? = NSExpression.init(coder:)
  let _: NSExpression.ExpressionType = x.expressionType
  let _: Any? = x.constantValue
  let _: String = x.keyPath
  let _: String = x.function
  let _: String = x.variable
  let _: NSExpression = x.operand
  let _: [NSExpression]? = x.arguments
  let _: Any = x.collection
  let _: NSPredicate = x.predicate
  let _: NSExpression = x.left
  let _: NSExpression = x.right
  let _: NSExpression = x.`true`
  let _: NSExpression = x.`false`
  let _: (Any?, [NSExpression], NSMutableDictionary?) -> Any = x.expressionBlock
  let _: (Any?, NSMutableDictionary?) -> Any? = x.expressionValue(with:context:)
  let _: () -> Void = x.allowEvaluation
  _ = NSExpression(format: "%d + 1", 1)
  let _: (KeyPath<NSManagedObject, String>) -> NSExpression = NSExpression.init(forKeyPath:)
}
@available(*, deprecated)
private func uses_NSPredicate(_ x: NSPredicate) throws {
  let _: NSPredicate.Type = NSPredicate.self
  _ = (x as any NSSecureCoding)
  _ = (x as any NSCopying)
  let _: (String, [Any]?) -> NSPredicate = NSPredicate.init(format:argumentArray:)
  let _: (String, CVaListPointer) -> NSPredicate = NSPredicate.init(format:arguments:)
  let _: (Bool) -> NSPredicate = NSPredicate.init(value:)
  let _: (@escaping (Any?, [String: Any]?) -> Bool) -> NSPredicate = NSPredicate.init(block:)
  let _: String = x.predicateFormat
  let _: ([String: Any]) -> NSPredicate = x.withSubstitutionVariables(_:)
  let _: (Any?) -> Bool = x.evaluate(with:)
  let _: (Any?, [String: Any]?) -> Bool = x.evaluate(with:substitutionVariables:)
  let _: () -> Void = x.allowEvaluation
  _ = NSPredicate(format: "a == %@ AND b == %d", "x" as NSString, 1)
  let _: (Predicate<NSManagedObject>) -> NSPredicate? = NSPredicate.init(_:)
}
@available(*, deprecated)
private func uses_NSSortDescriptor(_ x: NSSortDescriptor) throws {
  let _: NSSortDescriptor.Type = NSSortDescriptor.self
  _ = (x as any NSSecureCoding)
  _ = (x as any NSCopying)
  let _: (String?, Bool) -> NSSortDescriptor = NSSortDescriptor.init(key:ascending:)
  let _: (String?, Bool, Selector?) -> NSSortDescriptor = NSSortDescriptor.init(
    key:ascending:selector:)
  let _: (NSCoder) -> NSSortDescriptor? = NSSortDescriptor.init(coder:)
  let _: String? = x.key
  let _: Bool = x.ascending
  let _: Selector? = x.selector
  let _: () -> Void = x.allowEvaluation
  let _: (String?, Bool, @escaping Comparator) -> NSSortDescriptor = NSSortDescriptor.init(
    key:ascending:comparator:)
  let _: Comparator = x.comparator
  let _: (Any, Any) -> ComparisonResult = x.compare(_:to:)
  let _: Any = x.reversedSortDescriptor
  let _: (KeyPath<NSManagedObject, String>, Bool) -> NSSortDescriptor = NSSortDescriptor.init(
    keyPath:ascending:)
  let _: (KeyPath<NSManagedObject, String>, Bool, @escaping Comparator) -> NSSortDescriptor =
    NSSortDescriptor.init(keyPath:ascending:comparator:)
  let _: AnyKeyPath? = x.keyPath
  let _: (SortDescriptor<NSManagedObject>) -> NSSortDescriptor = NSSortDescriptor.init(_:)
}
