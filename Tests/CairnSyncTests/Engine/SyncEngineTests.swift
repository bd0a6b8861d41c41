import CairnAtomicStores
import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

// The engine with real files and real time.
struct SyncEngineTests {
  /// A daemon: a coordinator with a local store, and its engine.
  struct Daemon {
    let site: Fleet.Site
    let engine: SyncEngine

    init(
      _ name: String, in scratch: Scratch, model: ManagedObjectModel = SampleModel.make(),
      kinds: [any StoreKind] = [], environment: SyncEnvironment = .live,
      policy: DeleteConflictPolicy = .lastWriter,
      pollInterval: Duration = .milliseconds(50), noticesCommits: Bool = false,
      keepsSums: Bool = false, knownModels: [ManagedObjectModel] = [],
      configure: (inout SyncConfiguration) -> Void = { _ in }
    ) throws {
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: model,
        storeKinds: [InMemoryStoreKind(), SQLiteStoreKind()] + kinds)
      let store = try coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil,
        at: scratch.url.appendingPathComponent(name + ".sqlite"),
        options: [
          StoreOptionKey.historyTracking: true,
          StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
          StoreOptionKey.remoteChangeNotification: noticesCommits,
          StoreOptionKey.rowChecksums: keepsSums,
        ])
      var configuration = SyncConfiguration()
      configuration.pollInterval = pollInterval
      configuration.backoff = Backoff(first: .milliseconds(20), longest: .milliseconds(200))
      configuration.deleteConflicts = policy
      configure(&configuration)
      engine = try SyncEngine(
        coordinator: coordinator, local: store, configuration: configuration,
        environment: environment, knownModels: { knownModels })
      site = Fleet.Site(
        name: name,
        access: StoreAccess(
          store: store,
          schema: try SyncSchema(
            model: coordinator.managedObjectModel, defaultPolicy: policy, policies: [:]),
          environment: environment, configuration: configuration),
        coordinator: coordinator)
    }

    /// Ends the engine and closes the files.
    func close() async throws {
      await engine.stop()
      for store in site.coordinator.persistentStores {
        do {
          try site.coordinator.remove(store)
        } catch {
          // An opening that stopping gave up takes its store out by itself, in this moment perhaps.
          if site.coordinator.persistentStores.contains(where: { $0 === store }) { throw error }
        }
      }
    }

    /// Writes as a program with a name of its own, in another millisecond than what was written before.
    func write(by author: String, _ work: (ManagedObjectContext) throws -> Void) throws {
      let now = site.access.environment.now()
      while site.access.environment.now() <= now + 1 {}
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = site.coordinator
      context.transactionAuthor = author
      try context.performAndWait {
        try work(context)
        try context.save()
      }
    }

    func insert(_ keys: [String]) throws {
      try site.write { context in
        for key in keys { _ = try site.insert("Item", ["key": key, "value": key], in: context) }
      }
    }

    /// Makes items (`k0`, …) with tags, the second one a child of the first, with a value that was changed.
    func insertFamily(of count: Int) throws {
      try insert((0..<count).map { "k\($0)" })
      for number in 0..<count { try tag("k\(number)", with: "t\(number % 2)") }
      try site.write { context in
        let child = try site.find("Item", "k1", in: context)
        child?.setValue(try site.find("Item", "k0", in: context), forKey: "parent")
        child?.setValue("changed", forKey: "value")
      }
    }

    /// A daemon with a record and the replica `nas`, which is in step, and the replica's file.
    static func withReplica(
      in scratch: Scratch
    ) async throws -> (daemon: Self, replica: URL) {
      let daemon = try Self("local", in: scratch)
      return (daemon, try await daemon.addReplica(in: scratch, with: ["k"]))
    }

    /// Adds a new file as the replica `nas` and brings these records to it.
    ///
    /// - Returns: The file.
    func addReplica(in scratch: Scratch, with keys: [String]) async throws -> URL {
      let url = scratch.url.appendingPathComponent("nas.sqlite")
      try engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
      try insert(keys)
      try await engine.wait(timeout: .patience)
      return url
    }

    /// Gives an item the tag with a name, made if there is none.
    ///
    /// When the engine unites tags of that name meanwhile, the save is a conflict, and a program
    /// tries again.
    func tag(_ item: String, with name: String, attempts: Int = 10) throws {
      do {
        try site.write { context in
          let tag =
            try site.find("Tag", name, in: context)
            ?? site.insert("Tag", ["name": name], in: context)
          try site.find("Item", item, in: context)?.setValue(Set([tag]), forKey: "tags")
        }
      } catch let error as CoreDataError
        where error.code == .managedObjectMerge && attempts > 1
      {
        try tag(item, with: name, attempts: attempts - 1)
      }
    }
  }

  @Test func everythingCommittedBeforeAWaitIsInTheReplicaAfterIt() async throws {
    let scratch = try Scratch()
    let daemon = try Daemon("local", in: scratch)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.insert((0..<50).map { "k\($0)" })
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    #expect(throws: SyncError.self) {
      try daemon.engine.addReplica(
        ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("other")))
    }
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 50)
    let status = try daemon.engine.status()
    #expect(status.replicas.map(\.name) == ["nas"])
    #expect(status.replicas.first?.lagTransactions == 0)
    #expect(status.replicas.first?.counters.recordsPushed == 50)
    try daemon.insert(["late"])
    try await daemon.engine.wait(for: ["nas"], timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas").records == 51)
    try await daemon.engine.removeReplica(named: "nas")
    #expect(daemon.site.coordinator.persistentStores.count == 1)
    #expect(throws: SyncError.self) { try daemon.engine.pause(names: ["nas"]) }
    await daemon.engine.stop()
  }

  @Test func recordIDsLeadToObjectsAndBack() async throws {
    let scratch = try Scratch()
    let daemon = try Daemon("local", in: scratch)
    let object = try daemon.site.write { context in
      let item = try daemon.site.insert("Item", ["key": "k"], in: context)
      try context.save()
      return item.objectID
    }
    let id = try #require(try daemon.engine.recordID(for: object))
    #expect(try daemon.engine.objectID(for: id) == object)
    #expect(try daemon.engine.recordIDs(for: [object, object]) == [id, id])
    await daemon.engine.stop()
  }

  @Test func twoDaemonsThatShareOneReplicaFileEndEqualWhileBothWrite() async throws {
    let scratch = try Scratch()
    let daemons = [try Daemon("a", in: scratch), try Daemon("b", in: scratch)]
    let url = scratch.url.appendingPathComponent("shared.sqlite")
    for daemon in daemons {
      try daemon.engine.addReplica(ReplicaConfiguration(name: "shared", url: url))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for daemon in daemons {
        group.addTask {
          for round in 0..<12 {
            try daemon.insert((0..<5).map { "\(daemon.site.name)\(round)-\($0)" })
            try daemon.tag("\(daemon.site.name)\(round)-0", with: "t\(round % 4)")
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    for _ in 0..<3 {
      for daemon in daemons { try await daemon.engine.wait(timeout: .patience) }
    }
    for daemon in daemons {
      let report = try await daemon.engine.verify(name: "shared", timeout: .patience)
      #expect(report.isEqual, "\(report.differences.prefix(5))")
    }
    let pictures = try daemons.map { try $0.site.picture() }
    #expect(pictures[0] == pictures[1])
    #expect(pictures[0].filter { $0.hasPrefix("item") }.count == 120)
    #expect(pictures[0].filter { $0.hasPrefix("tag") }.count == 4)
    for daemon in daemons { await daemon.engine.stop() }
  }

  @Test func aPausedReplicaStandsStillAndCatchesUpWhenResumed() async throws {
    let scratch = try Scratch()
    let daemon = try Daemon("local", in: scratch)
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
    try daemon.engine.pause(names: ["nas"])
    try daemon.insert(["k"])
    #expect(try daemon.engine.status().replicas.first?.phase == .paused)
    await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(for: ["nas"], timeout: .seconds(5))
    }
    #expect(try daemon.engine.status().replicas.first?.lagTransactions == 1)
    try daemon.engine.resume()
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 1)
    await daemon.engine.stop()
  }

  @Test func aReplicaThatCannotBeOpenedDelaysNobodyAndIsFoundWhenItComes() async throws {
    let scratch = try Scratch()
    let daemon = try Daemon("local", in: scratch)
    let mount = scratch.url.appendingPathComponent("mount")
    try daemon.insert(["k"])
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "away", url: mount.appendingPathComponent("x.sqlite")))
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(for: ["nas"], timeout: .patience)
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(for: ["away"], timeout: .milliseconds(300))
    }
    #expect(error?.code == .timedOut)
    try FileManager.default.createDirectory(at: mount, withIntermediateDirectories: true)
    try await daemon.engine.wait(for: ["away"], timeout: .patience)
    #expect(try await daemon.engine.verify(name: "away").isEqual)
    await daemon.engine.stop()
  }

  @Test func aCopyOfTheLocalStoreIsRefusedAsAReplica() async throws {
    let scratch = try Scratch()
    let url = scratch.url.appendingPathComponent("copy.sqlite")
    do {
      let first = try Daemon("local", in: scratch)
      try first.insert(["k"])
      await first.engine.stop()
      for store in first.site.coordinator.persistentStores {
        try first.site.coordinator.remove(store)
      }
    }
    let original = scratch.url.appendingPathComponent("local.sqlite").path
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: original + suffix) {
      try FileManager.default.copyItem(atPath: original + suffix, toPath: url.path + suffix)
    }
    let daemon = try Daemon("local", in: scratch)
    try daemon.engine.addReplica(ReplicaConfiguration(name: "copy", url: url))
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(for: ["copy"], timeout: .patience)
    }
    #expect(error?.recovery == .person)
    await daemon.engine.stop()
  }
}
