// A store follows its model in place, all of it or not at all.

import CairnContext
import CairnCoordinator
import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import CairnTesting
import Foundation
import Synchronization
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct PostgreSQLMigrationTests {
  let words: StoreWords
  let other: PostgreSQLConnection

  init() throws {
    words = try StoreWords()
    other = try words.foreign()
  }

  /// The next version: names changed, something more, something less, another place for links.
  static func next() throws -> ManagedObjectModel {
    try LibraryModel.make { entities in
      guard let author = entities["Author"], let book = entities["Book"] else { return }
      author.name = "Writer"
      author.renamingIdentifier = "Author"
      author.attributesByName["firstName"]?.renamingIdentifier = "firstName"
      author.attributesByName["firstName"]?.name = "givenName"
      author.properties.removeAll { $0.name == "weight" }
      author.properties.append(
        DerivedAttributeDescription("folded", .string, from: "canonical:(givenName)"))
      author.properties.append(
        DerivedAttributeDescription("bookTotal", .integer64, from: "books.@count"))
      let language = LibraryModel.attribute("language", .string)
      language.isOptional = false
      language.defaultValue = "en"
      book.properties.append(language)
    }.model
  }

  /// The same with an attribute more.
  static func additive() throws -> ManagedObjectModel {
    try LibraryModel.make { entities in
      entities["Shelf"]?.properties.append(LibraryModel.attribute("width", .double))
    }.model
  }

  private func migrate(
    from old: ManagedObjectModel, to new: ManagedObjectModel, _ options: [String: Any] = [:]
  ) throws {
    try PostgreSQLStore.migrateInPlace(
      at: try #require(words.server.storeURL(words.schema)), from: old, to: new,
      options: StoreOptions(options))
  }

  @Test func aProgramOfTheOldVersionIsRefusedWhateverItReads() throws {
    let old = try LibraryModel.make().model
    let store = try words.openRecording(model: old, capturing: true)
    let shelf = try words.row("Shelf", ["place": .string("a")], in: store)
    try migrate(from: old, to: Self.additive())
    let entity = shelf.objectID.entity
    let attempts: [(String, () throws -> Void)] = [
      ("fetch", { _ = try store.fetch(StoreFetchRequest(entity: entity)) }),
      ("fault", { _ = try store.snapshots(for: [shelf.objectID]) }),
      ("history", { _ = try store.readHistory(HistoryReadRequest()) }),
      ("newest", { _ = try store.lastTransactionNumber() }),
      ("purged", { _ = try store.lastPurgedTransactionNumber() }),
      ("values", { _ = try store.sidecarValues(for: [MigrationTrace.key]) }),
      ("entries", { _ = try store.sidecarEntries(of: "test", from: nil, to: nil, limit: 1) }),
      ("purge", { _ = try store.purgeHistory(before: .max, date: nil) }),
    ]
    for (name, attempt) in attempts {
      let error = #expect(throws: CoreDataError.self, "\(name)") { try attempt() }
      #expect(error?.code.rawValue == 134_020, "\(name)")
    }
  }

  private static let born = Date(timeIntervalSinceReferenceDate: 1.000_000_1)

  @Test func rowsLinksAndHistoryComeAlong() throws {
    let old = try LibraryModel.make().model
    let store = try words.openRecording(model: old, capturing: true)
    let author = try words.row(
      "Author", ["firstName": .string("\u{c9}va"), "born": .date(Self.born)], in: store)
    let book = try words.row(
      "AudioBook", ["title": .string("One"), "author": .object(author.objectID)], in: store)
    let shelves = try ["a", "b"].map { try words.row("Shelf", ["place": .string($0)], in: store) }
    let tags = try #require(book.objectID.entity.relationshipsByName["tags"])
    let wishes = try #require(author.objectID.entity.relationshipsByName["wishes"])
    let order = shelves.reversed().map(\.objectID)
    try words.save(in: store) {
      $0.insertions = ([author, book] + shelves).map { .init(snapshot: $0) }
      $0.links = [
        .init(relationship: tags, owner: book.objectID, added: order, order: order),
        .init(relationship: wishes, owner: author.objectID, added: [book.objectID]),
      ]
    }
    try words.sql("UPDATE @author SET first_name = '\u{c9}ve', weight = 1", on: other)
    try store.close()
    let new = try Self.next()
    try migrate(from: old, to: new)
    let next = try words.open(model: new)
    let entities = new.entitiesByName
    let writer = try #require(entities["Writer"])
    func all(_ name: String) throws -> [RowSnapshot] {
      guard
        case .snapshots(let rows) = try next.fetch(
          StoreFetchRequest(entity: try #require(entities[name])))
      else { return [] }
      return rows
    }
    func value(_ name: String, _ row: RowSnapshot) -> AttributeValue? {
      row.objectID.entity.layout.slotByName[name].map { row[$0] }
    }
    let found = try #require(try all("Writer").first)
    #expect(found.rowKey == author.rowKey && found.version == 2)
    #expect(value("givenName", found) == .string("\u{c9}ve"))
    #expect(value("born", found) == .date(Self.born))
    #expect(value("folded", found) == .string("eve") && value("bookTotal", found) == .integer(1))
    let one = try #require(try all("AudioBook").first)
    #expect(
      value("language", one) == .string("en") && value("author", one) == .object(found.objectID))
    func members(_ relationship: String, of row: RowSnapshot) throws -> [Int64?] {
      let relationship = try #require(row.objectID.entity.relationshipsByName[relationship])
      return try next.members(of: relationship, owners: [row.objectID])[0].map(\.rowKey)
    }
    #expect(try members("tags", of: one) == shelves.reversed().map(\.rowKey))
    #expect(try members("wishes", of: found) == [book.rowKey])
    // History speaks of the new names; keys go on behind those that were given.
    let changes = try words.changes(in: next)
    #expect(changes.map(\.kind) == [.insert, .insert, .insert, .insert, .update])
    #expect(changes.last?.objectID == found.objectID)
    #expect(changes.last?.changedProperties == ["givenName"])
    let fresh = try words.insert("Writer", in: next)
    #expect(try #require(fresh.rowKey) > (try #require(author.rowKey)))
    // Triggers are those of the new tables.
    try words.sql("UPDATE @writer SET given_name = 'Zo\u{eb}' WHERE cairn_id = 1", on: other)
    #expect(try words.changes(in: next).last?.changedProperties == ["givenName"])
    #expect(writer.name == "Writer")
    let left = try words.sql(
      "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
        + "WHERE nspname = '\(words.schema)' AND (relname LIKE 'cairn_old%' OR relname = 'author')",
      on: other)
    #expect(left.integer(0, 0) == 0)
  }

  /// Shelves with a place, a composite attribute of a town and a date; the first version has the names without arguments.
  private static func placed(
    _ place: String = "place", town: String = "town", built: String = "built",
    _ change: (CompositeAttributeDescription) -> Void = { _ in }
  ) throws -> ManagedObjectModel {
    func element(_ name: String, _ type: AttributeType, was former: String) -> AttributeDescription
    {
      let element = LibraryModel.attribute(name, type)
      element.renamingIdentifier = former
      return element
    }
    let group = CompositeAttributeDescription()
    group.name = place
    group.renamingIdentifier = "place"
    group.preservesValueInHistoryOnDeletion = true
    group.elements = [element(town, .string, was: "town"), element(built, .date, was: "built")]
    change(group)
    return try LibraryModel.model(of: [EntityDescription(name: "Shelf", properties: [group])])
  }

  /// The table stays where only the composite has another name.
  @Test(arguments: ["built", "made"])
  func datesInRenamedCompositesStayExact(_ built: String) throws {
    let (old, new) = (try Self.placed(), try Self.placed("site", built: built))
    let store = try words.open(model: old)
    try words.insert("Shelf", ["place.built": .date(Self.born)], in: store)
    try store.close()
    try migrate(from: old, to: new)
    let shelf = try #require(new.entitiesByName["Shelf"])
    let slot = try #require(shelf.layout.slotByName["site.\(built)"])
    guard
      case .snapshots(let rows) = try words.open(model: new).fetch(StoreFetchRequest(entity: shelf))
    else {
      Issue.record("no rows")
      return
    }
    #expect(rows.map { $0[slot] } == [.date(Self.born)])
  }

  @Test(arguments: ["place", "site"])
  func deletedObjectsGoByTheNewNamesOfElements(_ place: String) throws {
    let (old, new) = (try Self.placed(), try Self.placed(place, town: "city", built: "made"))
    let store = try words.openRecording(model: old)
    let row = try words.insert(
      "Shelf", ["place.town": .string("Bonn"), "place.built": .date(Self.born)], in: store)
    try words.save(in: store) { $0.deletions = [.init(snapshot: row)] }
    try store.close()
    try migrate(from: old, to: new)
    let left = try words.changes(in: words.open(model: new)).last?.tombstone
    #expect(left == ["\(place).city": .string("Bonn"), "\(place).made": .date(Self.born)])
  }

  @Test func aMandatoryElementNeedsAValueWhereItsCompositeHasOne() throws {
    let (old, new) = (
      try Self.placed(), try Self.placed { $0.elements.forEach { $0.isOptional = false } }
    )
    let store = try words.open(model: old)
    try words.insert("Shelf", in: store)
    let row = try words.insert("Shelf", ["place.town": .string("Bonn")], in: store)
    let error = #expect(throws: CoreDataError.self) { try migrate(from: old, to: new) }
    #expect(error?.code == .migration && error?.userInfo["attribute"] as? String == "place.built")
    try words.save(in: store) { $0.deletions = [.init(snapshot: row)] }
    try migrate(from: old, to: new)
  }

  @Test func aCompositeWithAnyValueCanBecomeMandatory() throws {
    let (old, new) = (try Self.placed(), try Self.placed { $0.isOptional = false })
    let store = try words.open(model: old)
    try words.insert("Shelf", ["place.town": .string("Bonn")], in: store)
    let row = try words.insert("Shelf", in: store)
    let error = #expect(throws: CoreDataError.self) { try migrate(from: old, to: new) }
    #expect(error?.code == .migration && error?.userInfo["attribute"] as? String == "place")
    try words.save(in: store) { $0.deletions = [.init(snapshot: row)] }
    try migrate(from: old, to: new)
  }

  /// The rows of shelves lie in the table of a root that there was not.
  @Test func keysGoOnWhereAnEntityGetsASuperentity() throws {
    func model(hasRoot: Bool) throws -> ManagedObjectModel {
      let shelf = EntityDescription(
        name: "Shelf", properties: [LibraryModel.attribute("place", .string)])
      guard hasRoot else { return try LibraryModel.model(of: [shelf]) }
      let root = EntityDescription(name: "Furniture")
      root.subentities = [shelf]
      return try LibraryModel.model(of: [root, shelf])
    }
    let (old, new) = (try model(hasRoot: false), try model(hasRoot: true))
    let store = try words.open(model: old)
    for place in ["a", "b"] { try words.insert("Shelf", ["place": .string(place)], in: store) }
    try store.close()
    try migrate(from: old, to: new)
    let next = try words.open(model: new)
    #expect(try next.verifyIntegrity() == [])
    #expect(try words.row("Shelf", ["place": .string("c")], in: next).rowKey == 3)
  }

  @Test func whoHoldsUpOtherWritersMigratesBeforeTheyGoOn() async throws {
    let old = try LibraryModel.make().model
    let store = try words.openRecording(model: old)
    try words.insert("Shelf", ["place": .string("north")], in: store)
    let started = DispatchSemaphore(value: 0)
    let writing = onThread { [words, other] in
      started.wait()
      _ = try words.sql("UPDATE @shelf SET place = 'south'", on: other)
    }
    let watcher = try words.foreign()
    try store.holdingWrites {
      started.signal()
      try until {
        let waiting = try words.sql(
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '@shelf'::regclass",
          on: watcher)
        return waiting.integer(0, 0) == 1
      }
      try migrate(from: old, to: Self.additive())
      // The next step of a way is one of its own.
      try migrate(from: Self.additive(), to: Self.next())
    }
    try await writing().get()
    let next = try words.open(model: Self.next())
    let shelf = try #require(
      try words.sql("SELECT place FROM @shelf", on: watcher).text(0, 0))
    #expect(shelf == "south")
    #expect(try words.insert("Shelf", in: next).rowKey == 2)
  }

  @Test func aMigrationWhoseHoldTheServerEndedSaysSo() throws {
    let old = try LibraryModel.make().model
    let store = try words.open(model: old)
    try store.holdingWrites {
      let process = try #require(WriteHold.current?.connection.backendProcess)
      try words.sql("SELECT pg_terminate_backend(\(process), 60000)", on: other)
      let error = #expect(throws: CoreDataError.self) {
        try migrate(from: old, to: Self.additive())
      }
      #expect(
        error?.message.contains("migrate the schema \(words.schema)") == true, "\(error as Any)")
    }
    try migrate(from: old, to: Self.additive())
  }

  @Test func aSaveThatWaitedForAMigrationSaysThatTheStoreWasMigrated() async throws {
    let old = try LibraryModel.make().model
    let store = try words.openRecording(model: old)
    let second = try words.open(model: old)
    let started = DispatchSemaphore(value: 0)
    let saving = onThread { [words] in
      started.wait()
      _ = try words.insert("Author", ["weight": .double(1)], in: second)
    }
    let watcher = try words.foreign()
    try store.holdingWrites {
      started.signal()
      try until {
        let waiting = try words.sql(
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND database = "
            + "(SELECT oid FROM pg_database WHERE datname = current_database())", on: watcher)
        return (waiting.integer(0, 0) ?? 0) > 0
      }
      try migrate(from: old, to: Self.next())
    }
    let error = await #expect(throws: CoreDataError.self) { try await saving().get() }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(error?.message.contains("was migrated to another version") == true, "\(error as Any)")
  }

  /// Runs work on a thread of its own, as the caller waits for it on one of the few that tests have.
  ///
  /// - Returns: Waits for the outcome.
  private func onThread(
    _ work: @escaping @Sendable () throws -> Void
  ) -> () async throws -> Result<Void, any Error> {
    let outcome = Outcome()
    Thread.detachNewThread {
      let result = Result { try work() }
      outcome.result.withLock { $0 = result }
    }
    return {
      #expect(await eventually { outcome.result.withLock { $0 != nil } })
      return try #require(outcome.result.withLock { $0 })
    }
  }

  private final class Outcome: Sendable {
    let result = Mutex<Result<Void, any Error>?>(nil)
  }

  private func until(_ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(20)
    while try !condition() {
      try #require(ContinuousClock.now < end)
      // A hold ends with the closure that it was given, which cannot suspend.
      Thread.sleep(forTimeInterval: 0.01)
    }
  }

  @Test func aTableThatOnlyGetsMoreStaysWhereItIs() throws {
    let old = try LibraryModel.make().model
    let store = try words.open(model: old)
    try words.insert("Shelf", ["place": .string("north")], in: store)
    let before = try words.sql("SELECT '@shelf'::regclass::oid::bigint", on: other).integer(0, 0)
    try migrate(from: old, to: Self.additive())
    let after = try words.sql("SELECT '@shelf'::regclass::oid::bigint", on: other).integer(0, 0)
    #expect(before == after)
    let next = try words.open(model: Self.additive())
    let shelf = try words.insert("Shelf", ["width": .double(2.5)], in: next)
    #expect(shelf.rowKey == 2)
  }

  @Test func aTableWithDerivedAttributesStaysWithWhatAnAdministratorAdded() throws {
    func model(isNext: Bool) throws -> ManagedObjectModel {
      try LibraryModel.make { entities in
        guard let shelf = entities["Shelf"] else { return }
        shelf.properties.append(
          DerivedAttributeDescription("folded", .string, from: "canonical:(place)"))
        if isNext { shelf.properties.append(LibraryModel.attribute("width", .double)) }
      }.model
    }
    let old = try model(isNext: false)
    let store = try words.open(model: old)
    try words.insert("Shelf", ["place": .string("N\u{f6}rd")], in: store)
    try words.sql("ALTER TABLE @shelf ADD COLUMN mine text DEFAULT 'precious'", on: other)
    let next = try model(isNext: true)
    try migrate(from: old, to: next)
    let rows = try words.sql("SELECT mine, folded FROM @shelf", on: other)
    #expect(rows.text(0, 0) == "precious" && rows.text(0, 1) == "nord")
    let found = try words.open(model: next)
    try words.insert("Shelf", ["width": .double(2.5)], in: found)
  }

  @Test func aTableThatIsMadeAnewHasTheRightsOfTheOneThatItReplaces() throws {
    let old = try LibraryModel.make().model
    let new = try LibraryModel.make { entities in
      for (name, next) in [("Author", "Writer"), ("Book", "Work")] {
        entities[name]?.name = next
        entities[name]?.renamingIdentifier = name
      }
      let name = entities["Author"]?.attributesByName["firstName"]
      name?.renamingIdentifier = "firstName"
      name?.name = "givenName"
    }.model
    try words.open(model: old).close()
    let role = words.server.newName("clerk")
    let schema = "SCHEMA \"\(words.schema)\""
    for statement in [
      "CREATE ROLE \(role)", "GRANT SELECT ON ALL TABLES IN \(schema) TO \(role)",
      "GRANT USAGE ON ALL SEQUENCES IN \(schema) TO \(role)",
      "GRANT INSERT ON @author TO \(role) WITH GRANT OPTION",
      "GRANT UPDATE (first_name) ON @author TO \(role)", "GRANT REFERENCES ON @author TO PUBLIC",
      // What the next tables get by themselves, and this one has not.
      "ALTER DEFAULT PRIVILEGES IN \(schema) GRANT DELETE ON TABLES TO \(role)",
    ] { try words.sql(statement, on: other) }
    try migrate(from: old, to: new)
    func has(_ kind: String, _ object: String, _ right: String, as role: String) throws -> Bool? {
      try words.sql("SELECT has_\(kind)_privilege('\(role)', \(object), '\(right)')", on: other)
        .flag(0, 0)
    }
    #expect(try has("table", "'@writer'", "INSERT WITH GRANT OPTION", as: role) == true)
    #expect(try has("table", "'@writer'", "REFERENCES", as: "public") == true)
    #expect(try has("table", "'@writer'", "UPDATE", as: role) == false)
    #expect(try has("table", "'@writer'", "DELETE", as: role) == false)
    #expect(try has("column", "'@writer', 'given_name'", "UPDATE", as: role) == true)
    #expect(try has("column", "'@writer', 'born'", "UPDATE", as: role) == false)
    let sequence = "pg_get_serial_sequence('@writer', 'cairn_id')"
    #expect(try has("sequence", sequence, "USAGE", as: role) == true)
    let hidden = try words.sql(
      "SELECT relname::text FROM pg_class WHERE relnamespace = '\"\(words.schema)\"'::regnamespace "
        + "AND relkind = 'r' AND NOT has_table_privilege('\(role)', oid, 'SELECT')", on: other)
    #expect((0..<hidden.count).map { hidden.text($0, 0) } == [])
  }

  @Test func aMigrationThatWaitsNamesTheSessionThatKeepsIt() throws {
    let old = try LibraryModel.make().model
    try words.open(model: old).close()
    try other.run("BEGIN", isKept: false)
    try words.sql("SELECT 1 FROM @shelf", on: other)
    let error = #expect(throws: CoreDataError.self) {
      try migrate(from: old, to: Self.additive(), [StoreOptionKey.timeout: 1])
    }
    #expect(error?.code == .persistentStoreTimeout)
    #expect(error?.message.contains("process \(other.backendProcess)") == true, "\(error as Any)")
    try other.run("COMMIT", isKept: false)
    try migrate(from: old, to: Self.additive())
  }

  @Test func aProgramThatHasItOpenIsToldAndWritesNothing() throws {
    let old = try LibraryModel.make().model
    let store = try words.open(model: old)
    try words.insert("Shelf", in: store)
    try migrate(from: old, to: Self.additive())
    let error = #expect(throws: CoreDataError.self) { try words.insert("Shelf", in: store) }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(error?.message.contains("was migrated") == true)
    #expect(try words.sql("SELECT 1 FROM @shelf", on: other).count == 1)
  }

  @Test func aSecondProgramWaitsOrIsRefusedByName() async throws {
    let old = try LibraryModel.make().model
    let store = try words.open(model: old)
    try words.insert("Shelf", in: store)
    try words.sql("BEGIN", on: other)
    let lock = TransactionLock.schema.statement(of: try SchemaName(words.schema), isShared: true)
    try other.run(lock.text, lock.parameters)
    let error = #expect(throws: CoreDataError.self) {
      try migrate(from: old, to: Self.additive(), [StoreOptionKey.timeout: 0.1])
    }
    #expect(error?.code == .persistentStoreTimeout)
    #expect(error?.message.contains("migrate the schema \(words.schema)") == true)
    try words.sql("COMMIT", on: other)
    // Both want the same; one does it.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          try migrate(from: try LibraryModel.make().model, to: try Self.additive())
        }
      }
      try await group.waitForAll()
    }
    let version = try words.sql("SELECT version FROM @cairn_store", on: other)
    #expect(version.integer(0, 0) == 2)
  }

  @Test func whatDoesNotFitLeavesTheStoreAsItWas() throws {
    let old = try LibraryModel.make().model
    let store = try words.openRecording(model: old, capturing: true)
    for _ in 0..<2 { try words.insert("Shelf", ["place": .string("same")], in: store) }
    let unique = try LibraryModel.make { $0["Shelf"]?.uniquenessConstraints = [["place"]] }.model
    let error = #expect(throws: CoreDataError.self) { try migrate(from: old, to: unique) }
    #expect(error?.code == .migrationConstraintViolation)
    try words.sql("UPDATE @shelf SET place = 'other' WHERE cairn_id = 1", on: other)
    #expect(try words.changes(in: store).last?.kind == .update)
    let mandatory = try LibraryModel.make { entities in
      let width = LibraryModel.attribute("width", .double)
      width.isOptional = false
      entities["Shelf"]?.properties.append(width)
    }.model
    #expect(throws: CoreDataError.self) { try migrate(from: old, to: mandatory) }
    try words.insert("Shelf", in: store)
  }

  @Test func aCoordinatorMigratesWithConsentAlone() throws {
    let url = try #require(words.server.storeURL(words.schema))
    let old = try LibraryModel.make().model
    let store = try words.open(model: old)
    try words.insert("Shelf", in: store)
    try store.close()
    func add(_ options: [String: Any]) throws {
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: try Self.additive(), storeKinds: [PostgreSQLStoreKind()])
      try coordinator.addPersistentStore(
        ofType: PostgreSQLStore.typeName, configurationName: nil, at: url, options: options)
    }
    let error = #expect(throws: (any Error).self) { try add([:]) }
    #expect((error as NSError?)?.code == 134100)
    #expect(error?.localizedDescription.contains("Shelf") == true)
    try add([
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
    ])
    // The one that knows less does not strip it.
    let back = #expect(throws: (any Error).self) {
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: old, storeKinds: [PostgreSQLStoreKind()])
      try coordinator.addPersistentStore(
        ofType: PostgreSQLStore.typeName, configurationName: nil, at: url,
        options: [
          StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
        ])
    }
    #expect((back as NSError?)?.code == 134130)
  }
}
