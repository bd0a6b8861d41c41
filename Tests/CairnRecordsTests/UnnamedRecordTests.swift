// Saves whose records cannot be named once they are done.

import Cairn
import CairnControl
import CairnModel
import CairnRecords
import Foundation
import TestSupport
import Testing

@Suite struct UnnamedRecordTests {
  /// As on a full disk, where a new record gets no ID.
  private struct FailingNaming: RecordNaming {
    func names(of objects: [ManagedObjectID]) throws -> [String] {
      throw CocoaError(.fileWriteOutOfSpace)
    }
    func object(named name: String, entity: EntityDescription) throws -> ManagedObjectID? { nil }
  }

  @Test func whatWasCommittedIsAnsweredAsSaved() throws {
    let folder = try TemporaryFolder()
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Item", properties: [AttributeDescription(name: "name", type: .string)])
    ]
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: folder.fileURL("l.sqlite"))
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let save = RecordSave(
      .init(inserts: [.init(entity: "Item", values: ["name": .string("nut")])]), model: model,
      naming: FailingNaming())
    let reply = try save.run(in: context, store: store)
    #expect(reply.inserted.count == 1 && reply.inserted[0].hasPrefix("x-coredata://"), "\(reply)")
    let count = try context.performAndWait {
      try context.count(for: FetchRequest<ManagedObject>(entityName: "Item"))
    }
    #expect(count == 1)
  }
}
