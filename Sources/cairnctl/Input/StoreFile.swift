// A store file read without a daemon.

import Cairn
import CairnControl
import CairnRecords
import Foundation

/// A SQLite store opened read-only by this program itself.
struct StoreFile {
  private let coordinator: PersistentStoreCoordinator

  /// Opens the file with the model of a file, or with the one that the store keeps inside.
  ///
  /// - Throws: ``CommandFailure`` that says what is wrong with which file.
  init(path: String, model modelPath: String?) throws {
    let url = URL(fileURLWithPath: path)
    guard FileManager.default.fileExists(atPath: path) else {
      throw CommandFailure(message: "\(path): there is no such file")
    }
    do {
      let model: ManagedObjectModel
      if let modelPath {
        model = try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: modelPath))
      } else if let stored = try ManagedObjectModel.load(fromSQLiteStoreAt: url) {
        model = stored
      } else {
        throw CommandFailure(
          message: "\(path) keeps no model inside", hint: "name its model with --model")
      }
      coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(
        ofType: "SQLite", configurationName: nil, at: url,
        options: [StoreOptionKey.readOnly: true])
    } catch let error as CoreDataError {
      throw CommandFailure(message: "\(path): \(error.message)")
    } catch let error as ModelFileError {
      throw CommandFailure(message: "\(error)")
    }
  }

  /// The model that it was opened with.
  var model: ModelSummary { ModelSummary(coordinator.managedObjectModel, name: "") }

  /// Runs a fetch and hands the rows over batch by batch.
  func fetch(
    _ parameters: FetchRecords.Parameters, emit: (FetchRecords.Reply) throws -> Void
  ) throws {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let fetch = try RecordFetch(
      parameters, model: coordinator.managedObjectModel,
      naming: URINaming(coordinator: coordinator))
    let cursor = try fetch.start(in: context, stores: nil)
    while let batch = try cursor.next() { try emit(batch) }
  }
}
