import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "`repair` merges them by the rules": two stores that differ are equal
/// afterwards, and what was done about each record and property is told.
struct RepairTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon

  init() async throws {
    scratch = try Scratch()
    daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.insert(["k", "l", "m"])
    try daemon.tag("k", with: "t")
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
  }

  private func sql(_ name: String, _ statements: String) async throws {
    try await scratch.sql(name, statements)
  }

  private func repair(
    _ preference: RepairPreference = .local
  ) async throws -> [RepairReport.Action.Kind] {
    let plan = try await daemon.engine.repair(
      name: "nas", preferring: preference, isPlan: true, timeout: .patience)
    #expect(plan.isPlan && plan.remaining.isEmpty)
    let before = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(!before.isEqual, "a plan changes nothing")
    let report = try await daemon.engine.repair(
      name: "nas", preferring: preference, timeout: .patience)
    #expect(report.actions == plan.actions)
    #expect(report.remaining.isEmpty, "\(report.remaining)")
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    #expect(
      try await daemon.engine.verify(name: "nas", level: .quick, timeout: .patience).level == .quick
    )
    return Set(report.actions.map(\.kind)).sorted { $0.rawValue < $1.rawValue }
  }

  private func value(_ key: String) throws -> String? {
    try daemon.site.write { context in
      try daemon.site.find("Item", key, in: context)?.value(forKey: "value") as? String
    }
  }

  @Test(arguments: [RepairPreference.local, .replica])
  func aValueThatSqlChangedIsTakenFromTheSideThatIsNamed(preference: RepairPreference) async throws
  {
    try await sql("nas", "UPDATE ZITEM SET ZVALUE = 'by sql' WHERE ZKEY = 'k'")
    let quick = try await daemon.engine.verify(name: "nas", level: .quick, timeout: .patience)
    #expect(quick.level == .quick && quick.isEqual, "it does not read values, and says so")
    #expect(try await repair(preference) == [.written])
    #expect(try value("k") == (preference == .local ? "k" : "by sql"))
    await daemon.engine.stop()
  }

  @Test(arguments: ["local", "nas"])
  func aRowThatSqlAddedTravels(store: String) async throws {
    try await sql(
      store,
      """
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZKEY, ZVALUE) \
      SELECT 77, Z_ENT, 1, 'added', 'v' FROM ZITEM WHERE ZKEY = 'k';
      UPDATE Z_PRIMARYKEY SET Z_MAX = 77 WHERE Z_NAME = 'Item'
      """)
    #expect(try await repair() == [.takenUp])
    #expect(try value("added") == "v")
    await daemon.engine.stop()
  }

  @Test(arguments: ["local", "nas"])
  func aRowThatSqlDeletedIsMadeAgain(store: String) async throws {
    try await sql(store, "DELETE FROM ZITEM WHERE ZKEY = 'l'")
    #expect(try await repair() == [.restored])
    #expect(try value("l") == "l")
    await daemon.engine.stop()
  }

  /// What referred to the row leads to it again: it has the key that it had.
  @Test(arguments: ["local", "nas"])
  func whatReferredToARowThatSqlDeletedLeadsToItAgain(store: String) async throws {
    try daemon.site.write { context in
      let item = try #require(try daemon.site.find("Item", "l", in: context))
      try daemon.site.find("Item", "k", in: context)?.setValue(item, forKey: "parent")
      let tag = try daemon.site.insert("Tag", ["name": "of l", "labelled": item], in: context)
      item.setValue(NSSet(object: tag), forKey: "tags")
      let picked = try daemon.site.insert("Tag", ["name": "picked"], in: context)
      item.setValue(NSOrderedSet(array: [picked, tag]), forKey: "picks")
      for key in ["p", "q"] {
        _ = try daemon.site.insert("Part", ["key": key, "item": item], in: context)
      }
    }
    try await daemon.engine.wait(timeout: .patience)
    let before = try daemon.site.picture()
    let keys = try await keys(in: store)
    try await sql(
      store, "DELETE FROM ZITEM WHERE ZKEY = 'l'; DELETE FROM ZPART WHERE ZKEY = 'p'")
    #expect(try await repair().contains(.restored))
    #expect(try await self.keys(in: store) == keys)
    #expect(try daemon.site.picture() == before)
    for name in ["local", "nas"] { #expect(try await danglingReferences(in: name) == 0) }
    await daemon.engine.stop()
  }

  /// The store has forgotten the row, and dies before it is made again.
  @Test func aRowGetsItsKeyAlsoFromTheRepairAfterOneThatDied() async throws {
    await daemon.engine.stop()
    let folder = try Scratch()
    let fleet = Fleet(seed: 5, directory: folder.url)
    let (local, nas) = (try fleet.add("local"), try fleet.add("nas"))
    try local.write { context in
      let parent = try local.insert("Item", ["key": "l"], in: context)
      _ = try local.insert("Item", ["key": "k", "parent": parent], in: context)
    }
    _ = try fleet.settle([(local, nas)])
    let before = try nas.picture()
    try await folder.sql("nas", "DELETE FROM ZITEM WHERE ZKEY = 'l'")
    fleet.interrupt(nas, at: .beforeImport) { throw Fleet.Stopped() }
    #expect(throws: Fleet.Stopped.self) { try repair(local, nas, in: fleet) }
    #expect(try FormerKeys(keptIn: nas.store).byRecord.count == 1)
    try repair(local, nas, in: fleet)
    #expect(try nas.picture() == before, "what referred to the row leads to it")
    #expect(try fleet.differences(local, nas).isEmpty)
    #expect(try FormerKeys(keptIn: nas.store).byRecord.isEmpty)
  }

  /// What one repair does to two stores, the local one preferred.
  @discardableResult
  private func repair(
    _ local: Fleet.Site, _ nas: Fleet.Site, in fleet: Fleet
  ) throws -> [RepairReport.Action.Kind] {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = fleet.coordinator
    let found = try StoreComparison(local: local.access, replica: nas.access).run(name: "nas")
    return try context.performAndWait {
      let repair = StoreRepair(
        pass: SyncPass(local: local.access, replica: nas.access, context: context),
        direction: .both, preference: .local)
      let actions = try repair.plan(found.differences)
      try repair.perform(actions)
      return actions.map(\.kind)
    }
  }

  /// History tells of the delete, which nothing has taken up when the stores are compared.
  @Test func aRowThatAProgramDeletesDuringARepairIsNotMadeAgain() async throws {
    await daemon.engine.stop()
    let fleet = Fleet(seed: 6)
    let (local, nas) = (try fleet.add("local"), try fleet.add("nas"))
    try local.write { context in
      for key in ["l", "k"] { _ = try local.insert("Item", ["key": key], in: context) }
    }
    _ = try fleet.settle([(local, nas)])
    try nas.write { context in try nas.find("Item", "l", in: context).map(context.delete) }
    #expect(try repair(local, nas, in: fleet) == [.restored])
    _ = try fleet.settle([(local, nas)])
    for site in [local, nas] { #expect(try site.picture().count == 1, "\(site.name)") }
    #expect(try fleet.differences(local, nas).isEmpty)
  }

  private func keys(in store: String) async throws -> [String: Int64] {
    try await reading(store) { database in
      let rows = try Row.fetchAll(
        database, sql: "SELECT ZKEY, Z_PK FROM ZITEM UNION SELECT ZKEY, Z_PK FROM ZPART")
      return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }
  }

  private func danglingReferences(in store: String) async throws -> Int? {
    try await reading(store) { database in
      try Int.fetchOne(
        database,
        sql: """
          SELECT (SELECT count(*) FROM ZITEM WHERE ZPARENT NOT IN (SELECT Z_PK FROM ZITEM))
          + (SELECT count(*) FROM ZPART WHERE ZITEM NOT IN (SELECT Z_PK FROM ZITEM))
          + (SELECT count(*) FROM ZTAG WHERE ZLABELLED NOT IN (SELECT Z_PK FROM ZITEM))
          """)
    }
  }

  private func reading<Value: Sendable>(
    _ store: String, _ body: @Sendable (Database) throws -> Value
  ) async throws -> Value {
    let file = try DatabaseQueue(
      patient: scratch.url.appendingPathComponent(store + ".sqlite").path)
    defer { try? file.close() }
    return try await file.read(body)
  }

  /// A repair of the local store alone is for a person who took the row away on purpose.
  @Test func aRowThatSqlDeletedOnPurposeIsDeletedEverywhere() async throws {
    try await sql("local", "DELETE FROM ZITEM WHERE ZKEY = 'l'")
    let plan = try await daemon.engine.repairLocal(isPlan: true)
    #expect(plan.actions.map(\.kind) == [.deleted] && plan.isPlan)
    #expect(try await !daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    #expect(try await daemon.engine.repairLocal().actions == plan.actions)
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 3, "\(report)")
    #expect(try value("l") == nil)
    #expect(try await daemon.engine.repairLocal().actions.isEmpty)
    await daemon.engine.stop()
  }

  /// What a store's own inspection finds.
  private func damage() throws -> [String] {
    try #require(daemon.site.store.capabilities.integrity).verifyIntegrity()
  }

  /// As a delete by a program does: references to it lead nowhere, its links are gone, and so are its parts.
  @Test func whatIsAroundARowThatSqlDeletedOnPurposeFollowsTheDeleteRules() async throws {
    try daemon.site.write { context in
      let item = try #require(try daemon.site.find("Item", "k", in: context))
      try daemon.site.find("Item", "l", in: context)?.setValue(item, forKey: "parent")
      let tag = try daemon.site.insert("Tag", ["name": "label", "labelled": item], in: context)
      item.setValue(NSOrderedSet(array: [tag]), forKey: "picks")
      for key in ["p", "q"] {
        _ = try daemon.site.insert("Part", ["key": key, "item": item], in: context)
      }
    }
    try await daemon.engine.wait(timeout: .patience)
    try await sql("local", "DELETE FROM ZITEM WHERE ZKEY = 'k'")
    #expect(try damage().contains { $0.contains("parent leads to") })
    let plan = try await daemon.engine.repairLocal(isPlan: true)
    #expect(plan.actions.map(\.difference.kind) == [.vanished, .orphaned, .orphaned])
    #expect(plan.actions.allSatisfy { $0.kind == .deleted })
    #expect(try await daemon.engine.repairLocal().actions == plan.actions)
    #expect(try damage() == [])
    #expect(
      try daemon.site.picture() == [
        "item l l nil ^- []", "item m m nil ^- []", "tag label nil", "tag t nil",
      ])
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 4, "\(report)")
    await daemon.engine.stop()
  }

  /// Of a store that was never synchronised its own sums tell what is gone.
  @Test func aStoreWithoutSyncFollowsTheDeleteRulesToo() async throws {
    let scratch = try Scratch()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(), storeKinds: [SQLiteStoreKind()])
    let url = scratch.url.appendingPathComponent("alone.sqlite")
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: url,
      options: [StoreOptionKey.historyTracking: true, StoreOptionKey.rowChecksums: true])
    let schema = try SyncSchema(
      model: coordinator.managedObjectModel, defaultPolicy: .lastWriter, policies: [:])
    let access = StoreAccess(
      store: store, schema: schema, environment: .live, configuration: SyncConfiguration())
    let site = Fleet.Site(name: "alone", access: access, coordinator: coordinator)
    try site.write { context in
      let item = try site.insert("Item", ["key": "k"], in: context)
      _ = try site.insert("Item", ["key": "l", "parent": item], in: context)
      _ = try site.insert("Part", ["key": "p", "item": item], in: context)
    }
    let file = try DatabaseQueue(patient: url.path)
    try await file.write { try $0.execute(sql: "DELETE FROM ZITEM WHERE ZKEY = 'k'") }
    try file.close()
    let repair = LocalRepair(access: access, coordinator: coordinator)
    #expect(try repair.run(isPlan: false).actions.count == 2)
    #expect(try store.capabilities.integrity?.verifyIntegrity() == [])
    #expect(try site.picture() == ["item l nil nil ^- []"])
    try coordinator.remove(store)
    await daemon.engine.stop()
  }

  /// That a reference leads nowhere any more is no write: it does not bring back what another store deleted.
  @Test func aReferenceThatARepairClearsBringsNoDeletedRecordBack() async throws {
    try daemon.site.write { context in
      let item = try daemon.site.find("Item", "k", in: context)
      try daemon.site.find("Item", "l", in: context)?.setValue(item, forKey: "parent")
    }
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.engine.rest()
    let open = try #require(try daemon.engine.openStore(ofReplica: "nas"))
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = open.coordinator
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.predicate = ObjectPredicate(format: "key == 'l'")
      request.affectedStores = [open.store]
      try context.fetch(request).forEach(context.delete)
      try context.save()
    }
    try await sql("local", "DELETE FROM ZITEM WHERE ZKEY = 'k'")
    _ = try await daemon.engine.repairLocal()
    try daemon.engine.resume()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.site.picture() == ["item m m nil ^- []", "tag t nil"])
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    await daemon.engine.stop()
  }

  /// No program could have deleted it: a repair with a replica makes it again.
  @Test func aRowWhoseDeleteTheModelDeniesIsNotTakenForDeleted() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon(
      "local", in: scratch, model: SampleModel.make(denies: true))
    try daemon.insert(["full", "empty"])
    try daemon.site.write { context in
      let item = try daemon.site.find("Item", "full", in: context) as Any
      _ = try daemon.site.insert("Part", ["key": "p", "item": item], in: context)
    }
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
    let file = try DatabaseQueue(patient: scratch.url.appendingPathComponent("local.sqlite").path)
    try await file.write { try $0.execute(sql: "DELETE FROM ZITEM") }
    try file.close()
    #expect(try await daemon.engine.repairLocal().actions.count == 1)
    let report = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(report.actions.map(\.kind).contains(.restored))
    #expect(try daemon.site.picture().first == "item full full nil ^- []")
    await daemon.engine.stop()
  }

  @Test func linksThatSqlTookAwayAreTakenForRemoved() async throws {
    let file = try DatabaseQueue(patient: scratch.url.appendingPathComponent("nas.sqlite").path)
    let table = try await file.read { database in
      try String.fetchOne(
        database, sql: "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*TAGS'")
        ?? String.fetchOne(
          database, sql: "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*ITEMS'")
    }
    try file.close()
    try await sql("nas", "DELETE FROM \(try #require(table))")
    #expect(try await repair() == [.members])
    #expect(try daemon.site.picture().contains("item k k nil ^- []"))
    await daemon.engine.stop()
  }

  @Test func bookkeepingThatWentAstrayIsMergedByTheRules() async throws {
    // The replica forgets a write that the local store knows it has.
    try daemon.site.write { context in
      try daemon.site.find("Item", "m", in: context)?.setValue("newer", forKey: "value")
    }
    try await daemon.engine.wait(timeout: .patience)
    let open = try #require(try daemon.engine.openStore(ofReplica: "nas"))
    let access = StoreAccess(
      store: open.store, schema: daemon.site.access.schema,
      environment: .live, configuration: daemon.site.access.configuration)
    try await daemon.engine.rest()
    let ledger = try access.ledger()
    let sidecar = try #require(open.store.capabilities.sidecar)
    try sidecar.visitEntries(of: .records) { key, value in
      var entry = try ledger.entry(decoding: value)
      if entry.writes["value"] == nil { return }
      entry.writes["value"] = nil
      ledger.setRecordQuietly(try SyncKey.identity(RecordID.self, in: key), entry)
    }
    #expect(try access.commit(ledger))
    try daemon.engine.resume()
    try await sql("nas", "UPDATE ZITEM SET ZVALUE = 'older' WHERE ZKEY = 'm'")
    #expect(try await repair() == [.merged])
    #expect(try value("m") == "newer")
    await daemon.engine.stop()
  }

  @Test func equalStoresAreLeftAlone() async throws {
    let report = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(report.actions.isEmpty && report.remaining.isEmpty)
    await #expect(throws: SyncError.self) { try await daemon.engine.repair(name: "other") }
    await daemon.engine.stop()
  }
}
