// The group of stores once the local one is open: what handlers work on.

import Cairn
import CairnControl
import CairnCoordinator
import CairnStore
import CairnSync

/// The open local store, its coordinator, and what keeps the replicas in step with it.
struct OpenGroup: Sendable {
  let coordinator: PersistentStoreCoordinator
  let local: PersistentStore
  let engine: SyncEngine
  let modelName: String

  /// Record IDs as the names of objects.
  var naming: RecordIDNaming { RecordIDNaming(engine: engine) }

  /// A background context on the local store.
  func newContext(named name: String) -> ManagedObjectContext {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.name = name
    return context
  }

  /// The replica of that name, or all of them for nil and `all`.
  ///
  /// - Throws: ``CairnControl/ControlError/storeNotFound(name:)``.
  func names(_ name: String?) throws -> [String] {
    let all = try engine.status().replicas.map(\.name)
    guard let name, name != "all" else { return all }
    guard all.contains(name) else { throw Self.unknownStore(name, among: all) }
    return [name]
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
    let replicas = try engine.status().replicas
    guard let replica = replicas.first(where: { $0.name == name }) else {
      throw Self.unknownStore(name, among: replicas.map(\.name) + ["local"])
    }
    guard let open = try engine.openStore(ofReplica: name) else {
      throw ControlError.storeUnavailable(
        name: name, code: replica.phase.word, reason: "the replica is not open")
    }
    return open
  }
}
