import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// The three passes over the entity mappings: objects, relationships, validation.
///
/// Each walks over its objects batch by batch, see ``MigrationBatches``.
struct MigrationPasses {
  let manager: MigrationManager
  let mappings: [EntityMapping]

  func run() throws {
    let steps = try mappings.map {
      (mapping: $0, policy: try EntityMigrationPolicy.policy(for: $0))
    }
    let total = Float(max(steps.count * 3, 1))
    var done: Float = 0
    func each(
      _ work: (EntityMapping, EntityMigrationPolicy, _ report: (Float) -> Void) throws -> Void
    ) throws {
      for (mapping, policy) in steps {
        try manager.checkCancellation()
        manager.begin(mapping)
        if mapping.mappingType != .removeEntityMappingType {
          // The last part is the save.
          try work(mapping, policy) { manager.advance(to: (done + $0) / total * 0.9) }
        }
        done += 1
        manager.advance(to: done / total * 0.9)
      }
    }
    try each(createInstances)
    try each(createRelationships)
    try each { mapping, policy, _ in
      try policy.performCustomValidation(forMapping: mapping, manager: manager)
      try policy.end(mapping, manager: manager)
      try manager.endBatch()
    }
    try manager.checkCancellation()
  }

  private func createInstances(
    _ mapping: EntityMapping, _ policy: EntityMigrationPolicy, _ report: (Float) -> Void
  ) throws {
    try check(mapping)
    try policy.begin(mapping, with: manager)
    let sources = try sources(of: mapping)
    try inBatches(of: sources.count, report) { places in
      for source in try sources.objects(at: places) {
        try manager.checkCancellation()
        try policy.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        try manager.endBatch(onlyIfFull: true)
      }
    }
    try policy.endInstanceCreation(forMapping: mapping, manager: manager)
    try manager.endBatch()
  }

  private func createRelationships(
    _ mapping: EntityMapping, _ policy: EntityMigrationPolicy, _ report: (Float) -> Void
  ) throws {
    let made = manager.made(by: mapping)
    func relate(_ destination: ManagedObject) throws {
      try manager.checkCancellation()
      try policy.createRelationships(forDestination: destination, in: mapping, manager: manager)
      try manager.endBatch(onlyIfFull: true)
    }
    try inBatches(of: made.settled, report) { places in
      let (sources, destinations) = try manager.settled(places, by: mapping)
      // What a policy has deleted has no row any more.
      let present = destinations.filter { !$0.isFault }
      // The policy asks for the sources, whose rows were read along.
      try withExtendedLifetime(sources) {
        for destination in present { try relate(destination) }
      }
    }
    for destination in made.live { try relate(destination) }
    try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
    try manager.endBatch()
  }

  /// Does something with the objects at so many places, some at a time.
  private func inBatches(
    of count: Int, _ report: (Float) -> Void, _ work: (Range<Int>) throws -> Void
  ) throws {
    var place = 0
    while place < count {
      let end = min(place + manager.batchSize, count)
      try work(place..<end)
      try manager.endBatch()
      place = end
      if place < count { report(Float(place) / Float(count)) }
    }
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

  private func sources(of mapping: EntityMapping) throws -> MigrationSources {
    guard let name = mapping.sourceEntityName else { return MigrationSources([]) }
    guard let expression = mapping.sourceExpression else {
      let request = FetchRequest<ManagedObject>(entityName: name)
      request.includesSubentities = false
      if let sources = try inPortions(request) { return sources }
      return MigrationSources(try manager.sourceContext.fetch(request))
    }
    let variables = NSMutableDictionary()
    variables[MigrationKey.manager] = manager
    variables[MigrationKey.entityMapping] = mapping
    do {
      if let request = try request(of: expression, variables),
        let sources = try inPortions(request)
      {
        return sources
      }
      let value = try expression.value(for: nil, context: variables)
      if let value, let objects = ManagedObjects.list(value) { return MigrationSources(objects) }
    } catch let error as PredicateEvaluationError {
      throw failure(mapping, "its source expression fails: \(error.reason)")
    }
    throw failure(mapping, "its source expression \(expression) gives no managed objects.")
  }

  /// The request that an expression runs in the source context; nil for other expressions.
  private func request(
    of expression: ObjectExpression, _ variables: NSMutableDictionary
  ) throws -> AnyFetchRequest? {
    guard case .fetch(let request, let context, false) = expression.node,
      try ObjectExpression(node: context).value(for: nil, context: variables) as AnyObject
        === manager.sourceContext
    else { return nil }
    return try ObjectExpression(node: request).value(for: nil, context: variables)
      as? AnyFetchRequest
  }

  private func inPortions(_ request: AnyFetchRequest) throws -> MigrationSources? {
    guard manager.worksInBatches else { return nil }
    return try MigrationSources(request, in: manager.sourceContext)
  }

  private func failure(_ mapping: EntityMapping, _ reason: String) -> CoreDataError {
    CoreDataError(
      .entityMigrationPolicy, "The mapping \(mapping.title) cannot be followed: \(reason)",
      userInfo: ["reason": reason])
  }
}
