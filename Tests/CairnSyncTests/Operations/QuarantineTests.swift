import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 9: `quarantine` and `held`, with `accept`.
struct QuarantineTests {
  private let scratch: Scratch
  init() throws { scratch = try Scratch() }

  /// Writes a value past the rules, which a batch request does not ask.
  private func breakRule(ofItem key: String, in daemon: SyncEngineTests.Daemon) throws {
    let request = BatchUpdateRequest(entityName: "Item")
    request.predicate = ObjectPredicate(format: "key == %@", key)
    request.propertiesToUpdate = ["value": String(repeating: "x", count: 200)]
    request.affectedStores = [daemon.site.store]
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = daemon.site.coordinator
    _ = try context.performAndWait { try context.execute(request) }
  }

  /// A daemon with an item `k`, whose replica refuses its value.
  private func refused(
    _ write: (SyncEngineTests.Daemon) async throws -> Void = {
      try $0.breakRule(value: String(repeating: "x", count: 200))
    }, denies: Bool = false, policy: DeleteConflictPolicy = .lastWriter,
    environment: SyncEnvironment = .live
  ) async throws -> SyncEngineTests.Daemon {
    let daemon = try SyncEngineTests.Daemon(
      "local", in: scratch, model: SampleModel.make(denies: denies), environment: environment,
      policy: policy)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try daemon.insert(["k"])
    try await daemon.engine.wait(timeout: .patience)
    try await write(daemon)
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    return daemon
  }

  private func nas(_ daemon: SyncEngineTests.Daemon) throws -> [String] {
    let open = try #require(try daemon.engine.openStore(ofReplica: "nas"))
    let access = StoreAccess(
      store: open.store, schema: daemon.site.access.schema,
      environment: daemon.site.access.environment,
      configuration: daemon.site.access.configuration)
    return try Fleet.Site(name: "nas", access: access, coordinator: open.coordinator).picture()
  }

  @Test func whatWaitsIsListedWithWhereWhatAndWhy() async throws {
    let daemon = try await refused()
    let page = try await daemon.engine.quarantine()
    let item = try #require(page.items.first)
    #expect(page.items.count == 1 && page.next == nil && page.away.isEmpty)
    #expect(item.store.name == "nas" && item.source.name == "local")
    #expect(item.reason == .validation && item.message.contains("too long"))
    #expect(item.record == (try daemon.record("Item", "k")) && item.entity == "Item")
    #expect(item.properties == ["value"] && !item.isDelete && item.ahead == nil)
    #expect(item.discardEffect == .keepsValues(["value"]))
    #expect(QuarantineID(item.id.description) == item.id)
    #expect(try await daemon.engine.quarantined(item.id) == item)
    #expect(try await daemon.engine.quarantine(reason: .clockSkew).items.isEmpty)
    #expect(try await daemon.engine.quarantine(in: ["local"]).items.isEmpty)
    try await daemon.close()
  }

  @Test func retryNowTellsWhatStillWaitsAndWhatDoesNot() async throws {
    let daemon = try await refused()
    let item = try #require(try await daemon.engine.quarantine().items.first)
    let first = try await daemon.engine.retryQuarantined([item.id])
    #expect(first.released == 0 && first.waiting.map(\.id) == [item.id])
    try daemon.breakRule(value: "short")
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.retryQuarantined().waiting.isEmpty)
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.retryQuarantined([item.id])
    }
    #expect(error?.code == .notQuarantined)
    try await daemon.close()
  }

  @Test func discardingKeepsTheStoresValueEverywhereAndTheOtherInTheJournal() async throws {
    let daemon = try await refused()
    let item = try #require(try await daemon.engine.quarantine().items.first)
    let lost = try await daemon.engine.discard(item.id, revision: item.revision)
    #expect(lost.map(\.property) == ["value"] && lost.map(\.rule) == [.discarded])
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.item("k", "value") == "k")
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    let again = await #expect(throws: SyncError.self) {
      try await daemon.engine.discard(item.id, revision: item.revision)
    }
    #expect(again?.code == .notQuarantined)
    let kept = try await daemon.engine.conflicts(matching: ConflictFilter(rules: [.discarded]))
    #expect(kept.conflicts.first?.conflict.losingValue == lost.first?.losingValue)
    try await daemon.close()
  }

  /// What replaces a discarded value counts as written by one who had seen it: no store that gets both notes it.
  @Test func whatAReplicaGivesUpIsInTheLocalJournalTooAndOutlivesTheReplica() async throws {
    let daemon = try await refused()
    let item = try #require(try await daemon.engine.quarantine().items.first)
    let lost = try await daemon.engine.discard(item.id, revision: item.revision)
    let discarded = ConflictFilter(rules: [.discarded])
    let both = try await daemon.engine.conflicts(matching: discarded).conflicts
    #expect(both.map { $0.journals.map(\.text) } == [["local", "nas"]], "one entry in both")
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.engine.removeReplica(named: "nas")
    let kept = try await daemon.engine.conflicts(matching: discarded).conflicts
    #expect(kept.map(\.conflict) == lost)
    try await daemon.close()
  }

  @Test func discardingNeedsTheRevisionThatWasLookedAt() async throws {
    let daemon = try await refused()
    let item = try #require(try await daemon.engine.quarantine().items.first)
    try daemon.breakRule(value: String(repeating: "y", count: 300))
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.discard(item.id, revision: item.revision)
    }
    #expect(error?.code == .planChanged)
    try await daemon.close()
  }

  @Test func discardingARecordThatTheStoreDoesNotHaveDeletesItAndRestoreBringsItBack() async throws
  {
    let daemon = try await refused { daemon in
      try await daemon.engine.rest()
      try daemon.insert(["bad"])
      try breakRule(ofItem: "bad", in: daemon)
      try daemon.engine.resume()
    }
    let item = try #require(try await daemon.engine.quarantine().items.first)
    #expect(item.discardEffect == .deletesRecord)
    #expect(try await daemon.engine.discard(item.id, revision: item.revision).count >= 2)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.site.picture() == ["item k k nil ^- []"])
    #expect(try nas(daemon) == daemon.site.picture())
    let key = try #require(
      try await daemon.engine.conflicts(
        matching: ConflictFilter(record: item.record, property: "key")
      ).conflicts.first)
    // The value that the rules refuse is what is known of the record.
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.restore(key.id)
    }
    #expect(error?.code == .invalidRecord && error?.message.contains("Item.value") == true)
    try await daemon.close()
  }

  /// Also in the store where the discarded record never was, and what refers to it is.
  @Test func whatGoesAlongWithADiscardedRecordGoesInAllStores() async throws {
    let daemon = try await refused { daemon in
      try await daemon.engine.rest()
      try daemon.site.write { context in
        let item = try daemon.site.insert("Item", ["key": "bad"], in: context)
        _ = try daemon.site.insert("Part", ["key": "p", "item": item], in: context)
      }
      try breakRule(ofItem: "bad", in: daemon)
      try daemon.engine.resume()
    }
    #expect(try nas(daemon) == ["item k k nil ^- []", "part p of - at -1"])
    let item = try #require(try await daemon.engine.quarantine().items.first)
    #expect(item.discardEffect == .deletesRecord)
    _ = try await daemon.engine.discard(item.id, revision: item.revision)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.quarantine().items.isEmpty)
    #expect(try daemon.site.picture() == ["item k k nil ^- []"])
    #expect(try nas(daemon) == daemon.site.picture())
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await daemon.close()
  }

  private func addPart(_ key: String, to item: String, in daemon: SyncEngineTests.Daemon) throws {
    try daemon.site.write { context in
      let owner = try daemon.site.find("Item", item, in: context) as Any
      _ = try daemon.site.insert("Part", ["key": key, "item": owner], in: context)
    }
  }

  /// Runs a program whose model lacks the rule on the local store: others cannot save near what breaks it.
  private func withoutRule(_ work: (ManagedObjectContext) throws -> Void) throws {
    try LaxProgram.write(
      to: scratch.url.appendingPathComponent("local.sqlite"), denies: true, work)
  }

  private func deleteParts() throws {
    try withoutRule { context in
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Part")).forEach(context.delete)
    }
  }

  /// Its delete would be denied, so that it came in once more to be refused once more, for good.
  @Test(arguments: [DeleteConflictPolicy.lastWriter, .deleteWins])
  func aRecordThatCannotBeDeletedIsDiscardedOnceNothingIsInTheWay(
    policy: DeleteConflictPolicy
  ) async throws {
    let write = { (daemon: SyncEngineTests.Daemon) async throws in
      try await daemon.engine.rest()
      try daemon.insert(["bad"])
      try addPart("p", to: "bad", in: daemon)
      try breakRule(ofItem: "bad", in: daemon)
      try daemon.engine.resume()
    }
    let daemon = try await refused(write, denies: true, policy: policy)
    var item = try #require(try await daemon.engine.quarantine().items.first)
    guard case .impossible(let why) = item.discardEffect else {
      Issue.record("\(item.discardEffect)")
      return
    }
    #expect(why.contains("parts is not empty, but has Part \(try daemon.record("Part", "p"));"))
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.discard(item.id, revision: item.revision)
    }
    #expect(error?.code == .notAllowed)
    try deleteParts()
    // The part is gone there, too, while the item is still refused.
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    item = try #require(try await daemon.engine.quarantine().items.first)
    #expect(item.discardEffect == .deletesRecord)
    _ = try await daemon.engine.discard(item.id, revision: item.revision)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.site.picture() == ["item k k nil ^- []"])
    #expect(try nas(daemon) == daemon.site.picture())
    #expect(try await daemon.engine.quarantine().items.isEmpty)
    try await daemon.close()
  }

  /// A daemon whose replica keeps `k` because its delete is denied, and refuses a value of it.
  private func refusedAndKept(
    environment: SyncEnvironment = .live
  ) async throws -> SyncEngineTests.Daemon {
    let write = { (daemon: SyncEngineTests.Daemon) async throws in
      try await daemon.engine.rest()
      let open = try #require(try daemon.engine.openStore(ofReplica: "nas"))
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = open.coordinator
      try context.performAndWait {
        let request = FetchRequest<ManagedObject>(entityName: "Item")
        request.affectedStores = [open.store]
        try context.fetch(request).forEach(context.delete)
        try context.save()
      }
      try addPart("p", to: "k", in: daemon)
      try daemon.engine.resume()
      // The delete waits in both.
      await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
      #expect(try nas(daemon) == ["item k k nil ^- []", "part p of k at 0"])
      try breakRule(ofItem: "k", in: daemon)
    }
    return try await refused(
      write, denies: true, policy: .deleteWins, environment: environment)
  }

  private func refusedValue(
    in daemon: SyncEngineTests.Daemon
  ) async throws -> QuarantinedItem? {
    try await daemon.engine.quarantine(in: ["nas"]).items.first {
      $0.entry.state?.registers["value"] != nil
    }
  }

  @Test func aValueIsDiscardedWithoutTheDeleteThatIsDenied() async throws {
    let daemon = try await refusedAndKept()
    let item = try #require(try await refusedValue(in: daemon))
    #expect(item.discardEffect == .keepsValues(["value"]))
    _ = try await daemon.engine.discard(item.id, revision: item.revision)
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    #expect(try daemon.site.picture() == ["item k k nil ^- []", "part p of k at 0"])
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    try daemon.site.write { context in
      try daemon.site.find("Part", "p", in: context).map(context.delete)
    }
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.site.picture() == [] && nas(daemon) == [])
    try await daemon.close()
  }

  /// What denies the delete arrives without the record, whose place in quarantine the delete has, too.
  @Test func aValueThatWaitsIsNotForgottenWhenADeleteIsDeniedOnceMore() async throws {
    let daemon = try await refusedAndKept()
    let before = try #require(try await refusedValue(in: daemon))
    try withoutRule { context in
      let model = context.persistentStoreCoordinator?.managedObjectModel
      let entity = try #require(model?.entitiesByName["Part"])
      let part = ManagedObject(entity: entity, insertInto: context)
      part.setValue("q", forKey: "key")
      let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
      part.setValue(items.first, forKey: "item")
    }
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    #expect(try nas(daemon).contains("part q of k at 1"))
    #expect(try await refusedValue(in: daemon)?.properties == before.properties)
    // And where nothing denies it any more, the record goes with all that waits.
    try deleteParts()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.site.picture() == [] && nas(daemon) == [])
    #expect(try await daemon.engine.quarantine().items.isEmpty)
    try await daemon.close()
  }

  /// A pass tries what waits before it brings the deletes that let it go; the next one lets it go.
  @Test func aWaitLooksOnceMoreWhereSomethingArrivedAndSomethingWaits() async throws {
    // The link is held up before it rests: its next pass begins after the wait.
    let gate = RestGate()
    let daemon = try await refusedAndKept(environment: gate.environment)
    #expect(await gate.close())
    try deleteParts()
    let requested = try daemon.engine.link("nas").life.requested
    async let wait: Void = daemon.engine.wait(timeout: .patience)
    #expect(
      try await eventually { try daemon.engine.link("nas").life.requested > requested })
    gate.open()
    try await wait
    #expect(try daemon.site.picture() == [] && nas(daemon) == [])
    try await daemon.close()
  }

  @Test func aLongListComesInPages() async throws {
    let daemon = try await refused()
    let ledger = try daemon.site.access.ledger()
    for number in 0..<1203 {
      let id = RecordID(high: 3, low: UInt64(number))
      let entry = QuarantineEntry(
        reason: .validation, message: "odd/ñame", source: StoreID(high: 1, low: 1), since: 1,
        content: .record(RecordState(id: id, entity: "Unknown")))
      ledger.put(SyncKey.quarantine(id), entry.encoded)
    }
    ledger.put(SyncMap.quarantine.key(Data([1, 2])), Data([7]))
    #expect(try daemon.site.access.commit(ledger))
    var seen: [QuarantineID] = []
    var after: QuarantineID?
    var damaged = 0
    repeat {
      let page = try await daemon.engine.quarantine(after: after, limit: 200)
      seen += page.items.map(\.id)
      damaged += page.damaged
      after = page.next
    } while after != nil
    #expect(seen.count == 1204 && Set(seen).count == 1204 && damaged == 1)
    try await daemon.close()
  }

  @Test(arguments: ["", "nas", "/", "nas/", "/00000000-0000-0000-0000-000000000000", "nas/x"])
  func anIDThatIsNoneIsRefused(text: String) {
    #expect(QuarantineID(text) == nil)
  }

  @Test func whatWaitsForTimeIsAcceptedByRecordAloneOrByStore() throws {
    let fleet = Fleet(seed: 31)
    let ahead = try fleet.add("ahead", skew: 3_600_000)
    let local = try fleet.add("local")
    for key in ["a", "b"] {
      try ahead.write { _ = try ahead.insert("Item", ["key": key], in: $0) }
    }
    try HistoryCapture(access: ahead.access).run()
    try fleet.pass(local, ahead)
    #expect(try local.picture().isEmpty && local.access.held().ahead == 2)
    let states = try ReplicationTests().quarantine(local).compactMap(\.state)
    let first = try #require(
      states.first { $0.registers["key"]?.value == .string("b") })
    let alone = try local.access.held(.record(first.id))
    #expect(alone.count == 1)
    try local.access.accept(alone.stamps, isExact: true)
    try fleet.pass(local, ahead)
    #expect(try local.picture() == ["item b nil nil ^- []"])
    let other = try local.access.held(.store(StoreID(high: 9, low: 9)))
    #expect(other.count == 0)
    let rest = try local.access.held(.store(try ahead.access.ledger().storeID))
    #expect(rest.count == 1)
    try local.access.accept(rest.stamps, isExact: false)
    try fleet.pass(local, ahead)
    #expect(try local.picture() == ahead.picture())
  }
}
