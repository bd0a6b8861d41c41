import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 6, "Sync's own tables follow a migration".
struct ModelChangeTests {
  private typealias Daemon = SyncEngineTests.Daemon

  /// The model with other names: entity, attribute, both sides of the many-to-many.
  private static func renamed() -> ManagedObjectModel {
    let model = SampleModel.make()
    func rename(_ property: PropertyDescription?, to name: String) {
      property?.renamingIdentifier = property?.name
      property?.name = name
    }
    let item = model.entitiesByName["Item"]
    let tag = model.entitiesByName["Tag"]
    rename(item?.propertiesByName["value"], to: "worth")
    rename(item?.propertiesByName["parent"], to: "upper")
    // What carries the links is the side with the smaller name, which becomes the other one.
    rename(item?.propertiesByName["tags"], to: "zones")
    rename(tag?.propertiesByName["items"], to: "bearers")
    tag?.renamingIdentifier = "Tag"
    tag?.name = "Badge"
    return model
  }

  /// The model with what is new: an attribute with a default, one without, one that may be missing.
  private static func grown() -> ManagedObjectModel {
    let model = SampleModel.make(.newer)
    let item = model.entitiesByName["Item"]
    item?.properties.append(
      AttributeDescription(name: "count", type: .integer64, isOptional: false, defaultValue: 7))
    return model
  }

  /// Runs a daemon of a model over the local store and one replica, until both are in step.
  private func sync(
    _ model: ManagedObjectModel, in scratch: Scratch,
    _ work: (Daemon) async throws -> Void
  ) async throws {
    let daemon = try Daemon("local", in: scratch, model: model)
    try daemon.engine.addReplica(
      ReplicaConfiguration(
        name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
    try await work(daemon)
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual, "\(report.differences.prefix(5))")
    try await daemon.close()
  }

  @Test func whatAMigrationFillsInIsTheSameWriteInAllStores() async throws {
    let scratch = try Scratch()
    try await sync(SampleModel.make(), in: scratch) { try $0.insertFamily(of: 6) }
    try await sync(Self.grown(), in: scratch) { daemon in
      // Nothing has to travel because of the migration alone.
      let counters = try daemon.engine.status().replicas.first?.counters
      #expect(counters?.recordsPushed == 0 && counters?.recordsPulled == 0)
      try daemon.site.write {
        try daemon.site.find("Item", "k2", in: $0)?.setValue(8, forKey: "count")
      }
    }
    try await sync(Self.grown(), in: scratch) { daemon in
      try daemon.site.write { context in
        let counts = try daemon.site.all("Item", in: context).map {
          $0.value(forKey: "count") as? Int
        }
        #expect(counts == [7, 7, 8, 7, 7, 7])
      }
    }
  }

  /// The model with entities more, above those of items and of leaves or beside them.
  private static func rooted(isAbove: Bool) -> ManagedObjectModel {
    let model = SampleModel.make()
    for name in ["Item", "Leaf"] {
      let root = EntityDescription(name: "Rooted\(name)")
      if isAbove { root.subentities = [model.entitiesByName[name]].compactMap { $0 } }
      model.entities.append(root)
    }
    return model
  }

  /// Rows lie in another table then, under the keys that they had; and back again.
  @Test func recordsOfAnEntityThatGetsASuperentityOrLosesItStayWhatTheyAre() async throws {
    let scratch = try Scratch()
    func picture(_ daemon: Daemon) throws -> [String] {
      try daemon.site.write { context in
        try ["Item", "Leaf"].flatMap { name in
          try daemon.site.all(name, in: context).map {
            "\(name) \($0.value(forKey: "key") ?? "") \($0.value(forKey: "value") ?? "")"
          }
        }
      }
    }
    try await sync(SampleModel.make(), in: scratch) { daemon in
      try daemon.insertFamily(of: 4)
      try daemon.site.write { try daemon.site.insert("Leaf", ["key": "l"], in: $0) }
    }
    for (number, isAbove) in [true, false].enumerated() {
      let model = Self.rooted(isAbove: isAbove)
      try await sync(model, in: scratch) { daemon in
        let counters = try daemon.engine.status().replicas.first?.counters
        #expect(counters?.recordsPushed == 0 && counters?.recordsPulled == 0)
        let id = try #require(
          try daemon.site.write { context in
            try daemon.site.find("Item", "k1", in: context).flatMap {
              try daemon.site.access.ledger().recordID(for: $0.objectID)
            }
          })
        #expect(try daemon.site.access.ledger().record(id)?.entity == "Item")
        try daemon.site.write { context in
          try daemon.site.find("Item", "k1", in: context)?.setValue("v\(number)", forKey: "value")
          try daemon.site.find("Leaf", "l", in: context)?.setValue("v\(number)", forKey: "value")
        }
      }
      let other = try Daemon("nas", in: scratch, model: model)
      let found = try picture(other)
      #expect(found.count == 5, "\(found)")
      for line in ["Item k1 v\(number)", "Leaf l v\(number)"] { #expect(found.contains(line)) }
      try await other.close()
    }
  }

  @Test func renamedEntitiesPropertiesAndLinksKeepTheirRecords() async throws {
    let scratch = try Scratch()
    try await sync(SampleModel.make(), in: scratch) { try $0.insertFamily(of: 6) }
    try await sync(Self.renamed(), in: scratch) { daemon in
      let status = try daemon.engine.status().replicas.first
      #expect(status?.counters.recordsPushed == 0 && status?.counters.recordsPulled == 0)
      try daemon.site.write { context in
        let item = try daemon.site.find("Item", "k1", in: context)
        item?.setValue("later", forKey: "worth")
        item?.setValue(nil, forKey: "upper")
        // An unlink travels.
        try daemon.site.find("Item", "k3", in: context)?.setValue(
          Set<ManagedObject>(), forKey: "zones")
      }
      try await daemon.engine.wait(timeout: .patience)
      #expect(try daemon.engine.status().replicas.first?.counters.recordsPushed == 1)
      #expect(try daemon.engine.status().replicas.first?.counters.linksPushed == 1)
    }
    // The replica alone, as others see it.
    let other = try Daemon("nas", in: scratch, model: Self.renamed())
    try other.site.write { context in
      let items = try other.site.all("Item", in: context)
      #expect(items.count == 6)
      #expect(items[1].value(forKey: "worth") as? String == "later")
      #expect(items[1].value(forKey: "upper") == nil)
      #expect((items[3].value(forKey: "zones") as? Set<ManagedObject>)?.isEmpty == true)
      #expect((items[4].value(forKey: "zones") as? Set<ManagedObject>)?.count == 1)
    }
    try await other.close()
  }

  /// Two migrations in one store are one in another.
  @Test func whatAMigrationAddedIsTheSameWriteAfterItWasRenamed() async throws {
    let scratch = try Scratch()
    let other = try Daemon("other", in: scratch)
    try other.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await sync(SampleModel.make(), in: scratch) { try $0.insertFamily(of: 3) }
    try await other.engine.wait(timeout: .patience)
    try await other.close()
    func renamed() throws -> ManagedObjectModel {
      let model = Self.grown()
      let item = try #require(model.entitiesByName["Item"])
      item.renamingIdentifier = "Item"
      item.name = "Thing"
      let count = try #require(item.propertiesByName["count"])
      count.renamingIdentifier = "count"
      count.name = "number"
      return model
    }
    try await sync(Self.grown(), in: scratch) { _ in }
    try await sync(try renamed(), in: scratch) { daemon in
      let ledger = try daemon.site.access.ledger()
      try daemon.site.write { context in
        for item in try daemon.site.all("Thing", in: context) {
          let record = try ledger.recordID(for: item.objectID).flatMap { try ledger.record($0) }
          #expect(record?.write(of: "number") == .filledIn && record?.writes["count"] == nil)
        }
      }
    }
    let late = try Daemon("other", in: scratch, model: try renamed())
    try late.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await late.engine.wait(timeout: .patience)
    let report = try await late.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual, "\(report.differences.prefix(5))")
    try await late.close()
  }

  @Test func aDeleteAfterARenameTravels() async throws {
    let scratch = try Scratch()
    try await sync(SampleModel.make(), in: scratch) { try $0.insertFamily(of: 6) }
    try await sync(Self.renamed(), in: scratch) { daemon in
      try daemon.site.write { context in
        let request = FetchRequest<ManagedObject>(entityName: "Badge")
        request.affectedStores = [daemon.site.store]
        for badge in try context.fetch(request) { context.delete(badge) }
      }
      try await daemon.engine.wait(timeout: .patience)
      #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 6)
    }
  }
}
