import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore

/// A replica that is open, with what is needed to work on it.
struct OpenReplica: Sendable {
  let store: PersistentStore
  /// The group's coordinator or, for a replica at a newer version of the model, one with that version.
  let coordinator: PersistentStoreCoordinator
  let access: StoreAccess
  /// Where what the replica is given is merged; nil for the link's own context.
  let context: ManagedObjectContext?

  /// - Parameter local: The group's local store.
  init(
    store: PersistentStore, coordinator: PersistentStoreCoordinator, local: StoreAccess,
    name: String
  ) throws {
    self.store = store
    self.coordinator = coordinator
    let isOwn = coordinator.managedObjectModel !== local.schema.model
    access = StoreAccess(
      store: store,
      schema: isOwn
        ? try local.schema.adapted(
          to: coordinator.managedObjectModel, configuration: local.configuration) : local.schema,
      environment: local.environment, configuration: local.configuration)
    guard isOwn else {
      context = nil
      return
    }
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.name = name
    context.transactionAuthor = SyncConfiguration.author
    self.context = context
  }

  func close() throws { try coordinator.remove(store) }
}

extension SyncSchema {
  /// The schema of another version of the model, with the policies of the same entities.
  fileprivate func adapted(
    to model: ManagedObjectModel, configuration: SyncConfiguration
  ) throws -> SyncSchema {
    let plain = try SyncSchema(
      model: model, defaultPolicy: configuration.deleteConflicts, policies: [:])
    let translation = SchemaTranslation(from: names, to: plain)
    let policies = Dictionary(
      configuration.deleteConflictsByEntity.map { (translation.entity($0.key), $0.value) },
      uniquingKeysWith: { first, _ in first }
    ).filter { model.entitiesByName[$0.key] != nil }
    return try SyncSchema(
      model: model, defaultPolicy: configuration.deleteConflicts, policies: policies)
  }
}

extension SyncSchema {
  /// Whether another version of the model, which is in use, has all that this one has, in the same
  /// shape: then a daemon that knows only this one can read and write stores of the other, and leaves
  /// the rest alone.
  func isContained(in other: ManagedObjectModel) -> Bool {
    let difference = ModelDifference(from: model, to: other)
    let loss = MigrationLoss(difference)
    guard difference.isInferable, loss.names.isEmpty, loss.uncertain.isEmpty,
      let schema = try? SyncSchema(model: other, defaultPolicy: .lastWriter, policies: [:])
    else { return false }
    let translation = SchemaTranslation(from: names, to: schema)
    // Which of two inverse relationships carries the data follows from their names.
    let hasColumns = entities.allSatisfy { name, plan in
      let theirs = schema.entities[translation.entity(name)]
      return plan.columns.allSatisfy { column in
        theirs?.columnByName[translation.property(column.name, of: name)] != nil
      }
    }
    let hasLinks = links.allSatisfy { name, plan in
      let entity = plan.relationship.entity?.name ?? ""
      let own = translation.property(plan.relationship.name, of: entity)
      return schema.links["\(translation.entity(entity)).\(own)"]?.isSymmetric == plan.isSymmetric
    }
    return hasColumns && hasLinks && difference.entities.allSatisfy(Self.keepsTypes)
  }

  private static func keepsTypes(_ change: ModelDifference.EntityChange) -> Bool {
    change.properties.allSatisfy { property in
      switch (property.source, property.destination) {
      case (let old as RelationshipDescription, let new as RelationshipDescription):
        return old.isToMany == new.isToMany && old.isOrdered == new.isOrdered
          && old.inverseRelationship?.isToMany == new.inverseRelationship?.isToMany
      case (let old as AttributeDescription, let new as AttributeDescription):
        return old.attributeType == new.attributeType && old.isTransient == new.isTransient
      default: return true
      }
    }
  }
}
