// A store as programs open it: several at once, at servers that fail, under names that are hard to keep.

import CairnModel
import CairnSQL
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct PostgreSQLStoreTests {
  let server: PostgreSQLServer
  let owner: PostgreSQLConnection
  let schema: String

  init() throws {
    server = try PostgreSQLServer.shared
    owner = try server.connect()
    schema = server.newName("store")
  }

  private func open(
    _ schema: String? = nil, model: ManagedObjectModel? = nil,
    options: [String: Any] = [:]
  ) throws -> PostgreSQLStore {
    let store = PostgreSQLStore(
      configuration: StoreConfiguration(
        model: try model ?? LibraryModel.make().model, configurationName: nil,
        url: server.storeURL(schema ?? self.schema), options: StoreOptions(options)))
    try store.openStore()
    return store
  }

  private func row(
    _ entity: String, _ values: [String: AttributeValue] = [:], in store: PostgreSQLStore
  ) throws -> RowSnapshot {
    let entity = try #require(store.managedObjectModel.entitiesByName[entity])
    let id = try #require(try store.obtainPermanentIDs(for: [entity]).first)
    var all = entity.layout.defaultValues
    for (name, value) in values { all[try #require(entity.layout.slotByName[name])] = value }
    return .make(objectID: id, version: 0, values: all)
  }

  private func insertion(_ rows: [RowSnapshot]) -> SaveChangesRequest {
    var request = SaveChangesRequest()
    request.insertions = rows.map { .init(snapshot: $0) }
    return request
  }

  private func saved(_ outcome: SaveOutcome) throws -> [RowSnapshot] {
    guard case .saved(let receipt) = outcome else {
      Issue.record("not saved: \(outcome)")
      return []
    }
    return receipt.snapshots
  }

  private func update(
    _ row: RowSnapshot, _ name: String, _ value: AttributeValue
  ) throws -> SaveChangesRequest {
    let slot = try #require(row.objectID.entity.layout.slotByName[name])
    var values = row.values
    values[slot] = value
    var request = SaveChangesRequest()
    request.updates = [
      .init(
        snapshot: .make(objectID: row.objectID, version: row.version, values: values),
        changedSlots: [slot])
    ]
    return request
  }

  private func all(_ entity: String, in store: PostgreSQLStore) throws -> [RowSnapshot] {
    let entity = try #require(store.managedObjectModel.entitiesByName[entity])
    return try #require(try store.fetch(StoreFetchRequest(entity: entity)).snapshots)
  }

  private func value(_ name: String, of row: RowSnapshot?) throws -> AttributeValue? {
    let row = try #require(row)
    return row[try #require(row.objectID.entity.layout.slotByName[name])]
  }

  @Test func rowsKeysAndMetadataOutliveTheStoreObject() throws {
    let first = try open()
    let author = try #require(
      try saved(
        first.save(insertion([try row("Author", ["firstName": .string("Ann")], in: first)]))
      ).first)
    first.metadata["own"] = "kept"
    _ = try first.save(SaveChangesRequest())
    let key = try #require(author.rowKey)
    try first.close()
    let second = try open()
    #expect(second.identifier == first.identifier)
    #expect(second.metadata["own"] as? String == "kept")
    let found = try all("Author", in: second)
    #expect(found.map(\.rowKey) == [key] && found.first?.version == 1)
    #expect(try value("firstName", of: found.first) == .string("Ann"))
    #expect(try row("Author", in: second).rowKey != key)
    #expect(throws: CoreDataError.self) { try all("Author", in: first) }
    let metadata = try PostgreSQLStoreKind().metadata(
      at: try #require(server.storeURL(schema)), options: StoreOptions([:]))
    #expect(metadata["own"] as? String == "kept")
    #expect(metadata[StoreMetadataKey.uuid] as? String == first.identifier)
  }

  @Test func aProgramMeetsTheChangesOfAnother() throws {
    let (one, other) = (try open(), try open())
    let author = try #require(
      try saved(
        one.save(insertion([try row("Author", ["firstName": .string("Ann")], in: one)]))
      ).first)
    let seen = try #require(try all("Author", in: other).first)
    _ = try saved(one.save(try update(author, "firstName", .string("Bea"))))
    guard
      case .conflicts(let conflicts) = try other.save(
        try update(seen, "firstName", .string("Cid")))
    else {
      Issue.record("no conflict")
      return
    }
    #expect(conflicts.count == 1 && conflicts.first?.persisted?.version == 2)
    #expect(try value("firstName", of: conflicts.first?.persisted) == .string("Bea"))
  }

  @Test func ofProgramsThatClaimOneValueOneGetsIt() async throws {
    let stores = try (0..<4).map { _ in try open() }
    let requests = try stores.map { store in
      insertion([try row("Book", ["ISBN13": .string("978")], in: store)])
    }
    let outcomes = try await withThrowingTaskGroup(of: SaveOutcome.self) { group in
      for (store, request) in zip(stores, requests) {
        group.addTask { try store.save(request) }
      }
      return try await group.reduce(into: [SaveOutcome]()) { $0.append($1) }
    }
    var (won, refused) = (0, 0)
    for outcome in outcomes {
      switch outcome {
      case .saved: won += 1
      case .constraintViolations(let violations):
        refused += 1
        #expect(violations.first?.constraint == ["ISBN13"] && violations.first?.persisted != nil)
      case .conflicts, .sidecarChanged, .rowKeysTaken: Issue.record("another outcome: \(outcome)")
      }
    }
    #expect(won == 1 && refused == 3)
  }

  @Test func countersThatManyRaiseAreNeverLost() async throws {
    let stores = try (0..<4).map { _ in try open() }
    let author = try #require(
      try saved(
        stores[0].save(insertion([try row("Author", ["bookCount": .integer(0)], in: stores[0])]))
      ).first)
    let key = try #require(author.rowKey)
    let tests = self
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores {
        group.addTask {
          for _ in 0..<10 {
            var isDone = false
            while !isDone {
              let row = try #require(try tests.all("Author", in: store).first)
              guard case .integer(let count)? = try tests.value("bookCount", of: row) else {
                Issue.record("the count is no number")
                return
              }
              if case .saved = try store.save(
                try tests.update(row, "bookCount", .integer(count + 1)))
              {
                isDone = true
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let last = try #require(try all("Author", in: stores[0]).first)
    #expect(last.rowKey == key && last.version == 41)
    #expect(try value("bookCount", of: last) == .integer(40))
  }

  @Test func uniqueValuesMayBeExchanged() throws {
    let store = try open()
    let books = try saved(
      store.save(
        insertion(
          try ["a", "b"].map { try row("Book", ["ISBN13": .string($0)], in: store) })))
    var request = try update(books[0], "ISBN13", .string("b"))
    request.updates += try update(books[1], "ISBN13", .string("a")).updates
    #expect(try saved(store.save(request)).map(\.version) == [2, 2])
    #expect(
      try all("Book", in: store).map { try value("ISBN13", of: $0) } == [
        .string("b"), .string("a"),
      ])
  }

  @Test func aKeyThatLeadsNowhereIsRefusedWhole() throws {
    let store = try open()
    let nobody = try row("Author", in: store)
    let books = [
      try row("Book", ["title": .string("good")], in: store),
      try row("Book", ["author": .object(nobody.objectID)], in: store),
    ]
    let error = #expect(throws: CoreDataError.self) { try store.save(insertion(books)) }
    #expect(error?.code == .managedObjectReferentialIntegrity)
    #expect(error?.message.contains("save to the schema \(schema)") == true)
    #expect(try all("Book", in: store).isEmpty)
    // In one save, in any order.
    #expect(try saved(store.save(insertion(books + [nobody]))).count == 3)
  }

  @Test func manyRowsAreSavedAndReadAsTheyWere() throws {
    let store = try open()
    let entity = try #require(store.managedObjectModel.entitiesByName["AudioBook"])
    let ids = try store.obtainPermanentIDs(for: Array(repeating: entity, count: 3_500))
    let rows = try ids.enumerated().map { index, id -> RowSnapshot in
      var values = entity.layout.defaultValues
      values[try #require(entity.layout.slotByName["title"])] =
        index % 3 == 0 ? .null : .string("'; DROP TABLE \(index) --\0")
      values[try #require(entity.layout.slotByName["minutes"])] = .integer(Int64(index))
      return .make(objectID: id, version: 0, values: values)
    }
    let stored = try saved(store.save(insertion(rows)))
    #expect(stored.map(\.objectID) == ids)
    let found = try all("Book", in: store)
    #expect(found.count == 3_500 && Set(found.map(\.rowKey)).count == 3_500)
    for (row, found) in zip(stored, found) {
      #expect(row.values == found.values && found.objectID == row.objectID)
    }
    var request = SaveChangesRequest()
    let minutes = try #require(entity.layout.slotByName["minutes"])
    request.updates = found.map { row in
      var values = row.values
      values[minutes] = .integer(-1)
      return .init(
        snapshot: .make(objectID: row.objectID, version: row.version, values: values),
        changedSlots: [minutes])
    }
    #expect(try saved(store.save(request)).allSatisfy { $0.version == 2 })
    let sum = try owner.run(
      "SELECT sum(minutes)::bigint, count(*) FILTER (WHERE cairn_version = 2) FROM \(schema).book",
      isKept: false)
    #expect(sum.integer(0, 0) == -3_500 && sum.integer(0, 1) == 3_500)
    request = SaveChangesRequest()
    request.deletions = try all("Book", in: store).map { .init(snapshot: $0) }
    _ = try saved(store.save(request))
    #expect(try all("Book", in: store).isEmpty)
  }

  /// More than one statement, and more than libpq shall hold back, takes.
  @Test func largeValuesAreSavedAFewAtATime() throws {
    let store = try open()
    let rows = try (0..<12).map { number in
      try row(
        "Author", ["portrait": .data(Data(repeating: UInt8(number), count: 4_000_000))], in: store)
    }
    var statements = 0
    let plan = try SaveStatements(
      insertion(rows),
      content: StoreContent(
        PostgreSQLSchema(SQLSchema(model: store.managedObjectModel), in: try SchemaName(schema)),
        identity: store.identity)
    ) { _ in statements += 1 }
    #expect(statements == 3 && plan.wanted.compactMap(\.self).reduce(0, +) == 12)
    _ = try saved(store.save(insertion(rows)))
    let found = try all("Author", in: store)
    #expect(found.map(\.values) == rows.map(\.values))
  }

  @Test func theReceiptSaysWhatIsStored() throws {
    let store = try open()
    let stored = try #require(
      try saved(store.save(insertion([try row("Author", ["rating": .double(.nan)], in: store)])))
        .first)
    #expect(try value("rating", of: stored) == .null)
    let found = try all("Author", in: store).first?.values
    #expect(stored.values == found)
  }

  /// The session ends in the middle of every third save, and at the commit of every other third.
  @Test func savesAreWholeOrNotThereWhenSessionsEnd() throws {
    let store = try open()
    try owner.run(
      "CREATE FUNCTION \(schema).die() RETURNS trigger LANGUAGE plpgsql AS "
        + "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$",
      isKept: false)
    for (name, rest, moment) in [
      ("TRIGGER middle", 1, ""), ("CONSTRAINT TRIGGER ending", 2, "DEFERRABLE INITIALLY DEFERRED"),
    ] {
      try owner.run(
        "CREATE \(name) AFTER INSERT ON \(schema).author \(moment) FOR EACH ROW "
          + "WHEN (new.book_count % 3 = \(rest)) EXECUTE FUNCTION \(schema).die()", isKept: false)
    }
    for number in Int64(0)..<18 {
      // Two rows that are there together or not at all.
      let request = insertion(
        try (0..<2).map { _ in try row("Author", ["bookCount": .integer(number)], in: store) })
      if number % 3 == 0 {
        #expect(try saved(store.save(request)).count == 2)
        continue
      }
      let error = #expect(throws: CoreDataError.self) { try store.save(request) }
      #expect(error?.message.contains("ended") == true)
    }
    let found = try owner.run(
      "SELECT book_count, count(*) FROM \(schema).author GROUP BY book_count ORDER BY book_count",
      isKept: false)
    let counts = (0..<found.count).map { [found.integer($0, 0), found.integer($0, 1)] }
    #expect(counts == stride(from: 0, to: 18, by: 3).map { [Int64($0), 2] })
  }

  @Test func aStoreGoesOnWhenTheServerEndsItsSessions() throws {
    let store = try open()
    _ = try saved(store.save(insertion([try row("Author", in: store)])))
    // The session's last statement tells which one it is.
    #expect(try all("Author", in: store).count == 1)
    let ended = try owner.run(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
        + "WHERE pid <> pg_backend_pid() AND query LIKE '%\"\(schema)\".%'", isKept: false)
    #expect(ended.count == 1)
    // The pool looks whether a session is still there before it lends it.
    #expect(try all("Author", in: store).count == 1)
  }

  @Test func whatCannotBeOpenedSaysWhy() throws {
    func refusal(_ url: URL?, options: [String: Any] = [:]) throws -> CoreDataError {
      let model = try LibraryModel.make().model
      let error = #expect(throws: CoreDataError.self) {
        try PostgreSQLStore(
          configuration: StoreConfiguration(
            model: model, configurationName: nil, url: url, options: StoreOptions(options))
        ).openStore()
      }
      return try #require(error)
    }
    #expect(try refusal(nil).message.contains("postgresql://"))
    let secret = try refusal(URL(string: "postgresql://me:canary-5@db1/x#y"))
    #expect(secret.message.contains("LoadCredential") && !"\(secret)".contains("canary-5"))
    #expect(try refusal(server.storeURL("pg_mine")).message.contains("Name another schema"))
    #expect(
      try refusal(server.storeURL(schema), options: [StoreOptionKey.readOnly: true]).message
        .contains("not created"))
    try owner.run("CREATE SCHEMA \(schema)", isKept: false)
    try owner.run("CREATE VIEW \(schema).theirs AS SELECT 1", isKept: false)
    #expect(try refusal(server.storeURL(schema)).code == .persistentStoreInvalidType)
  }

  @Test func aStoreOfAnotherModelIsNotOpened() throws {
    _ = try open()
    let other = try LibraryModel.make { entities in
      entities["Author"]?.properties.append(LibraryModel.attribute("nickname", .string))
    }
    let error = #expect(throws: CoreDataError.self) { try open(model: other.model) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
  }

  @Test func aStoreIsDestroyedWithItsSchema() throws {
    let kind = PostgreSQLStoreKind()
    let url = try #require(server.storeURL(schema))
    _ = try open()
    try kind.setMetadata(["own": 7], at: url, options: StoreOptions([:]))
    #expect(try kind.metadata(at: url, options: StoreOptions([:]))["own"] as? Int == 7)
    try kind.destroy(at: url, options: StoreOptions([:]))
    #expect(try kind.metadata(at: url, options: StoreOptions([:])).isEmpty)
    try kind.destroy(at: url, options: StoreOptions([:]))
    let fresh = try open()
    #expect(fresh.metadata["own"] == nil)
    #expect(try all("Author", in: fresh).isEmpty)
    let foreign = server.newName("other")
    try owner.run("CREATE SCHEMA \(foreign)", isKept: false)
    try owner.run("CREATE TABLE \(foreign).invoice (n bigint)", isKept: false)
    #expect(throws: CoreDataError.self) {
      try kind.destroy(at: try #require(server.storeURL(foreign)), options: StoreOptions([:]))
    }
    #expect(try owner.run("SELECT count(*) FROM \(foreign).invoice", isKept: false).count == 1)
  }

  @Test func namesThatMeanHarmAreNamesOnly() throws {
    let long = String(repeating: "attributeWithAVeryLongName", count: 4)
    let names = [
      "select", "user", "cairnId", "cairn_version", "xmin", "first_name", "firstName", long + "A",
      long + "B",
    ]
    let thing = EntityDescription(
      name: "Order", properties: names.map { LibraryModel.attribute($0, .string) })
    let model = try LibraryModel.schema([thing]).model
    let store = try open(server.newName("we\"ird'; DROP SCHEMA public --"), model: model)
    let values = Dictionary(
      uniqueKeysWithValues: names.map { ($0, AttributeValue.string("value of \($0)'\"\\\0;")) })
    _ = try saved(store.save(insertion([try row("Order", values, in: store)])))
    let found = try #require(try all("Order", in: store).first)
    for (name, value) in values { #expect(try self.value(name, of: found) == value) }
  }
}
