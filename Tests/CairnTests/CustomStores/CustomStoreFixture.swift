// Models and stacks for tests of a program's own stores.

import Cairn
import Foundation
import TestSupport
import Testing

enum Library {
  /// Authors with books.
  static func model(extra: Bool = false) -> ManagedObjectModel {
    let author = EntityDescription(
      name: "Author", properties: [AttributeDescription(name: "name", type: .string)])
    let book = EntityDescription(
      name: "Book",
      properties: [
        AttributeDescription(name: "title", type: .string),
        AttributeDescription(name: "pages", type: .integer32),
      ])
    let books = RelationshipDescription()
    books.name = "books"
    books.destinationEntity = book
    books.deleteRule = .cascadeDeleteRule
    let writer = RelationshipDescription()
    writer.name = "writer"
    writer.destinationEntity = author
    writer.maxCount = 1
    books.inverseRelationship = writer
    writer.inverseRelationship = books
    author.properties += [books]
    book.properties += [writer]
    if extra { book.properties += [AttributeDescription(name: "extra", type: .string)] }
    let model = ManagedObjectModel()
    model.entities = [author, book]
    return model
  }

  /// A coordinator that knows the test's classes, with one store.
  static func stack(
    _ type: String, at url: URL, model: ManagedObjectModel = model()
  ) throws -> (PersistentStoreCoordinator, PersistentStore) {
    PersistentStoreCoordinator.registerStoreClass(
      RemoteShelf.self, forStoreType: RemoteShelf.storeType)
    PersistentStoreCoordinator.registerStoreClass(TextShelf.self, forStoreType: TextShelf.storeType)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: nil)
    return (coordinator, store)
  }

  static func context(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @discardableResult
  static func insert(
    _ entity: String, _ values: [String: Any], into context: ManagedObjectContext
  ) -> ManagedObject {
    let object = EntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  static func fetch(
    _ entity: String, in context: ManagedObjectContext
  ) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
  }

  static func remoteURL() throws -> URL {
    try #require(URL(string: "shelf://example/\(UUID().uuidString)"))
  }

  static func withFile(_ body: (URL) throws -> Void) throws {
    let folder = try TemporaryFolder()
    try body(folder.fileURL("shelf.plist"))
  }
}
