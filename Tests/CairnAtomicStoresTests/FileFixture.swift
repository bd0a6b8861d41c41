// Models, places and stores for the tests of this target.

import CairnAtomicStores
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import TestSupport
import Testing

enum Shelf {
  /// Authors with books, books with tags; tags in an order.
  static func model(withDerived: Bool = false) -> ManagedObjectModel {
    let author = EntityDescription(
      name: "Author", properties: [AttributeDescription(name: "fullName", type: .string)])
    let book = EntityDescription(
      name: "Book",
      properties: [
        AttributeDescription(name: "title", type: .string),
        AttributeDescription(name: "pages", type: .integer16),
        AttributeDescription(name: "printed", type: .date),
        AttributeDescription(name: "inPrint", type: .boolean),
      ])
    let scratch = AttributeDescription(name: "scratch", type: .string)
    scratch.isTransient = true
    book.properties += [scratch]
    let tag = EntityDescription(
      name: "Tag", properties: [AttributeDescription(name: "word", type: .string)])
    let books = relationship("books", to: book, isToMany: true)
    let writer = relationship("writer", to: author)
    connect(books, writer)
    let tags = relationship("tags", to: tag, isToMany: true, isOrdered: true)
    let tagged = relationship("tagged", to: book, isToMany: true)
    connect(tags, tagged)
    author.properties += [books]
    book.properties += [writer, tags]
    tag.properties += [tagged]
    if withDerived {
      let derived = DerivedAttributeDescription()
      derived.name = "count"
      derived.attributeType = .integer64
      derived.derivationExpression = ObjectExpression(format: "books.@count")
      author.properties += [derived]
    }
    let model = ManagedObjectModel()
    model.entities = [author, book, tag]
    return model
  }

  static func coordinator(_ model: ManagedObjectModel = model()) -> PersistentStoreCoordinator {
    PersistentStoreCoordinator(
      managedObjectModel: model,
      storeKinds: [XMLStoreKind(), BinaryStoreKind(), InMemoryStoreKind()])
  }

  /// Opens a store in a coordinator of its own, which the store needs no longer.
  static func open(
    _ type: String, at url: URL, model: ManagedObjectModel = model(),
    options: [AnyHashable: Any]? = nil
  ) throws -> (PersistentStoreCoordinator, PersistentStore) {
    let coordinator = coordinator(model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options)
    return (coordinator, store)
  }

  /// A new row with some values.
  static func row(
    _ entityName: String, _ values: [String: AttributeValue], in store: PersistentStore
  ) throws -> RowSnapshot {
    let entity = try #require(store.managedObjectModel.entitiesByName[entityName])
    let id = try #require(try store.obtainPermanentIDs(for: [entity]).first)
    var all = entity.layout.defaultValues
    for (name, value) in values { all[try #require(entity.layout.slotByName[name])] = value }
    return .make(objectID: id, version: 1, values: all)
  }

  @discardableResult
  static func insert(
    _ entityName: String, _ values: [String: AttributeValue], into store: PersistentStore
  ) throws -> RowSnapshot {
    let row = try row(entityName, values, in: store)
    var request = SaveChangesRequest()
    request.insertions = [.init(snapshot: row)]
    guard case .saved = try store.save(request) else {
      Issue.record("the insertion was not saved")
      return row
    }
    return row
  }

  static func rows(_ entityName: String, of store: PersistentStore) throws -> [RowSnapshot] {
    let entity = try #require(store.managedObjectModel.entitiesByName[entityName])
    return try #require(try store.fetch(StoreFetchRequest(entity: entity)).snapshots)
  }

  static func value(_ name: String, of row: RowSnapshot) throws -> AttributeValue {
    row[try #require(row.objectID.entity.layout.slotByName[name])]
  }

  static func members(
    _ name: String, of row: RowSnapshot, in store: PersistentStore
  ) throws -> [ManagedObjectID] {
    let relationship = try #require(row.objectID.entity.relationshipsByName[name])
    return try store.members(of: relationship, owners: [row.objectID])[0]
  }

  /// The error that the body throws.
  static func error(_ body: () throws -> Void) -> CoreDataError? {
    do {
      try body()
      return nil
    } catch {
      return error as? CoreDataError
    }
  }
}
