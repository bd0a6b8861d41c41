// The group of stores once the local one is open: what handlers work on.

import Cairn
import CairnControl
import CairnCoordinator
import CairnModel
import CairnRecords
import CairnStore
import CairnSync

/// The open local store, its coordinator, and what keeps the replicas in step with it.
struct OpenGroup: Sendable {
  let coordinator: PersistentStoreCoordinator
  let local: PersistentStore
  let engine: SyncEngine
  let configuredModel: ConfiguredModel
  /// What is wrong with the local store.
  let problems: LocalProblems
  /// What was read of it for the status.
  let readings: LocalReadings
  /// What is counted of its stores.
  let figures: GroupFigures

  /// What was noted to be wrong with the local store.
  var health: LocalHealth { problems.health }

  /// What has to be decided about the versions of stores.
  var decisions: ModelDecisions { problems.decisions }

  /// Record IDs as the names of objects.
  var naming: RecordIDNaming { RecordIDNaming(engine: engine) }

  /// A background context on the local store.
  func newContext(named name: String) -> ManagedObjectContext {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.name = name
    return context
  }

  /// Whether the local store is written no more since its disk failed or its log was removed, and the disk takes
  /// writing, which is tried.
  ///
  /// Damage is another matter: a store that is read can be worth more than one that does not open.
  var needsReopening: Bool {
    guard let failure = local.capabilities.failures?.failure,
      [.diskFailed, .unavailable].contains(failure.storeTrouble)
    else { return false }
    return health.canWrite
  }

  /// The replica of that name, or all of them for nil and `all`.
  ///
  /// - Throws: ``CairnControl/ControlError/storeNotFound(name:)``.
  func names(_ name: String?) throws -> [String] {
    if let name, name != "all" { return [try replica(named: name)] }
    return engine.replicaNames
  }

  /// The name, if it is that of one replica.
  ///
  /// - Throws: ``CairnControl/ControlError``: there is no such store, or it is the local one.
  func replica(named name: String) throws -> String {
    let all = engine.replicaNames
    if all.contains(name) { return name }
    if name == StoreReference.localName {
      throw ControlError.notPossible(
        code: "no-replica",
        reason: "local is the store that replicas are kept in step with, and none of them")
    }
    throw Self.unknownStore(name, among: all)
  }

  static func unknownStore(_ name: String, among known: [String]) -> ControlError {
    .storeNotFound(name: name, nearest: NearestName.find(name, among: known))
  }

  /// The open store of that name, with its coordinator; the local one for nil and `local`.
  ///
  /// - Throws: ``CairnControl/ControlError``: there is no such store, or it is not open.
  func store(
    named name: String?
  ) throws -> (store: PersistentStore, coordinator: PersistentStoreCoordinator) {
    guard let name, name != "local" else { return (local, coordinator) }
    let known = engine.replicaNames
    guard known.contains(name) else {
      throw Self.unknownStore(name, among: known + [StoreReference.localName])
    }
    guard let open = try engine.openStore(ofReplica: name) else {
      let phase = try engine.status().replicas.first { $0.name == name }?.phase
      throw ControlError.storeUnavailable(
        name: name, code: (phase ?? .removed).word, reason: "the replica is not open")
    }
    return open
  }
}

// What operators name, checked against the group and its model.
extension OpenGroup {
  /// The names of stores to look at; nil for all.
  ///
  /// - Throws: ``CairnControl/ControlError/storeNotFound(name:nearest:)``.
  func stores(_ name: String?) throws -> [String]? {
    guard let name, name != "all" else { return nil }
    let known = engine.replicaNames + [StoreReference.localName]
    guard known.contains(name) else { throw Self.unknownStore(name, among: known) }
    return [name]
  }

  /// The entity of that name.
  ///
  /// - Throws: ``CairnControl/ControlError/unknownEntity(entity:nearest:)``.
  func entity(_ name: String) throws -> EntityDescription {
    let model = coordinator.managedObjectModel
    guard let entity = model.entitiesByName[name] else {
      throw ControlError.unknownEntity(name, in: model)
    }
    return entity
  }

  func quarantineID(_ text: String) throws -> QuarantineID {
    guard let id = QuarantineID(text) else { throw ControlError.invalidParameter("id") }
    _ = try stores(id.store)
    return id
  }

  /// The store that a list calls by this name, or by its UUID.
  func writer(_ name: String) throws -> StoreID {
    if let id = StoreID(name) { return id }
    let status = try engine.status()
    if name == StoreReference.localName, let id = StoreID(status.localStoreID) { return id }
    guard let replica = status.replicas.first(where: { $0.name == name }) else {
      throw Self.unknownStore(name, among: status.replicas.map(\.name))
    }
    guard let id = replica.storeID.flatMap(StoreID.init) else {
      throw ControlError.storeUnavailable(
        name: name, code: replica.phase.word, reason: "the replica is not open")
    }
    return id
  }

  /// How many records of a link wait because they were written in the future; nil for none.
  func held(in replica: String) throws -> Int? {
    let held = try engine.status().replicas.first { $0.name == replica }?.held.ahead ?? 0
    return held > 0 ? held : nil
  }

  func revertRequest(_ parameters: RevertAuthor.Parameters) throws -> RevertRequest {
    let origin: RevertRequest.Origin
    switch (parameters.author, parameters.store) {
    case (let author?, nil): origin = .author(author)
    case (nil, let store?): origin = .store(try writer(store))
    case (nil, nil): throw ControlError.invalidParameter("author")
    case (_?, _?): throw ControlError.invalidParameter("store")
    }
    let until = parameters.until?.milliseconds ?? .max
    guard parameters.since.milliseconds < until else {
      throw ControlError.invalidParameter("until")
    }
    return RevertRequest(origin, since: parameters.since.milliseconds, until: until)
  }

  func filter(_ parameters: ListConflicts.Parameters) throws -> ConflictFilter {
    let entity = try parameters.entity.map(self.entity)
    if let property = parameters.property {
      let holders = entity.map { [$0] } ?? coordinator.managedObjectModel.entities
      guard holders.contains(where: { $0.propertiesByName[property] != nil }) else {
        throw entity.map { ControlError.unknownProperty(property, of: $0) }
          ?? ControlError.invalidParameter("property")
      }
    }
    return ConflictFilter(
      since: parameters.since?.milliseconds, until: parameters.until?.milliseconds,
      record: try parameters.record.map { try recordID($0, "record") },
      entity: entity?.name, property: parameters.property,
      rules: parameters.rules.map { Set($0.map(Conflict.Rule.init)) })
  }
}
