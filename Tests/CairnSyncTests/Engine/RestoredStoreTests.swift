import CairnCoordinator
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "Identity before exchange": a store that went back in time begins a new
/// incarnation, and nothing that either side has is lost.
struct RestoredStoreTests {
  private let scratch: Scratch
  private let replica: URL

  init() throws {
    scratch = try Scratch()
    replica = scratch.url.appendingPathComponent("nas.sqlite")
  }

  private func copy(_ name: String, to other: String) throws {
    let manager = FileManager.default
    for suffix in ["", "-wal", "-shm"] {
      let from = scratch.url.appendingPathComponent(name + ".sqlite" + suffix).path
      let to = scratch.url.appendingPathComponent(other + ".sqlite" + suffix).path
      if manager.fileExists(atPath: to) { try manager.removeItem(atPath: to) }
      if manager.fileExists(atPath: from) { try manager.copyItem(atPath: from, toPath: to) }
    }
  }

  /// Runs a daemon over the local store until both are in step.
  private func sync(
    inserting keys: [String] = [],
    _ check: (SyncEngineTests.Daemon) async throws -> Void = { _ in }
  ) async throws {
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    if !keys.isEmpty { try daemon.insert(keys) }
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    try await daemon.engine.wait(timeout: .patience)
    try await check(daemon)
    try await daemon.close()
  }

  /// Writes as a program beside the daemon does.
  private func write(_ keys: [String], to name: String) async throws {
    let program = try SyncEngineTests.Daemon(name, in: scratch)
    try program.insert(keys)
    try await program.close()
  }

  private func expectAll(_ count: Int) async throws {
    try await sync { daemon in
      let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
      #expect(report.isEqual && report.records == count, "\(report)")
      let keys = try daemon.site.picture()
      #expect(keys.count == count && Set(keys).count == count, "\(keys)")
    }
  }

  @Test(arguments: ["nas", "local"])
  func nothingIsLostWhenAStoreComesBackFromABackup(restored: String) async throws {
    try await sync(inserting: (0..<5).map { "first \($0)" })
    try copy(restored, to: "backup")
    try await write((0..<7).map { "at the replica \($0)" }, to: "nas")
    try await sync(inserting: (0..<6).map { "at the local store \($0)" })
    try copy("backup", to: restored)
    // As many and more than were lost, so that the numbers of both lives meet.
    try await write((0..<10).map { "since \($0)" }, to: restored)
    try await sync(inserting: ["last"])
    try await expectAll(5 + 7 + 6 + 10 + 1)
  }

  /// The pass has taken what a store wrote itself, and leaves that out of what it gives it, when the store is restored
  /// from a backup that no set but that one would tell from what it was.
  @Test(arguments: [true, false])
  func aStoreThatIsRestoredInTheMiddleOfAPassGetsBackWhatItHadWritten(isReplica: Bool) throws {
    let fleet = Fleet(seed: 3, directory: scratch.url)
    let (local, nas) = (try fleet.add("local"), try fleet.add("nas"))
    let (restored, other) = isReplica ? (nas, local) : (local, nas)
    func insert(_ key: String, _ site: Fleet.Site) throws {
      try site.write { _ = try site.insert("Item", ["key": key], in: $0) }
    }
    let file = try #require(restored.store.url)
    let backup = scratch.url.appendingPathComponent("backup.sqlite")
    @Sendable func copy(_ from: URL, to: URL) throws {
      try PersistentStoreCoordinator(
        managedObjectModel: SampleModel.make(), storeKinds: [SQLiteStoreKind()]
      ).replacePersistentStore(
        at: to, withPersistentStoreFrom: from, ofType: StoreTypeName.sqlite)
    }
    try insert("first", local)
    _ = try fleet.settle([(local, nas)])
    try copy(file, to: backup)
    try insert("written before it is restored", restored)
    // The replica has sent it before, in the same pass.
    if !isReplica { try fleet.pass(local, nas, direction: .push) }
    try insert("sent meanwhile", other)
    fleet.interrupt(restored, at: .beforeImport) { try copy(backup, to: file) }
    #expect(throws: SyncError.self) {
      try fleet.pass(local, nas, direction: isReplica ? .both : .pull)
    }
    #expect(fleet.wasInterrupted)
    _ = try fleet.settle([(local, nas)])
    #expect(try local.picture().count == 3)
    #expect(try local.picture() == nas.picture())
  }

  @Test(arguments: ["nas", "local"])
  func aDeletedRecordStaysDeletedWhenAStoreComesBackWithIt(restored: String) async throws {
    try await sync(inserting: ["stays", "goes"])
    try copy(restored, to: "backup")
    try await sync { daemon in
      try daemon.site.write { context in
        try daemon.site.find("Item", "goes", in: context).map(context.delete)
      }
      try await daemon.engine.wait(timeout: .patience)
    }
    try copy("backup", to: restored)
    try await expectAll(1)
  }

  /// Specification: sync.md 5, "A replica away longer than the retention": a backup is as old as that when
  /// what it had was deleted and forgotten since.
  ///
  /// - Parameter losesHistory: Whether a program has purged what was written after the backup was put back, before sync
  ///   has read it: what the store missed is brought to it first.
  @Test(arguments: ["nas", "local"], [false, true])
  func aDeletedRecordStaysDeletedWhenABackupFromBeforeAPurgeHasIt(
    restored: String, losesHistory: Bool
  ) async throws {
    func purge(_ daemon: SyncEngineTests.Daemon) async throws {
      for _ in 0..<2 {
        try await daemon.engine.wait(timeout: .patience)
        _ = try await daemon.engine.purge(olderThan: .zero)
      }
    }
    try await write(["theirs"], to: "nas")
    try await sync(inserting: ["stays", "goes"], purge)
    try copy(restored, to: "backup")
    try await sync { daemon in
      try daemon.site.write { context in
        for key in ["goes", "theirs"] {
          try daemon.site.find("Item", key, in: context).map(context.delete)
        }
      }
      try await purge(daemon)
      try daemon.insert(["later"])
      try await purge(daemon)
      #expect(try daemon.site.entries(.records) == 2)
    }
    try copy("backup", to: restored)
    try await write(["since"], to: restored)
    if losesHistory {
      let program = try SyncEngineTests.Daemon(restored, in: scratch)
      try program.insert(["since, too"])
      let history = try #require(program.site.store.capabilities.history)
      let last = try history.lastTransactionNumber()
      #expect(try history.purgeHistory(before: last, date: nil) > 0)
      try await program.close()
    }
    let count = losesHistory ? 4 : 3
    try await sync { daemon in
      let keys = try daemon.site.picture().map { $0.split(separator: " ")[1] }
      #expect(Set(keys).isSuperset(of: ["later", "since", "stays"]) && keys.count == count)
      let other = restored == "local" ? "nas" : "local"
      let nas = try #require(try daemon.engine.link("nas").replica)
      let access = other == "local" ? daemon.site.access : nas
      #expect(try access.ledger().head.incarnation == nil, "\(other) was not restored")
    }
    try await expectAll(count)
  }

  /// A store that takes nothing back is no reader, so that nothing waits for it before a delete is forgotten; in its
  /// new life it sends all that it has.
  @Test func whatWasDeletedHereComesNotBackWithAReplicaThatOnlySendsAndIsRestored() async throws {
    func pull(_ work: (SyncEngineTests.Daemon) throws -> Void = { _ in }) async throws {
      let daemon = try SyncEngineTests.Daemon("local", in: scratch)
      try work(daemon)
      try daemon.engine.addReplica(
        ReplicaConfiguration(name: "nas", url: replica, direction: .pull))
      for _ in 0..<2 {
        do {
          try await daemon.engine.wait(timeout: .patience)
        } catch let error as SyncError where error.code == .leftOut {}
        _ = try await daemon.engine.purge(olderThan: .zero)
      }
      try await daemon.close()
    }
    try await write(["stays", "goes"], to: "nas")
    for _ in 0..<2 { try await pull() }
    try copy("nas", to: "backup")
    try await write(["lost"], to: "nas")
    try await pull { daemon in
      try daemon.site.write { context in
        try daemon.site.find("Item", "goes", in: context).map(context.delete)
      }
    }
    try await pull()
    try copy("backup", to: "nas")
    try await write(["since"], to: "nas")
    try await pull()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let keys = try daemon.site.picture().map { $0.split(separator: " ")[1] }
    #expect(keys == ["lost", "since", "stays"])
    try await daemon.close()
  }

  /// Two daemons on a hub that is restored: the second meets it under its new identity.
  @Test func aHubFromBeforeAPurgeBringsNothingBackForAnyOfItsDaemons() async throws {
    func sync(_ name: String, _ work: (SyncEngineTests.Daemon) throws -> Void = { _ in })
      async throws
    {
      let daemon = try SyncEngineTests.Daemon(name, in: scratch)
      try work(daemon)
      try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
      for _ in 0..<2 {
        try await daemon.engine.wait(timeout: .patience)
        _ = try await daemon.engine.purge(olderThan: .zero)
      }
      try await daemon.close()
    }
    try await sync("a") { try $0.insert(["of a", "stays"]) }
    try await sync("b") { try $0.insert(["of b"]) }
    try await sync("a")
    try copy("nas", to: "backup")
    try await sync("a") { daemon in
      try daemon.site.write { context in
        for key in ["of a", "of b"] {
          try daemon.site.find("Item", key, in: context).map(context.delete)
        }
      }
    }
    for name in ["b", "a", "b", "a"] { try await sync(name) { try $0.insert(["later \(name)"]) } }
    try copy("backup", to: "nas")
    for name in ["a", "b", "a", "b"] { try await sync(name) }
    for name in ["a", "b"] {
      let daemon = try SyncEngineTests.Daemon(name, in: scratch)
      #expect(try !daemon.site.picture().contains { $0.contains("of") }, "\(name)")
      #expect(try daemon.site.picture().count == 5)
      #expect(try daemon.site.access.ledger().head.incarnation == nil)
      try await daemon.close()
    }
  }

  @Test func rowsOfABackupFromBeforeSyncAreNoSecondRecords() async throws {
    try await write(["a", "b"], to: "nas")
    try copy("nas", to: "backup")
    try await sync(inserting: ["c"])
    try copy("backup", to: "nas")
    try await expectAll(3)
  }

  /// A program purges what tells of the rows, before or after the backup.
  @Test(arguments: ["nas", "local"], [true, false])
  func rowsOfABackupWhoseHistoryIsPurgedAreNoSecondRecords(
    restored: String, isPurgedFirst: Bool
  ) async throws {
    func purge() async throws {
      let program = try SyncEngineTests.Daemon(restored, in: scratch)
      let history = try #require(program.site.store.capabilities.history)
      #expect(try history.purgeHistory(before: .max, date: nil) > 0)
      try await program.close()
    }
    try await write(["a", "b"], to: restored)
    try copy(restored, to: "backup")
    if isPurgedFirst { try await purge() }
    try await sync(inserting: ["c"])
    try copy("backup", to: restored)
    if !isPurgedFirst { try await purge() }
    try await expectAll(3)
  }

  /// What comes after a backup gets the keys that the lost rows had.
  @Test func rowsWithTheKeysOfLostOnesAreRecordsOfTheirOwnAlsoWhenHistoryIsPurged() async throws {
    try await write(["a"], to: "nas")
    try copy("nas", to: "backup")
    try await write(["b"], to: "nas")
    try await sync(inserting: ["c"])
    try copy("backup", to: "nas")
    let program = try SyncEngineTests.Daemon("nas", in: scratch)
    try program.insert(["d"])
    _ = try #require(program.site.store.capabilities.history)
      .purgeHistory(before: .max, date: nil)
    try await program.close()
    try await expectAll(4)
  }

  @Test func aStoreThatGoesOnKeepsItsIdentity() async throws {
    try await sync(inserting: ["a"])
    try await write(["b"], to: "nas")
    try await sync(inserting: ["c"]) { daemon throws in
      #expect(try daemon.site.access.ledger().head.incarnation == nil)
      #expect(try daemon.engine.status().replicas.first?.counters.recordsPulled == 1)
    }
  }

  @Test func whatABackupBringsBackIsToldOf() async throws {
    try await sync(inserting: ["a"])
    try copy("nas", to: "backup")
    try await sync(inserting: ["b"])
    try await write(["c"], to: "nas")
    try await sync()
    try copy("backup", to: "nas")
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let events = daemon.engine.events()
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.close()
    var paths: [String] = []
    for await event in events {
      if case .restored(_, let path) = event { paths.append(path) }
    }
    #expect(paths == [replica.path])
  }

  /// What waits came from a store that does not have it any more: nothing but an operator ends the waiting.
  @Test func whatWaitsOfAFormerLifeIsCountedAndCanBeDiscarded() async throws {
    func daemon(_ name: String) throws -> SyncEngineTests.Daemon {
      try SyncEngineTests.Daemon(name, in: scratch, model: SampleModel.make(denies: true))
    }
    func meet(_ check: (SyncEngineTests.Daemon) async throws -> Void) async throws {
      let local = try daemon("local")
      try local.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
      try await check(local)
      try await local.close()
    }
    func expectOneHeld(_ local: SyncEngineTests.Daemon) async throws {
      let error = await #expect(throws: SyncError.self) {
        try await local.engine.wait(timeout: .patience)
      }
      #expect(error?.code == .recordsHeld)
      #expect(error?.message.contains("1 record in quarantine") == true, "\(error?.message ?? "")")
    }
    try await meet { try await $0.engine.wait(timeout: .patience) }
    try copy("nas", to: "backup")
    // It never refuses what its own programs write past the rules.
    let nas = try daemon("nas")
    try nas.insert(["k"])
    try nas.site.write { context in
      let item = try nas.site.find("Item", "k", in: context) as Any
      _ = try nas.site.insert("Part", ["key": "p", "item": item], in: context)
    }
    try nas.breakRule(value: String(repeating: "x", count: 200))
    try await nas.close()
    try await meet(expectOneHeld)
    try copy("backup", to: "nas")
    try await meet { local in
      try await expectOneHeld(local)
      var item = try #require(try await local.engine.quarantine().items.first)
      // No store shows whose the part is.
      let part = try local.record("Part", "p")
      guard case .impossible(let why) = item.discardEffect, why.contains("Part \(part)") else {
        Issue.record("\(item.discardEffect)")
        return
      }
      try local.site.write { context in
        try local.site.find("Part", "p", in: context).map(context.delete)
      }
      _ = await #expect(throws: SyncError.self) { try await local.engine.wait(timeout: .patience) }
      item = try #require(try await local.engine.quarantine().items.first)
      #expect(item.discardEffect == .deletesRecord)
      _ = try await local.engine.discard(item.id, revision: item.revision)
      try await local.engine.wait(timeout: .patience)
      #expect(try local.site.picture().isEmpty)
      #expect(try await local.engine.verify(name: "nas", timeout: .patience).isEqual)
    }
  }
}
