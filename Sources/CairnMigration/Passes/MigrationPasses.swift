import CairnContext
import CairnModel
import CairnStore
import Foundation

/// The three passes over the entity mappings: objects, relationships, validation.
struct MigrationPasses {
  let manager: MigrationManager
  let mappings: [EntityMapping]

  func run() throws {
    let steps = try mappings.map {
      (mapping: $0, policy: try EntityMigrationPolicy.policy(for: $0))
    }
    let total = Float(max(steps.count * 3, 1))
    var done: Float = 0
    func each(_ work: (EntityMapping, EntityMigrationPolicy) throws -> Void) throws {
      for (mapping, policy) in steps {
        try manager.checkCancellation()
        manager.begin(mapping)
        if mapping.mappingType != .removeEntityMappingType { try work(mapping, policy) }
        done += 1
        // The last part is the save.
        manager.advance(to: done / total * 0.9)
      }
    }
    try each(createInstances)
    try each(createRelationships)
    try each { mapping, policy in
      try policy.performCustomValidation(forMapping: mapping, manager: manager)
      try policy.end(mapping, manager: manager)
    }
    try manager.checkCancellation()
  }

  private func createInstances(
    _ mapping: EntityMapping, _ policy: EntityMigrationPolicy
  ) throws {
    try check(mapping)
    try policy.begin(mapping, with: manager)
    for source in try sources(of: mapping) {
      try manager.checkCancellation()
      try policy.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }
    try policy.endInstanceCreation(forMapping: mapping, manager: manager)
  }

  private func createRelationships(
    _ mapping: EntityMapping, _ policy: EntityMigrationPolicy
  ) throws {
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.title, sourceInstances: nil)
    for destination in made {
      try manager.checkCancellation()
      try policy.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }
    try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
  }

  /// A mapping must name entities that exist, of the versions it was made for.
  private func check(_ mapping: EntityMapping) throws {
    func check(
      _ side: String, _ name: String?, _ entity: EntityDescription?, _ hash: Data?
    ) throws {
      guard let name else { return }
      guard let entity else {
        throw failure(mapping, "the \(side) model has no entity \(name).")
      }
      if let hash, hash != entity.versionHash {
        throw failure(mapping, "it was made for another version of the \(side) entity \(name).")
      }
    }
    try check(
      "source", mapping.sourceEntityName, manager.sourceEntity(for: mapping),
      mapping.sourceEntityVersionHash)
    try check(
      "destination", mapping.destinationEntityName, manager.destinationEntity(for: mapping),
      mapping.destinationEntityVersionHash)
  }

  private func sources(of mapping: EntityMapping) throws -> [ManagedObject] {
    guard let name = mapping.sourceEntityName else { return [] }
    if let expression = mapping.sourceExpression {
      let variables = NSMutableDictionary()
      variables[MigrationKey.manager] = manager
      variables[MigrationKey.entityMapping] = mapping
      do {
        let value = try expression.value(for: nil, context: variables)
        if let value, let objects = ManagedObjects.list(value) { return objects }
      } catch let error as PredicateEvaluationError {
        throw failure(mapping, "its source expression fails: \(error.reason)")
      }
      throw failure(mapping, "its source expression \(expression) gives no managed objects.")
    }
    let request = FetchRequest<ManagedObject>(entityName: name)
    request.includesSubentities = false
    return try manager.sourceContext.fetch(request)
  }

  private func failure(_ mapping: EntityMapping, _ reason: String) -> CoreDataError {
    CoreDataError(
      .entityMigrationPolicy, "The mapping \(mapping.title) cannot be followed: \(reason)",
      userInfo: ["reason": reason])
  }
}
