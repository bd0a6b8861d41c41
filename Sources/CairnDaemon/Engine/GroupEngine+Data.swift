// The verbs that read and write records.

import Cairn
import CairnControl
import CairnRecords
import CairnStore
import CairnSync
import Foundation

extension GroupEngine {
  public func model() async throws -> ModelSummary {
    let running = try current()
    return ModelSummary(running.coordinator.managedObjectModel, name: running.modelName)
  }

  public nonisolated func fetch(
    _ parameters: FetchRecords.Parameters,
    rows: @escaping @Sendable (FetchRecords.Reply) async throws -> Void
  ) async throws {
    let running = try await current()
    let (store, coordinator) = try await store(named: parameters.store)
    let fetch = try RecordFetch(
      parameters, model: coordinator.managedObjectModel,
      naming: RecordIDNaming(engine: running.engine))
    let context = running.newContext(named: "cairnctl")
    context.persistentStoreCoordinator = coordinator
    let cursor = try await context.perform { try fetch.start(in: context, stores: [store]) }
    do {
      while let batch = try await context.perform({ try cursor.next() }) {
        try await rows(batch)
        try Task.checkCancellation()
      }
    } catch {
      throw ControlError(describing: error, store: parameters.store ?? "local") ?? error
    }
  }

  public nonisolated func save(
    _ parameters: SaveRecords.Parameters
  ) async throws -> SaveRecords.Reply {
    try Self.checkAuthor(parameters.author)
    let running = try await current()
    let save = RecordSave(
      parameters, model: running.coordinator.managedObjectModel,
      naming: RecordIDNaming(engine: running.engine))
    let context = running.newContext(named: "cairnctl")
    context.transactionAuthor = parameters.author ?? "cairnctl"
    return try await context.perform { try save.run(in: context, store: running.local) }
  }

  public nonisolated func importRows(
    _ parameters: ImportRecords.Parameters
  ) async throws -> ImportRecords.Reply {
    try Self.checkAuthor(parameters.author)
    let running = try await current()
    let batch = try RecordImport(
      parameters, model: running.coordinator.managedObjectModel,
      naming: RecordIDNaming(engine: running.engine))
    // Someone else may write the same records meanwhile; then the batch is looked up anew.
    for _ in 0..<4 {
      do {
        return try await importOnce(batch, author: parameters.author, running: running)
      } catch ControlError.saveConflict {
        continue
      }
    }
    return try await importOnce(batch, author: parameters.author, running: running)
  }

  /// Refuses the author name of sync: an operator reads in the history which program wrote what.
  private static func checkAuthor(_ author: String?) throws {
    if author == SyncConfiguration.author { throw ControlError.invalidParameter("author") }
  }

  private nonisolated func importOnce(
    _ batch: RecordImport, author: String?, running: Running
  ) async throws -> ImportRecords.Reply {
    let context = running.newContext(named: "import")
    context.transactionAuthor = author ?? "cairnctl"
    return try await context.perform { try batch.run(in: context, store: running.local) }
  }

  /// The open store of that name, with its coordinator; the local one for nil.
  private func store(
    named name: String?
  ) throws -> (store: PersistentStore, coordinator: PersistentStoreCoordinator) {
    let running = try current()
    guard let name, name != "local" else { return (running.local, running.coordinator) }
    guard let replica = try running.engine.status().replicas.first(where: { $0.name == name })
    else { throw ControlError.storeNotFound(name: name) }
    guard let open = try running.engine.openStore(ofReplica: name) else {
      throw ControlError.storeUnavailable(
        name: name, code: replica.phase.word, reason: "the replica is not open")
    }
    return open
  }
}
