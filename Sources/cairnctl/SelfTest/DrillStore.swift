// A store of the self-test as an application has it open.
import Cairn
import Foundation

/// A store that this program writes to by itself.
// Unchecked: the context orders its users; the rest does not change.
final class DrillStore: @unchecked Sendable {
  private let coordinator: PersistentStoreCoordinator
  private let context: ManagedObjectContext

  /// - Parameter hasHistory: Whether it keeps history, as what is synchronised must.
  init(path: String, model: ManagedObjectModel, hasHistory: Bool = true) throws {
    coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    // What is acknowledged outlives a loss of power.
    var options: [AnyHashable: Any] = [StoreOptionKey.sqlitePragmas: ["synchronous": "FULL"]]
    if hasHistory { options[StoreOptionKey.historyTracking] = true }
    _ = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: URL(fileURLWithPath: path),
      options: options)
    context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
    context.undoManager = nil
    context.transactionAuthor = "self-test"
  }

  /// Saves what `change` does, as one transaction.
  ///
  /// - Throws: What the store says; nothing is saved then.
  func save(_ change: (borrowing Notes) throws -> Void) throws {
    try context.performAndWait {
      defer { context.reset() }
      try change(Notes(context: context))
      try context.save()
    }
  }

  /// Closes the file.
  func close() throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// The notes of a context, on its queue.
  struct Notes: ~Copyable {
    fileprivate let context: ManagedObjectContext

    /// Changes the note of that name, or makes it.
    func set(_ name: String, count: Int, text: String, group: String?) throws {
      let note = try object("Note", name)
      note.setValue(count, forKey: "count")
      note.setValue(text, forKey: "text")
      if let group { note.setValue(try object("Group", group), forKey: "group") }
    }

    func delete(_ name: String) throws {
      if let note = try found("Note", name) { context.delete(note) }
    }

    private func object(_ entity: String, _ name: String) throws -> ManagedObject {
      if let found = try found(entity, name) { return found }
      let new = EntityDescription.insertNewObject(forEntityName: entity, into: context)
      new.setValue(name, forKey: "name")
      return new
    }

    private func found(_ entity: String, _ name: String) throws -> ManagedObject? {
      let request = FetchRequest<ManagedObject>(entityName: entity)
      request.predicate = ObjectPredicate(format: "name == %@", name)
      request.fetchLimit = 1
      return try context.fetch(request).first
    }
  }
}
