import CairnContext
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "In step means in step", of links that go in one direction only: what the
/// direction leaves out is told apart from what is wrong, and is never called equal.
struct OneWayTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon

  init() throws {
    scratch = try Scratch()
    daemon = try SyncEngineTests.Daemon("local", in: scratch)
  }

  private var url: URL { scratch.url.appendingPathComponent("nas.sqlite") }

  private func link(_ direction: SyncDirection, _ entities: Set<String>? = nil) throws {
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: url, direction: direction, entities: entities))
  }

  private func relink(_ direction: SyncDirection) async throws {
    try await daemon.engine.removeReplica(named: "nas")
    try link(direction)
  }

  /// What another program writes in the replica's file.
  private func there(
    _ work: (Fleet.Site, ManagedObjectContext) throws -> Void
  ) async throws {
    let other = try SyncEngineTests.Daemon("nas", in: scratch)
    try other.site.write { try work(other.site, $0) }
    try await other.close()
  }

  /// What a program writes in the store that gives, or in the one that takes.
  private func write(
    giving: Bool, _ direction: SyncDirection,
    _ work: (Fleet.Site, ManagedObjectContext) throws -> Void
  ) async throws {
    if giving == (direction == .pull) { return try await there(work) }
    try daemon.site.write { try work(daemon.site, $0) }
  }

  /// The refusal of a wait.
  private func refusal() async -> SyncError? {
    do {
      try await daemon.engine.wait(timeout: .patience)
      return nil
    } catch {
      return SyncError(describing: error, at: nil)
    }
  }

  private func expectLeftOut(
    _ count: Int, _ words: String, _ place: SourceLocation = #_sourceLocation
  )
    async throws
  {
    let refusal = await refusal()
    #expect(
      refusal?.code == (count == 0 ? nil : .leftOut), "\(refusal?.message ?? "")",
      sourceLocation: place)
    #expect(
      refusal?.message.contains(words) ?? true, "\(refusal?.message ?? "")", sourceLocation: place)
    let status = try #require(try daemon.engine.status().replicas.first)
    #expect(status.held.leftOut == count && status.held.count == 0, sourceLocation: place)
    for level in VerifyLevel.allCases {
      let report = try await daemon.engine.verify(name: "nas", level: level, timeout: .patience)
      #expect(report.differences.isEmpty, "\(report.differences)", sourceLocation: place)
      #expect(
        report.leftOut == count && report.isEqual == (count == 0), "\(level)", sourceLocation: place
      )
    }
  }

  @Test func aWaitForAReplicaThatIsOnlyPulledFromSaysWhatStaysHere() async throws {
    try link(.pull)
    try daemon.insert(["a", "b"])
    try await expectLeftOut(2, "2 records stay in local: nas only pulls")
    // As much is known after a restart.
    try await relink(.pull)
    try await expectLeftOut(2, "2 records stay in local: nas only pulls")
    try await relink(.both)
    try await expectLeftOut(0, "")
    // What has come there by another way is visible.
    try await relink(.pull)
    try await expectLeftOut(0, "")
    await daemon.engine.stop()
  }

  @Test func aWaitForAReplicaThatIsOnlyPushedToSaysWhatStaysThere() async throws {
    try link(.push)
    try daemon.insert(["a"])
    try await expectLeftOut(0, "")
    try await there { site, context in _ = try site.insert("Item", ["key": "theirs"], in: context) }
    try await expectLeftOut(1, "1 record stays in nas: nas only pushes")
    await daemon.engine.stop()
  }

  @Test(arguments: [SyncDirection.push, .pull])
  func aWriteADeleteALinkAndAMoveCountUntilTheyAreThere(_ direction: SyncDirection) async throws {
    func kept(_ work: (Fleet.Site, ManagedObjectContext) throws -> Void) async throws {
      if direction == .push { return try await there(work) }
      try daemon.site.write { try work(daemon.site, $0) }
    }
    try daemon.site.write { context in
      for key in ["written", "deleted", "linked"] {
        let item = try daemon.site.insert("Item", ["key": key], in: context)
        guard key == "linked" else { continue }
        let parts = try ["p", "q", "r"].map {
          try daemon.site.insert("Part", ["key": $0], in: context)
        }
        item.setValue(NSOrderedSet(array: parts), forKey: "parts")
      }
      _ = try daemon.site.insert("Tag", ["name": "t"], in: context)
    }
    try link(.both)
    try await expectLeftOut(0, "")
    try await relink(direction)
    try await kept { site, context in
      try site.find("Item", "written", in: context)?.setValue("new", forKey: "value")
    }
    try await expectLeftOut(1, "1 record stays")
    try await kept { site, context in
      if let item = try site.find("Item", "deleted", in: context) { context.delete(item) }
    }
    try await expectLeftOut(2, "2 records stay")
    try await kept { site, context in
      let tag = try #require(try site.find("Tag", "t", in: context))
      try site.find("Item", "linked", in: context)?.setValue(Set([tag]), forKey: "tags")
    }
    try await expectLeftOut(3, "3 records stay")
    // The other's later write wins here and there.
    let other: (Fleet.Site, ManagedObjectContext) throws -> Void = { site, context in
      try site.find("Item", "written", in: context)?.setValue("newer", forKey: "value")
    }
    if direction == .push {
      try daemon.site.write { try other(daemon.site, $0) }
    } else {
      try await there(other)
    }
    try await expectLeftOut(2, "2 records stay")
    try await relink(.both)
    try await expectLeftOut(0, "")
    await daemon.engine.stop()
  }

  @Test(arguments: [SyncDirection.push, .pull])
  func deletesCountWhenNothingTellsOfThemAnyMore(_ direction: SyncDirection) async throws {
    try await write(giving: true, direction) { site, context in
      let tag = try site.insert("Tag", ["name": "t"], in: context)
      for key in ["gone", "untagged", "same"] {
        let item = try site.insert("Item", ["key": key], in: context)
        if key == "untagged" { item.setValue(Set([tag]), forKey: "tags") }
      }
    }
    try link(direction)
    try await expectLeftOut(0, "")
    try await write(giving: false, direction) { site, context in
      if let item = try site.find("Item", "gone", in: context) { context.delete(item) }
      try site.find("Item", "untagged", in: context)?.setValue(Set<ManagedObject>(), forKey: "tags")
    }
    try await expectLeftOut(2, "2 records stay")
    let reports = try await daemon.engine.purge(olderThan: .zero)
    #expect(reports.map(\.records).max() == 1 && reports.map(\.links).max() == 1, "\(reports)")
    try await expectLeftOut(2, "2 records stay")
    // As much is known after a restart.
    try await relink(direction)
    try await expectLeftOut(2, "2 records stay")
    // Until it is gone there, too.
    try await write(giving: true, direction) { site, context in
      if let item = try site.find("Item", "gone", in: context) { context.delete(item) }
    }
    try await expectLeftOut(1, "1 record stays")
    await daemon.engine.stop()
  }

  /// With more entities than before a store is read from the beginning.
  @Test func deletesStandWhenNothingTellsOfThemAndMoreIsRead() async throws {
    try await there { site, context in
      for key in ["gone", "untagged", "same"] {
        let item = try site.insert("Item", ["key": key], in: context)
        let tag = try site.insert("Tag", ["name": key], in: context)
        if key == "untagged" { item.setValue(Set([tag]), forKey: "tags") }
        _ = try site.insert("Part", ["key": key], in: context)
      }
    }
    try link(.pull, ["Item", "Tag"])
    try await expectLeftOut(0, "")
    try daemon.site.write { context in
      try daemon.site.find("Item", "gone", in: context).map(context.delete)
      try daemon.site.find("Item", "untagged", in: context)?
        .setValue(Set<ManagedObject>(), forKey: "tags")
    }
    try await expectLeftOut(2, "2 records stay")
    let purged = try await daemon.engine.purge(olderThan: .zero).first
    #expect(purged?.records == 1 && purged?.links == 1, "\(String(describing: purged))")
    try await relink(.pull)
    try await expectLeftOut(2, "2 records stay")
    let picture = try daemon.site.picture()
    #expect(picture.filter { $0.hasPrefix("part") }.count == 3, "\(picture)")
    #expect(picture.filter { $0.hasPrefix("item") }.count == 2, "\(picture)")
    #expect(!picture.contains { $0.contains("[\"untagged\"]") }, "\(picture)")
    // Once the link goes both ways, they travel.
    try await relink(.both)
    try await expectLeftOut(0, "")
    #expect(try daemon.site.picture() == picture)
    await daemon.engine.stop()
  }

  @Test func aDeleteThatIsPurgedBeforeItIsCountedIsLeftOutAllTheSame() throws {
    let fleet = Fleet(seed: 3)
    let (local, nas) = (try fleet.addRetaining("local"), try fleet.addRetaining("nas"))
    try nas.write { _ = try nas.insert("Item", ["key": "k"], in: $0) }
    for _ in 0..<2 { try fleet.pass(local, nas, direction: .pull) }
    var leftOut = LeftOut()
    func count() throws -> Int {
      try leftOut.update(from: local.access, missingIn: nas.access, filter: nil)
      return leftOut.count
    }
    #expect(try count() == 0)
    try local.write { context in
      for item in try local.all("Item", in: context) { context.delete(item) }
    }
    try HistoryCapture(access: local.access).run()
    let report = try local.purge(age: 0)
    #expect(report.records == 1)
    #expect(try count() == 1)
    #expect(try count() == 1)
  }

  @Test func anOrderThatStaysHereIsLeftOut() async throws {
    try daemon.site.write { context in
      let item = try daemon.site.insert("Item", ["key": "i"], in: context)
      let parts = try ["p", "q"].map { try daemon.site.insert("Part", ["key": $0], in: context) }
      item.setValue(NSOrderedSet(array: parts), forKey: "parts")
    }
    try link(.both)
    try await expectLeftOut(0, "")
    try await relink(.pull)
    try daemon.site.write { context in
      let item = try #require(try daemon.site.find("Item", "i", in: context))
      let parts = try #require(item.value(forKey: "parts") as? NSOrderedSet)
      item.setValue(parts.reversed, forKey: "parts")
    }
    let refusal = await refusal()
    #expect(refusal?.code == .leftOut)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.isEmpty && report.leftOut > 0, "\(report)")
    await daemon.engine.stop()
  }

  @Test(arguments: [SyncDirection.push, .pull])
  func aReferenceToWhatWasUnitedWithARecordThatStaysIsNoDifference(
    _ direction: SyncDirection
  ) async throws {
    // The earlier record is the one that stands for both.
    try await write(giving: false, direction) { site, context in
      _ = try site.insert("Tag", ["name": "t"], in: context)
    }
    let now = daemon.site.access.environment.now()
    #expect(await eventually { daemon.site.access.environment.now() > now + 1 })
    try await write(giving: true, direction) { site, context in
      let tag = try site.insert("Tag", ["name": "t"], in: context)
      _ = try site.insert("Item", ["key": "k", "label": tag], in: context)
    }
    try link(direction)
    // The tag of either store.
    try await expectLeftOut(2, "2 records stay")
    await daemon.engine.stop()
  }

  @Test func whatIsNotExchangedIsNotLeftOutByTheDirection() async throws {
    try link(.pull, ["Tag"])
    try daemon.insert(["a"])
    try await expectLeftOut(0, "")
    try daemon.site.write { _ = try daemon.site.insert("Tag", ["name": "t"], in: $0) }
    try await expectLeftOut(1, "1 record stays in local")
    await daemon.engine.stop()
  }

  @Test(arguments: [SyncDirection.push, .pull])
  func whatAProgramChangedPastHistoryIsADifferenceWhateverTheDirection(
    _ direction: SyncDirection
  ) async throws {
    try daemon.insert(["k"])
    try link(.both)
    try await expectLeftOut(0, "")
    try await relink(direction)
    try await expectLeftOut(0, "")
    let file = try DatabaseQueue(patient: url.path)
    try await file.write { try $0.execute(sql: "UPDATE ZITEM SET ZVALUE = 'past history'") }
    try file.close()
    let changed = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(changed.differences.map(\.kind) == [.value] && changed.leftOut == 0)
    // A row that is gone from the one that takes nothing back, too.
    let other = try DatabaseQueue(patient: url.path)
    try await other.write { try $0.execute(sql: "DELETE FROM ZITEM") }
    try other.close()
    let gone = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(gone.differences.map(\.kind) == [.onlyLocal] && gone.leftOut == 0, "\(gone)")
    let refusal = await refusal()
    #expect(refusal?.code == .recordsHeld)
    await daemon.engine.stop()
  }

  @Test func aRepairLeavesWhatTheDirectionLeavesOut() async throws {
    try daemon.insert(["k"])
    try link(.both)
    try await expectLeftOut(0, "")
    try await relink(.pull)
    try daemon.insert(["mine"])
    try await expectLeftOut(1, "1 record stays")
    let file = try DatabaseQueue(patient: url.path)
    try await file.write {
      try $0.execute(
        sql: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZKEY) SELECT 77, Z_ENT, 1, 'x' FROM ZITEM")
    }
    try file.close()
    let report = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(report.actions.map(\.kind) == [.takenUp])
    #expect(report.remaining.isEmpty && report.leftOut == 1, "\(report)")
    #expect(try daemon.site.picture().contains { $0.contains("item x") })
    try await expectLeftOut(1, "1 record stays")
    await daemon.engine.stop()
  }

  /// The replica's version of the model calls the relationship otherwise.
  @Test func aLinkThatReachesTheReplicaElsewhereIsLeftOutNoMore() async throws {
    let model = SampleModel.make(.newer)
    let tags = model.entitiesByName["Item"]?.propertiesByName["tags"]
    tags?.name = "zones"
    tags?.renamingIdentifier = "tags"
    let other = try SyncEngineTests.Daemon("other", in: scratch, model: model)
    try other.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try other.site.write { context in
      _ = try other.site.insert("Item", ["key": "i"], in: context)
      _ = try other.site.insert("Tag", ["name": "t"], in: context)
    }
    func add(_ name: String, by site: Fleet.Site) throws {
      try site.write { context in
        let tag = try #require(try site.find("Tag", "t", in: context))
        try site.find("Item", "i", in: context)?.setValue(Set([tag]), forKey: name)
      }
    }
    try await other.engine.wait(timeout: .patience)
    try link(.pull)
    #expect(await refusal()?.code == nil)
    try add("tags", by: daemon.site)
    #expect(await refusal()?.code == .leftOut)
    try add("zones", by: other.site)
    try await other.engine.wait(timeout: .patience)
    #expect(await refusal()?.code == nil)
    await daemon.engine.stop()
    try await other.close()
  }
}
