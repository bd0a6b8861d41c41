import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import CairnTesting
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "In step means in step" and "Comparison": status, wait and verify claim
/// only what was read.
struct TruthTests {
  /// Inserts a row as a program with SQL of its own does.
  private func insertPastHistory(in replica: URL) async throws {
    let file = try DatabaseQueue(patient: replica.path)
    try await file.write { database in
      try database.execute(
        sql: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZKEY) SELECT 77, Z_ENT, 1, 'x' FROM ZITEM")
    }
    try file.close()
  }

  @Test func aRowThatSyncDoesNotKnowIsADifference() async throws {
    let scratch = try Scratch()
    let (daemon, replica) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    try await insertPastHistory(in: replica)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.map(\.kind) == [.unknownReplica])
    #expect(report.differences.first?.entity == "Item")
    #expect(report.differences.first?.row?.hasSuffix("/Item/p77") == true)
    await daemon.engine.stop()
  }

  @Test func whatAVerifyFoundIsInTheStatusUntilOneThatReadsAsMuchFindsNothing() async throws {
    let scratch = try Scratch()
    let (daemon, replica) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    func known() throws -> KnownDifferences? { try daemon.engine.status().replicas[0].differences }
    #expect(try known() == nil)
    let file = try DatabaseQueue(patient: replica.path)
    try await file.write { try $0.execute(sql: "UPDATE ZITEM SET ZVALUE = 'past history'") }
    try file.close()
    // Nothing tells a pass of it.
    try await daemon.engine.wait(timeout: .patience)
    #expect(try known() == nil)
    _ = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(try known()?.count == 1 && known()?.level == .full)
    #expect(try await daemon.engine.verify(name: "nas", level: .quick, timeout: .patience).isEqual)
    #expect(try known()?.count == 1, "the digests do not tell")
    _ = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(try known() == nil)
    await daemon.engine.stop()
  }

  @Test func whatAVerifyFoundIsKnownAfterARestartAndNoWaitCallsItInStep() async throws {
    let scratch = try Scratch()
    let (daemon, replica) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    try await insertPastHistory(in: replica)
    _ = try await daemon.engine.verify(name: "nas", timeout: .patience)
    let known = try #require(try daemon.engine.status().replicas[0].differences)
    #expect(known.count == 1)
    try await daemon.close()
    let next = try SyncEngineTests.Daemon("local", in: scratch)
    try next.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    let error = await #expect(throws: SyncError.self) {
      try await next.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .recordsHeld)
    #expect(error?.message.contains("1 difference that a comparison has found") == true)
    #expect(try next.engine.status().replicas[0].differences == known)
    // Once the row is gone, and a comparison has seen that, the two are in step.
    try await DatabaseQueue(patient: replica.path).write {
      try $0.execute(sql: "DELETE FROM ZITEM WHERE Z_PK = 77")
    }
    #expect(try await next.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await next.engine.wait(timeout: .patience)
    try await next.close()
    let last = try SyncEngineTests.Daemon("local", in: scratch)
    try last.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    try await last.engine.wait(timeout: .patience)
    try await last.close()
  }

  @Test func whatWasFoundWhileARecordWaitedIsOverOnceNoneWaits() async throws {
    let scratch = try Scratch()
    let (daemon, replica) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    try LaxProgram.exceed("k", in: replica)
    let found = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(found.differences.map(\.kind) == [.value])
    let known = try #require(try daemon.engine.status().replicas[0].differences)
    #expect(known.lasting == 0 && known.areOfHeld)
    #expect(try KnownDifferences(decoding: known.encoded) == known)
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    #expect(try daemon.engine.status().replicas[0].differences == known)
    try daemon.site.write { try daemon.set("k", "value", "short", in: $0) }
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.engine.status().replicas[0].differences == nil)
    let store = try #require(try daemon.engine.link("nas").replica?.ledger().storeID)
    #expect(try daemon.site.access.knownDifferences(with: store) == nil)
    try await daemon.close()
  }

  /// Nothing tells the daemon of it: its wait looks again, though not each time where that takes long.
  @Test func whatAnotherDaemonHasRepairedEndsNoWait() async throws {
    let scratch = try Scratch()
    let (daemon, replica) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try other.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    try await other.engine.wait(timeout: .patience)
    try await insertPastHistory(in: replica)
    let found = try await other.engine.verify(name: "nas", timeout: .patience)
    #expect(found.differences.map(\.kind) == [.unknownReplica])
    await #expect(throws: SyncError.self) { try await other.engine.wait(timeout: .patience) }
    let repaired = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(repaired.actions.map(\.kind) == [.takenUp] && repaired.remaining.isEmpty)
    let deadline = ContinuousClock.now + .patience
    var isInStep = false
    while !isInStep, ContinuousClock.now < deadline {
      isInStep = (try? await other.engine.wait(timeout: .patience)) != nil
    }
    #expect(isInStep)
    #expect(try other.engine.status().replicas[0].differences == nil)
    #expect(try other.site.picture() == daemon.site.picture())
    try await daemon.close()
    try await other.close()
  }

  @Test(arguments: SyncDirection.allCases)
  func whatNoPassMendsFollowsFromTheKindAndFromWhereTheLinkGoes(direction: SyncDirection) {
    func difference(_ kind: StoreDifference.Kind, ofOneWrite: Bool = false) -> StoreDifference {
      StoreDifference(
        kind: kind, record: nil, entity: "Item",
        values: .init(local: nil, replica: nil, areOfOneWrite: ofOneWrite))
    }
    let (pushes, pulls) = (direction.pushes, direction.pulls)
    for isComplete in [true, false] {
      func isLasting(_ difference: StoreDifference) -> Bool {
        difference.isLasting(direction, isComplete: isComplete)
      }
      #expect(isLasting(difference(.unknownLocal)) == pushes)
      #expect(isLasting(difference(.unknownReplica)) == pulls)
      #expect(isLasting(difference(.value, ofOneWrite: true)))
      #expect(!isLasting(difference(.stamp)), "both stores show the same")
      // What waits in quarantine may be missing for a while.
      for kind in [StoreDifference.Kind.onlyLocal, .onlyReplica, .members, .value] {
        #expect(isLasting(difference(kind)) == isComplete)
      }
    }
  }

  @Test func aSaveUnderSyncsOwnAuthorNameTravelsAsAnyOther() async throws {
    let scratch = try Scratch()
    let (daemon, _) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = daemon.site.coordinator
    context.transactionAuthor = SyncConfiguration.author
    try await context.perform {
      _ = try daemon.site.insert("Item", ["key": "mine"], in: context)
      try context.save()
    }
    #expect(try daemon.engine.status().replicas.first?.lagTransactions == 1)
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 2)
    await daemon.engine.stop()
  }

  /// A store that nobody writes to for days is in step all the while.
  @Test func theLagIsTheAgeOfWhatWaitsAndNotOfTheLastPass() async throws {
    let scratch = try Scratch()
    let hour = 3_600_000
    let ahead = Mutex(-hour)
    var environment = SyncEnvironment.live
    let now = environment.now
    environment.now = { UInt64(Int(now()) + ahead.withLock { $0 }) }
    let daemon = try SyncEngineTests.Daemon("local", in: scratch, environment: environment)
    _ = try await daemon.addReplica(in: scratch, with: ["k"])
    func lag() throws -> Double {
      let nas = try daemon.engine.status().replicas.first { $0.configuration.name == "nas" }
      #expect(nas?.lagTransactions ?? 0 > 0)
      return try #require(nas?.lagSeconds)
    }
    try daemon.engine.pause(names: ["nas"])
    ahead.withLock { $0 = 0 }
    try daemon.insert(["late"])
    #expect(try lag() < 600, "nothing has captured it yet")
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "usb", url: scratch.url.appendingPathComponent("usb.sqlite")))
    try await daemon.engine.wait(for: ["usb"], timeout: .patience)
    #expect(try lag() < 600)
    ahead.withLock { $0 = hour }
    try daemon.insert(["later"])
    try await daemon.engine.wait(for: ["usb"], timeout: .patience)
    #expect(try lag() >= 3600)
    try daemon.engine.resume()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.engine.status().replicas.allSatisfy { $0.lagSeconds == 0 })
    try daemon.engine.addReplica(
      ReplicaConfiguration(
        name: "read", url: scratch.url.appendingPathComponent("read.sqlite"), direction: .pull))
    let leftOut = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(for: ["read"], timeout: .patience)
    }
    #expect(leftOut?.code == .leftOut)
    let read = try daemon.engine.status().replicas.first { $0.configuration.name == "read" }
    #expect(read?.lagTransactions == nil && read?.lagSeconds == nil, "nothing is sent there")
    await daemon.engine.stop()
  }

  @Test func marksOfSyncsTransactionsGoWithTheirCapture() async throws {
    let scratch = try Scratch()
    let (daemon, _) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    for round in 0..<20 {
      try daemon.insert(["r\(round)"])
      try await daemon.engine.wait(timeout: .patience)
    }
    await daemon.engine.stop()
    for store in daemon.site.coordinator.persistentStores {
      guard let sidecar = store.capabilities.sidecar else { continue }
      let marks = try sidecar.sidecarEntries(
        of: SyncMap.own.rawValue, from: nil, to: nil, limit: 0)
      #expect(marks.count <= 2, "\(marks.count) marks")
    }
  }

  @Test func verifyDoesNotWaitForAReplicaThatIsAwayAndAWaitNamesThoseInTrouble() async throws {
    let scratch = try Scratch()
    let (daemon, _) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let folder = scratch.url.appendingPathComponent("unmounted")
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "away", url: folder.appendingPathComponent("away.sqlite")))
    let away = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "away", timeout: .patience)
    }
    #expect(away?.code == .storeUnavailable, "\(away?.message ?? "")")
    try await daemon.engine.removeReplica(named: "away")
    let text = scratch.url.appendingPathComponent("text")
    try Data("name,count\n".utf8).write(to: text)
    try daemon.engine.addReplica(ReplicaConfiguration(name: "bad", url: text))
    let troubled = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(troubled?.replicas == ["bad"] && troubled?.code == .notAStore)
    await daemon.engine.stop()
  }

  @Test func aWaitTellsWhatArrivedAndIsNotVisible() async throws {
    let scratch = try Scratch()
    let (daemon, _) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    // A value that the model forbids, past validation.
    try await Task { try daemon.breakRule(value: String(repeating: "x", count: 200)) }.value
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .recordsHeld)
    #expect(error?.message.contains("1 record in quarantine") == true, "\(error?.message ?? "")")
    let status = try #require(try daemon.engine.status().replicas.first)
    #expect(status.held.invalid == 1)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(!report.isEqual)
    try daemon.breakRule(value: "short")
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.engine.status().replicas.first?.held.count == 0)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    await daemon.engine.stop()
  }

  @Test func aReplicaInTroubleDelaysNoAnswerAboutAnother() async throws {
    let scratch = try Scratch()
    let (daemon, _) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let away = scratch.url.appendingPathComponent("letter.txt")
    try Data("Dear reader, this is no store.".utf8).write(to: away)
    try daemon.insert(["late"])
    try daemon.engine.addReplica(ReplicaConfiguration(name: "away", url: away))
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    // One fails at once; the other was waited for all the same.
    #expect(error?.code == .notAStore && error?.message.contains("nas") == false)
    let nas = try daemon.engine.status().replicas.first { $0.name == "nas" }
    #expect(nas?.lagTransactions == 0)
    await daemon.engine.stop()
  }

  /// Another program keeps the file locked: that is said, and not waited out.
  @Test func verifyOfAReplicaThatDoesNotGetOnEnds() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url, timeout: 0.2))
    try daemon.insert(["k"])
    try await daemon.engine.wait(timeout: .patience)
    let program = try DatabaseQueue(patient: url.path)
    try await program.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    try daemon.insert(["late"])
    let began = ContinuousClock.now
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .seconds(600))
    }
    #expect(error?.code == .storeLocked, "\(error?.message ?? "")")
    #expect(ContinuousClock.now - began < .seconds(120))
    try await program.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    try program.close()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    await daemon.engine.stop()
  }
}

extension SyncEngineTests.Daemon {
  /// Writes a value to the item `k` of the local store, whatever the model's rules say.
  func breakRule(value: String) throws {
    let request = BatchUpdateRequest(entityName: "Item")
    request.predicate = ObjectPredicate(format: "key == 'k'")
    request.propertiesToUpdate = ["value": value]
    request.affectedStores = [site.store]
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = site.coordinator
    _ = try context.performAndWait { try context.execute(request) }
  }
}
