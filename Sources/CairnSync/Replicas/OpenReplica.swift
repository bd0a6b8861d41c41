import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore

/// A replica that is a store, open, with what is needed to work on it.
struct OpenReplica: Replica {
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

  var identifier: String? { store.identifier }
  var opened: OpenReplica? { self }
  var tellsOfChanges: Bool { store.capabilities.commits?.noticesCommits ?? false }

  func pass(_ setting: PassSetting) -> any ReplicaPass {
    SyncPass(
      local: setting.local, replica: access.cachingHead(), context: setting.context,
      replicaContext: context, direction: setting.direction, deletions: setting.deletions,
      checkGoingOn: setting.checkGoingOn, batchSize: setting.batchSize, filter: setting.filter)
  }

  func close() throws { try coordinator.remove(store) }
}

/// The kind of all types of stores: opened through a coordinator, and written by us.
struct StoreReplicaKind: ReplicaKind {
  let type: String

  func connect(_ connection: ReplicaConnection) async throws -> any Replica {
    let opening = ReplicaOpening(
      coordinator: connection.coordinator, configuration: connection.configuration,
      neighbours: connection.neighbours, expectedIdentifier: connection.expectedIdentifier,
      progress: connection.progress,
      olderVersions: LeftVersions(in: connection.local.store.metadata ?? [:]))
    let (store, coordinator) = try await opening.open()
    let replica = try OpenReplica(
      store: store, coordinator: coordinator, local: connection.local,
      name: connection.configuration.name)
    if replica.context != nil { coordinator.addObserver(connection.observer) }
    return replica
  }
}

extension SyncSchema {
  /// The schema of another version of the model, with the policies of the same entities.
  fileprivate func adapted(
    to model: ManagedObjectModel, configuration: SyncConfiguration
  ) throws -> SyncSchema {
    let plain = try SyncSchema(
      model: model, defaultPolicy: configuration.deleteConflicts, policies: [:],
      versions: versions)
    let translation = SchemaTranslation(from: names, to: plain)
    let policies = Dictionary(
      configuration.deleteConflictsByEntity.map { (translation.entity($0.key), $0.value) },
      uniquingKeysWith: { first, _ in first }
    ).filter { model.entitiesByName[$0.key] != nil }
    return try SyncSchema(
      model: model, defaultPolicy: configuration.deleteConflicts, policies: policies,
      versions: versions)
  }
}
