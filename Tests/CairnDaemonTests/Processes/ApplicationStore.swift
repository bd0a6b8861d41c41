// An application's view of a store: the Cairn library in the test's own process.
import Cairn
import Foundation

/// Opens a store file beside the daemon, as any program does.
final class ApplicationStore {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  let context: ManagedObjectContext

  init(model: String, path: String, isReadOnly: Bool = false) throws {
    let model = try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: model))
    coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    var options: [AnyHashable: Any] = [:]
    if isReadOnly {
      options[StoreOptionKey.readOnly] = true
    } else {
      options[StoreOptionKey.historyTracking] = true
    }
    store = try coordinator.addPersistentStore(
      ofType: "SQLite", configurationName: nil, at: URL(fileURLWithPath: path), options: options)
    context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = "application"
  }

  deinit {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  func insert(_ entity: String, _ values: [String: String]) throws {
    try context.performAndWait {
      let object = EntityDescription.insertNewObject(forEntityName: entity, into: context)
      for (key, value) in values { object.setValue(value, forKey: key) }
      try context.save()
    }
  }

  /// Changes the record with a name.
  func update(_ entity: String, named name: String, _ values: [String: Any]) throws {
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: entity)
      let objects = try context.fetch(request)
      guard let object = objects.first(where: { $0.value(forKey: "name") as? String == name })
      else {
        throw CocoaError(.fileReadNoSuchFile)
      }
      for (key, value) in values { object.setValue(value, forKey: key) }
      try context.save()
    }
  }

  /// A value of the record with a name.
  func data(_ entity: String, named name: String, _ property: String) throws -> Data? {
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: entity)
      return try context.fetch(request).first { $0.value(forKey: "name") as? String == name }?
        .value(forKey: property) as? Data
    }
  }

  func values(_ entity: String, _ property: String) throws -> [String] {
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: entity)
      return try context.fetch(request).compactMap { $0.value(forKey: property) as? String }
        .sorted()
    }
  }
}

extension ApplicationStore {
  /// Purges history as a careless program does, whatever sync has read.
  func purgeHistory(before number: Int64) throws {
    try context.performAndWait {
      let last = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      let result = try context.execute(last) as? PersistentHistoryResult
      let all = result?.result as? [PersistentHistoryTransaction] ?? []
      let kept = all.first { $0.transactionNumber == number }
      _ = try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: kept))
    }
  }
}
