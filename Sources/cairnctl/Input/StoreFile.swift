// A store file read without a daemon.

import Cairn
import CairnControl
import CairnRecords

/// A store opened read-only by this program itself.
struct StoreFile {
  let store: ReadOnlyStore

  /// Opens the file with the model of a file, or with the one that the store keeps inside.
  ///
  /// - Throws: ``CommandFailure`` that says what is wrong with which file.
  init(path: String, model: String?) throws {
    do {
      store = try ReadOnlyStore(path: path, model: model)
    } catch let error as ReadOnlyStoreError {
      throw CommandFailure(error)
    } catch let error as ModelFileError {
      throw CommandFailure(model: error, at: model ?? path)
    }
  }

  /// The model that it was opened with.
  var model: ModelSummary { ModelSummary(store.coordinator.managedObjectModel, name: "") }

  /// Runs a fetch and hands the rows over batch by batch.
  func fetch(
    _ parameters: FetchRecords.Parameters, emit: (FetchRecords.Reply) throws -> Void
  ) throws {
    let fetch = try RecordFetch(
      parameters, model: store.coordinator.managedObjectModel,
      naming: URINaming(coordinator: store.coordinator))
    let cursor = try fetch.start(in: store.context(), stores: nil)
    while let batch = try cursor.next() { try emit(batch) }
  }

  /// Reads what an export wants, all at one moment.
  func snapshot() throws -> ExportRun.Fetch {
    let snapshot = try RecordSnapshot(store)
    return { fetch, each in
      let cursor = try snapshot.cursor(fetch)
      while let batch = try cursor.next() { try each(batch.rows) }
    }
  }

  /// Reads the history and hands it over in portions, the last of them empty.
  func history(
    _ parameters: GetHistory.Parameters, emit: (GetHistory.Reply) throws -> Void
  ) throws {
    let coordinator = store.coordinator
    guard let opened = coordinator.persistentStores.first else { return }
    do {
      var reading = try HistoryReading(
        parameters, of: opened, named: store.url.path, model: coordinator.managedObjectModel,
        naming: URINaming(coordinator: coordinator))
      while let reply = try reading.next() { try emit(reply) }
      try emit(GetHistory.Reply(token: reading.token))
    } catch let error as CoreDataError {
      throw ControlError(error, store: store.url.path) ?? error
    }
  }
}
