import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 2.1, 5 and 6: a store whose values a migration has dropped gets back what others have of
/// them, once a model has the names again, and is not called in step before.
struct DroppedValuesTests {
  private typealias Daemon = SyncEngineTests.Daemon

  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private static func model(without part: DroppedPart) -> ManagedObjectModel {
    let model = SampleModel.make()
    part.drop(from: model)
    return model
  }

  private func daemon(_ model: ManagedObjectModel = SampleModel.make()) async throws -> Daemon {
    let daemon = try Daemon("local", in: scratch, model: model)
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: file("nas")))
    try await daemon.engine.wait(timeout: .patience)
    return daemon
  }

  private func file(_ name: String) -> URL { scratch.url.appendingPathComponent("\(name).sqlite") }

  private func fill(_ daemon: Daemon) throws {
    try daemon.insertFamily(of: 4)
    try daemon.site.write { context in
      let item = try daemon.site.find("Item", "k0", in: context)
      _ = try daemon.site.insert("Part", ["key": "p", "item": item as Any], in: context)
    }
  }

  /// Brings a file to a version without a daemon, as an operator or another program does.
  private func migrate(
    _ name: String, from old: ManagedObjectModel = SampleModel.make(), to model: ManagedObjectModel
  ) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [SQLiteStoreKind()])
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: file(name),
      options: [
        StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
        StoreOptionKey.migrationSourceModels: [old],
      ])
    try coordinator.remove(store)
  }

  /// What programs see.
  private func picture(_ daemon: Daemon) throws -> [String] {
    try daemon.site.write { context in
      func key(_ object: Any?) -> String {
        let object = object as? ManagedObject
        return object?.value(forKey: object?.entity.name == "Tag" ? "name" : "key") as? String
          ?? "-"
      }
      return try daemon.site.all("Item", in: context).map { item in
        let tags = (item.value(forKey: "tags") as? Set<ManagedObject> ?? []).map(key).sorted()
        let parts = (item.value(forKey: "parts") as? NSOrderedSet)?.array.map(key) ?? []
        return "\(key(item)) \(item.value(forKey: "value") ?? "-") "
          + "\(key(item.value(forKey: "parent"))) \(tags) \(parts)"
      }
    }
  }

  private func expectEqual(_ daemon: Daemon) async throws {
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual, "\(report.differences.prefix(5))")
    try await daemon.close()
  }

  @Test(arguments: DroppedPart.allCases, ["local", "nas"])
  func whatWasDroppedWithoutADaemonComesBackFromTheOthers(
    _ dropped: DroppedPart, _ store: String
  ) async throws {
    let first = try await daemon()
    try fill(first)
    try await first.engine.wait(timeout: .patience)
    let before = try picture(first)
    try await first.close()
    try migrate(store, to: Self.model(without: dropped))
    try migrate(store, to: SampleModel.make())
    let second = try await daemon()
    #expect(try picture(second) == before)
    try await expectEqual(second)
    try migrate("nas", to: SampleModel.make())
    let other = try Daemon("nas", in: scratch)
    #expect(try picture(other) == before)
    try await other.close()
  }

  /// A pass has exchanged all there was; what it says of the two stores is of what they are now.
  @Test func aPassDuringWhichValuesWereDroppedDoesNotCallTheStoresInStep() async throws {
    let daemon = try await daemon()
    try fill(daemon)
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.engine.rest()
    let pass = try #require(try daemon.engine.link("nas").steps)
    _ = try pass.identify()
    #expect(try pass.settle().count == 0)
    try migrate("nas", to: Self.model(without: .value))
    try migrate("nas", to: SampleModel.make())
    let error = #expect(throws: SyncError.self) { try pass.settle() }
    #expect(error?.code == .fileMoved && error?.recovery == .retry)
    try daemon.engine.resume()
    try await expectEqual(daemon)
  }

  /// The daemon goes on with the smaller model for a while, as after a release that is taken back.
  @Test(arguments: DroppedPart.allCases)
  func aReleaseThatIsTakenBackLeavesNothingBehind(_ dropped: DroppedPart) async throws {
    let first = try await daemon()
    try fill(first)
    try await first.engine.wait(timeout: .patience)
    let before = try picture(first)
    try await first.close()
    try migrate("local", to: Self.model(without: dropped))
    let second = try await daemon(Self.model(without: dropped))
    try second.site.write { context in
      _ = try second.site.insert("Tag", ["name": "meanwhile"], in: context)
    }
    // What it has no place for it keeps beside its rows, as a store of an older version does.
    try await expectEqual(second)
    let third = try await daemon()
    #expect(try picture(third) == before)
    #expect(try third.site.picture().contains("tag meanwhile nil"))
    try await expectEqual(third)
  }

  /// Most of its values are as that migration filled them in.
  @Test func anAttributeThatAMigrationHadAddedComesBackAsItWas() async throws {
    let first = try await daemon()
    try fill(first)
    try await first.engine.wait(timeout: .patience)
    try await first.close()
    let second = try await daemon(SampleModel.make(.newer))
    try second.site.write { context in
      try second.site.find("Item", "k1", in: context)?.setValue("more", forKey: "extra")
    }
    try await second.engine.wait(timeout: .patience)
    try await second.close()
    try migrate("local", from: SampleModel.make(.newer), to: SampleModel.make())
    let alone = try Daemon("local", in: scratch)
    _ = try alone.site.access.ledger()
    try await alone.close()
    let third = try await daemon(SampleModel.make(.newer))
    try await third.engine.wait(timeout: .patience)
    let ledger = try third.site.access.ledger()
    try third.site.write { context in
      for item in try third.site.all("Item", in: context) {
        let isChanged = item.value(forKey: "key") as? String == "k1"
        #expect(item.value(forKey: "extra") as? String == (isChanged ? "more" : nil))
        let record = try ledger.recordID(for: item.objectID).flatMap { try ledger.record($0) }
        let write = try #require(record?.write(of: "extra"))
        #expect((write == .filledIn) != isChanged, "nobody wrote that there is none")
      }
    }
    try await expectEqual(third)
  }

  /// That is on record apart from the rows.
  @Test func aLinkThatWasRemovedBeforeStaysRemoved() async throws {
    let first = try await daemon()
    try fill(first)
    try await first.engine.wait(timeout: .patience)
    try first.engine.pause()
    try first.site.write { context in
      let item = try first.site.find("Item", "k1", in: context)
      item?.setValue(Set<ManagedObject>(), forKey: "tags")
    }
    try HistoryCapture(access: first.site.access).run()
    try await first.close()
    try migrate("local", to: Self.model(without: .tags))
    try migrate("local", to: SampleModel.make())
    let second = try await daemon()
    let tags = try picture(second).map { $0.contains("[\"t") }
    #expect(tags == [true, false, true, true])
    try await expectEqual(second)
  }

  /// Nothing has to travel once more where nothing was lost.
  @Test func aStoreThatSyncHasNotSeenKeepsNoTrace() async throws {
    let daemon = try Daemon("alone", in: scratch)
    try daemon.insert(["k"])
    try await daemon.close()
    try migrate("alone", to: Self.model(without: .value))
    try migrate("alone", to: SampleModel.make())
    let again = try Daemon("alone", in: scratch)
    let trace = try again.site.store.capabilities.sidecar?.sidecarValues(for: [MigrationTrace.key])
    #expect(trace?.first.flatMap { $0 } == nil)
    try await again.close()
  }
}
