import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 6: what several versions of the model rename in turn keeps its stamps.
struct ContinuedNamesTests {
  private typealias Daemon = SyncEngineTests.Daemon

  /// What has become of the attribute `value`.
  private static func model(_ name: String, was former: String? = nil) -> ManagedObjectModel {
    let model = SampleModel.make()
    let value = model.entitiesByName["Item"]?.propertiesByName["value"]
    value?.name = name
    value?.renamingIdentifier = former
    return model
  }

  private static var versions: [ManagedObjectModel] {
    [model("value"), model("text", was: "value"), model("words", was: "text")]
  }

  @Test func namesLeadThroughTheVersionsBetweenThereAndBack() throws {
    let versions = SchemaNames.versions(Self.versions)
    try #require(versions.count == 3)
    let there = ContinuedNames(from: versions[0], to: versions[2], through: versions.reversed())
    let back = ContinuedNames(from: versions[2], to: versions[0], through: versions)
    #expect(there.properties["Item"]?["value"] == "words")
    #expect(back.properties["Item"]?["words"] == "value")
    let alone = ContinuedNames(from: versions[0], to: versions[2], through: [])
    #expect(alone.properties["Item"]?["value"] == nil)
  }

  /// A version that drops an attribute is no way to one that has it.
  @Test func aVersionOnWhichSomethingWouldBeLostIsNotOnTheWay() throws {
    let bare = SampleModel.make()
    bare.entitiesByName["Item"]?.properties.removeAll { $0.name == "value" }
    let wide = SampleModel.make(.newer)
    let versions = SchemaNames.versions([SampleModel.make(), bare, wide])
    try #require(versions.count == 3)
    let names = ContinuedNames(from: versions[0], to: versions[2], through: versions)
    #expect(names.properties["Item"]?["value"] == "value")
  }

  private func write(of name: String, _ daemon: Daemon) throws -> PropertyWrite? {
    try daemon.site.write { context in
      let item = try #require(try daemon.site.find("Item", "a", in: context))
      let ledger = try daemon.engine.local.ledger()
      let id = try #require(try ledger.recordID(for: item.objectID))
      return try ledger.record(id)?.write(of: name)
    }
  }

  @Test func whatWasRenamedTwiceWhileSyncDidNotLookKeepsItsWrites() async throws {
    let scratch = try Scratch()
    let old = try Daemon("local", in: scratch, model: Self.model("value"))
    try old.insert(["a"])
    try HistoryCapture(access: old.site.access).run()
    let before = try write(of: "value", old)
    #expect(before != nil)
    try await old.close()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model("text", was: "value"), storeKinds: [SQLiteStoreKind()])
    try coordinator.remove(
      coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil,
        at: scratch.url.appendingPathComponent("local.sqlite"),
        options: [
          StoreOptionKey.historyTracking: true,
          StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
        ]))
    let new = try Daemon(
      "local", in: scratch, model: Self.model("words", was: "text"), knownModels: Self.versions)
    #expect(try write(of: "words", new) == before)
    try await new.close()
  }
}
