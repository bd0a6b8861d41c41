// Contexts above PostgreSQL stores, each with a coordinator of its own, as programs at two machines have.

import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct ContextTests {
  let server: PostgreSQLServer
  let schema: String
  let url: URL

  init() throws {
    server = try PostgreSQLServer.shared
    schema = server.newName("contexts")
    url = try #require(server.storeURL(schema))
  }

  private func context() throws -> ManagedObjectContext {
    let model = try LibraryModel.make { entities in
      entities["Author"]?.relationshipsByName["books"]?.deleteRule = .cascade
    }.model
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [PostgreSQLStoreKind()])
    try coordinator.addPersistentStore(
      ofType: PostgreSQLStore.typeName, configurationName: nil, at: url, options: nil)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func make(
    _ entity: String, _ values: [String: Any], in context: ManagedObjectContext
  ) -> ManagedObject {
    let object = EntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (name, value) in values { object.setValue(value, forKey: name) }
    return object
  }

  private func titles(
    _ format: String, in context: ManagedObjectContext
  ) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: "Book")
    request.predicate = ObjectPredicate(format: format)
    request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
  }

  private func fill(_ context: ManagedObjectContext) throws {
    let ann = make("Author", ["firstName": "Ann", "born": Date()], in: context)
    let bea = make("Author", ["firstName": "Bea"], in: context)
    let shelves = ["north", "south"].map { make("Shelf", ["place": $0], in: context) }
    for (index, title) in ["\u{c9}tude", "Essay", "Saga"].enumerated() {
      let book = make(
        index == 1 ? "AudioBook" : "Book", ["title": title, "ISBN13": "97\(index)"], in: context)
      book.setValue(index == 2 ? bea : ann, forKey: "author")
      book.setValue(NSOrderedSet(array: shelves.reversed()), forKey: "tags")
    }
    try context.save()
  }

  @Test func anotherProgramSeesWhatWasSaved() throws {
    let (writer, reader) = (try context(), try context())
    try writer.performAndWait { try fill(writer) }
    try reader.performAndWait {
      for (format, expected) in [
        ("author.firstName == 'Ann'", ["Essay", "\u{c9}tude"]),
        ("title BEGINSWITH[cd] 'e'", ["Essay", "\u{c9}tude"]),
        ("ANY tags.place == 'south' AND ISBN13 IN {'972'}", ["Saga"]),
        ("SUBQUERY(tags, $t, $t.place LIKE 'n*').@count == 1", ["Essay", "Saga", "\u{c9}tude"]),
      ] {
        let found = try titles(format, in: reader)
        #expect(found == expected, "\(format)")
      }
    }
  }

  @Test func deletingAnAuthorTakesTheBooksAlong() throws {
    let (writer, reader) = (try context(), try context())
    try writer.performAndWait {
      try fill(writer)
      let request = FetchRequest<ManagedObject>(entityName: "Author")
      request.predicate = ObjectPredicate(format: "firstName == 'Ann'")
      writer.delete(try #require(try writer.fetch(request).first))
      try writer.save()
    }
    let left = try reader.performAndWait { try titles("TRUEPREDICATE", in: reader) }
    #expect(left == ["Saga"])
    let links = try server.connect().run(
      "SELECT count(*) FROM \"\(schema)\".book_tags", isKept: false)
    #expect(links.integer(0, 0) == 2)
  }

  @Test func aConflictIsTheMergePolicysToSettle() throws {
    let (one, other) = (try context(), try context())
    try one.performAndWait { try fill(one) }
    func saga(_ context: ManagedObjectContext) throws -> ManagedObject {
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.predicate = ObjectPredicate(format: "title == 'Saga'")
      return try #require(try context.fetch(request).first)
    }
    try other.performAndWait {
      let stale = try saga(other)
      try one.performAndWait {
        try saga(one).setValue("97X", forKey: "ISBN13")
        try one.save()
      }
      stale.setValue("Saga II", forKey: "title")
      let error = #expect(throws: (any Error).self) { try other.save() }
      #expect((error as NSError?)?.code == 133020)
      other.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
      try other.save()
      #expect(stale.value(forKey: "ISBN13") as? String == "97X")
    }
    let settled = try one.performAndWait {
      one.reset()
      return try titles("ISBN13 == '97X'", in: one)
    }
    #expect(settled == ["Saga II"])
  }
}
