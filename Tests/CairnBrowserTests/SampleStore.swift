// A store for the pages.
import Cairn
import CairnRecords
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnBrowser

/// Authors with books; books are or are not novels.
///
/// The folder is gone when the last user is.
final class SampleStore: Sendable {
  let folder: TemporaryFolder
  let browsed: BrowsedStore

  /// A picture of one pixel.
  static let picture =
    Data(
      base64Encoded: """
        iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
        """) ?? Data()
  static let hostile = "<script>alert(\"1\")</script> & 'more'"

  var url: URL { folder.fileURL("Library.sqlite") }

  /// - Parameter books: How many books the first author has.
  init(books: Int = 3, type: String = StoreTypeName.sqlite, keepsHistory: Bool = true) throws {
    folder = try TemporaryFolder()
    let file = folder.fileURL("Library.sqlite")
    let model = Self.model
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: file,
      options: keepsHistory ? [StoreOptionKey.historyTracking: true] : [:])
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = "importer"
    try context.performAndWait {
      func insert(_ name: String) throws -> ManagedObject {
        ManagedObject(entity: try #require(model.entitiesByName[name]), insertInto: context)
      }
      let ann = try insert("Author")
      ann.setValue("Ann", forKey: "name")
      ann.setValue(Self.picture, forKey: "portrait")
      let nobody = try insert("Author")
      nobody.setValue(Self.hostile, forKey: "name")
      for index in 0..<books {
        let book = try insert(index == 0 ? "Novel" : "Book")
        book.setValue("Book \(index)", forKey: "title")
        book.setValue(index, forKey: "pages")
        book.setValue(ann, forKey: "author")
      }
      try context.save()
    }
    try coordinator.remove(store)
    browsed = BrowsedStore(try ReadOnlyStore(path: file.path, model: nil))
  }

  /// Changes the store as another program does.
  func write(_ change: @escaping @Sendable (ManagedObjectContext) throws -> Void) async throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model)
    _ = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: url,
      options: [StoreOptionKey.historyTracking: true])
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try await context.perform { try change(context) }
  }

  static var model: ManagedObjectModel {
    let author = EntityDescription(
      name: "Author",
      properties: [
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "portrait", type: .binaryData),
      ])
    let book = EntityDescription(
      name: "Book",
      properties: [
        AttributeDescription(name: "title", type: .string),
        AttributeDescription(name: "pages", type: .integer64),
      ])
    let novel = EntityDescription(
      name: "Novel", properties: [AttributeDescription(name: "genre", type: .string)])
    book.subentities = [novel]
    let (books, writer) = (RelationshipDescription(), RelationshipDescription())
    books.name = "books"
    books.destinationEntity = book
    books.maxCount = 0
    writer.name = "author"
    writer.destinationEntity = author
    writer.maxCount = 1
    books.inverseRelationship = writer
    writer.inverseRelationship = books
    author.properties.append(books)
    book.properties.append(writer)
    let model = ManagedObjectModel()
    model.entities = [author, book, novel]
    return model
  }
}
