// The store type as programs have it that import Cairn, and nothing more.

import Cairn
import Foundation
import TestServers
import TestSupport
import Testing

@Suite(.needsServer) struct RegistrationTests {
  let server: PostgreSQLServer
  let url: URL

  init() throws {
    server = try PostgreSQLServer.shared
    url = try #require(server.storeURL(server.newName("registered")))
  }

  private func container(
    _ change: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Library", managedObjectModel: try LibraryModel.make().model)
    let description = PersistentStoreDescription(url: url)
    description.type = PersistentStore.StoreType.postgreSQL.rawValue
    change(description)
    container.persistentStoreDescriptions = [description]
    var problem: (any Error)?
    container.loadPersistentStores { _, error in problem = error }
    if let problem { throw problem }
    return container
  }

  /// An author with two books that stand on shelves in an order.
  private func fill(_ context: ManagedObjectContext) throws {
    try context.performAndWait {
      func make(_ name: String, _ values: [String: Any]) -> ManagedObject {
        let object = EntityDescription.insertNewObject(forEntityName: name, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
      }
      let author = make(
        "Author",
        ["firstName": "Ann", "fee": Decimal(string: "0.10") as Any, "born": Date.distantPast])
      let shelves = ["b", "a", "c"].map { make("Shelf", ["place": $0]) }
      for (name, title) in [("Book", "One"), ("AudioBook", "Two")] {
        let book = make(name, ["title": title, "author": author, "ISBN13": title])
        book.setValue(NSOrderedSet(array: shelves), forKey: "tags")
      }
      try context.save()
    }
  }

  /// What there is, as words.
  private func told(_ context: ManagedObjectContext) throws -> [String] {
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
      return try context.fetch(request).map { book in
        let author = book.value(forKey: "author") as? ManagedObject
        let tags = (book.value(forKey: "tags") as? NSOrderedSet)?.array as? [ManagedObject] ?? []
        let places = tags.compactMap { $0.value(forKey: "place") as? String }
        return [
          book.entity.name ?? "", "\(book.value(forKey: "title") ?? "")",
          "\(author?.value(forKey: "firstName") ?? "")", "\(author?.value(forKey: "fee") ?? "")",
          "\((author?.value(forKey: "born") as? Date)?.timeIntervalSinceReferenceDate ?? 0)",
          places.joined(),
        ].joined(separator: " ")
      }
    }
  }

  @Test func aContainerLoadsItAndTwoProgramsShareIt() throws {
    let one = try container()
    try fill(one.newBackgroundContext())
    let other = try container()
    let found = try told(other.newBackgroundContext())
    #expect(found.count == 2 && found[0].hasPrefix("Book One Ann 0.1 "))
    #expect(found[0].hasSuffix(" bac"))
    let store = try #require(one.persistentStoreCoordinator.persistentStores.first)
    #expect(store.type == "PostgreSQL" && store.url == url)
    #expect(one.persistentStoreCoordinator.persistentStore(for: url) === store)
    // Once a coordinator.
    let error = #expect(throws: (any Error).self) {
      try one.persistentStoreCoordinator.addPersistentStore(type: .postgreSQL, at: url)
    }
    #expect(error?.localizedDescription.contains("already open") == true)
  }

  @Test func metadataAndDestruction() throws {
    let container = try container()
    let coordinator = container.persistentStoreCoordinator
    try fill(container.newBackgroundContext())
    let store = try #require(coordinator.persistentStores.first)
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
      type: .postgreSQL, at: url)
    #expect(metadata[StoreMetadataKey.uuid] as? String == store.identifier)
    try PersistentStoreCoordinator.setMetadata(["own": 1], type: .postgreSQL, at: url)
    let changed = try PersistentStoreCoordinator.metadataForPersistentStore(
      type: .postgreSQL, at: url)
    #expect(changed["own"] as? Int == 1)
    #expect(changed[StoreMetadataKey.uuid] as? String == store.identifier)
    try coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
    #expect(coordinator.persistentStores.isEmpty)
    let error = #expect(throws: CocoaError.self) {
      try PersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
    }
    #expect(error?.code.rawValue == 134000)
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(try told(container.newBackgroundContext()).isEmpty)
  }

  @Test func aStoreMovesFromSQLiteAndBack() throws {
    let folder = try TemporaryFolder()
    let container = try container { description in
      description.type = PersistentStore.StoreType.sqlite.rawValue
      description.url = folder.fileURL("before.sqlite")
    }
    let coordinator = container.persistentStoreCoordinator
    try fill(container.newBackgroundContext())
    let before = try told(container.newBackgroundContext())
    let file = try #require(coordinator.persistentStores.first)
    let schema = try coordinator.migratePersistentStore(file, to: url, type: .postgreSQL)
    #expect(coordinator.persistentStores == [schema] && schema.type == "PostgreSQL")
    #expect(try told(container.newBackgroundContext()) == before)
    let after = folder.fileURL("after.sqlite")
    try coordinator.migratePersistentStore(schema, to: after, type: .sqlite)
    #expect(try told(container.newBackgroundContext()) == before)
    // The schema is there still, and is not overwritten.
    let again = try #require(coordinator.persistentStores.first)
    let error = #expect(throws: (any Error).self) {
      try coordinator.migratePersistentStore(again, to: url, type: .postgreSQL)
    }
    #expect(error?.localizedDescription.contains("already") == true)
    #expect(coordinator.persistentStores == [again])
    #expect(try told(self.container().newBackgroundContext()) == before)
  }

  @Test func tokensGoOnFromWhereTheyWere() throws {
    let container = try container {
      $0.setOption(NSNumber(value: true), forKey: StoreOptionKey.historyTracking)
    }
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    context.transactionAuthor = "me"
    let start = coordinator.currentPersistentHistoryToken(fromStores: nil)
    try fill(context)
    let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
    func transactions(
      _ request: PersistentHistoryChangeRequest
    ) throws -> [PersistentHistoryTransaction] {
      let result = try context.execute(request) as? PersistentHistoryResult
      return result?.result as? [PersistentHistoryTransaction] ?? []
    }
    try context.performAndWait {
      let first = try #require(try transactions(.fetchHistory(after: start)).first)
      #expect(first.author == "me" && first.changes?.count == 6)
      #expect(try transactions(.fetchHistory(after: token)).isEmpty)
      let author = EntityDescription.insertNewObject(forEntityName: "Author", into: context)
      try context.save()
      let second = try transactions(.fetchHistory(after: token))
      #expect(second.first?.changes?.map(\.changedObjectID) == [author.objectID])
      try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: second.first))
      #expect(try transactions(.fetchHistory(after: token)).count == 1)
      let error = #expect(throws: (any Error).self) {
        try transactions(.fetchHistory(after: start))
      }
      #expect((error as NSError?)?.code == 134301)
    }
  }

  @Test func aServerThatIsNotThereIsSaidWithItsPlace() throws {
    let away = try #require(URL(string: "postgresql://me@/data?host=/nowhere&port=1#mine"))
    let error = #expect(throws: (any Error).self) { try container { $0.url = away } }
    #expect((error as NSError?)?.code == 134080)
    #expect(error?.localizedDescription.contains("No server listens there") == true)
  }
}

@Suite struct LinkageTests {
  /// libpq is loaded when a store is opened: a program that opens none does not need it.
  @Test func noProgramIsLinkedWithLibpq() throws {
    let program = try #require(ProcessInfo.processInfo.arguments.first)
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/ldd")
    process.arguments = [program]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text.contains("libc.so") && !text.contains("libpq"))
  }
}
