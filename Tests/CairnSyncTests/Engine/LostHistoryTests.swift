import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 3, "History that is gone before it was captured".
struct LostHistoryTests {
  @Test(arguments: ["local", "nas"])
  func whatWasWrittenBeforeAPurgeTravelsAllTheSame(purged: String) async throws {
    let scratch = try Scratch()
    let nas = ReplicaConfiguration(
      name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite"))
    do {
      let daemon = try SyncEngineTests.Daemon("local", in: scratch)
      try daemon.insert(["changes", "goes", "stays", "links", "moves"])
      try daemon.tag("links", with: "old")
      try daemon.engine.addReplica(nas)
      try await daemon.engine.wait(timeout: .patience)
      try await daemon.close()
    }
    do {
      // A program that cleans up after itself, while no daemon runs.
      let program = try SyncEngineTests.Daemon(purged, in: scratch)
      try program.insert(["new"])
      try program.tag("links", with: "fresh")
      try program.site.write { context in
        try program.site.find("Item", "changes", in: context)?.setValue("x", forKey: "value")
        try program.site.find("Item", "goes", in: context).map(context.delete)
        let parent = try program.site.find("Item", "stays", in: context)
        try program.site.find("Item", "moves", in: context)?.setValue(parent, forKey: "parent")
      }
      let history = try #require(program.site.store.capabilities.history)
      #expect(try history.purgeHistory(before: .max, date: nil) > 0)
      try await program.close()
    }
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let events = daemon.engine.events()
    try daemon.engine.addReplica(nas)
    for _ in 0..<2 { try await daemon.engine.wait(timeout: .patience) }
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual, "\(report.differences)")
    #expect(
      try daemon.site.picture() == [
        "item changes x nil ^- []", "item links links nil ^- [\"fresh\"]",
        "item moves moves nil ^stays []", "item new new nil ^- []",
        "item stays stays nil ^- []", "tag fresh nil", "tag old nil",
      ])
    try await daemon.close()
    var paths: [String] = []
    for await event in events {
      if case .historyLost(_, let path) = event { paths.append(path) }
    }
    #expect(paths == [scratch.url.appendingPathComponent(purged + ".sqlite").path])
  }

  /// The reference that it replaces leads to what another store has deleted, so that no row shows it.
  @Test func aReferenceInThePlaceOfAHiddenOneTravelsAllTheSame() async throws {
    let scratch = try Scratch()
    let nas = ReplicaConfiguration(
      name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite"))
    func program(_ name: String, _ work: (SyncEngineTests.Daemon) throws -> Void) async throws {
      let program = try SyncEngineTests.Daemon(name, in: scratch)
      try work(program)
      try await program.close()
    }
    func inStep() async throws {
      let daemon = try SyncEngineTests.Daemon("local", in: scratch)
      try daemon.engine.addReplica(nas)
      for _ in 0..<2 { try await daemon.engine.wait(timeout: .patience) }
      let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
      #expect(report.isEqual, "\(report.differences)")
      try await daemon.close()
    }
    func setParent(_ parent: String, in program: SyncEngineTests.Daemon) throws {
      try program.site.write { context in
        let parent = try program.site.find("Item", parent, in: context)
        try program.site.find("Item", "child", in: context)?.setValue(parent, forKey: "parent")
      }
    }
    try await program("local") { try $0.insert(["child", "former", "later"]) }
    try await inStep()
    try await program("nas") { program in
      try program.site.write { context in
        try program.site.find("Item", "former", in: context).map(context.delete)
      }
    }
    try await program("local") { try setParent("former", in: $0) }
    try await inStep()
    try await program("local") { program in
      try setParent("later", in: program)
      let history = try #require(program.site.store.capabilities.history)
      #expect(try history.purgeHistory(before: .max, date: nil) > 0)
    }
    try await inStep()
    let other = try SyncEngineTests.Daemon("nas", in: scratch)
    #expect(
      try other.site.picture() == [
        "item child child nil ^later []", "item later later nil ^- []",
      ])
    try await other.close()
  }

  /// When a record went of which history tells nothing is not known: what another store has written since is not
  /// lost, whether it was written before or after that.
  @Test func aLaterWriteElsewhereBringsBackWhatWentWithoutHistory() async throws {
    let scratch = try Scratch()
    let nas = ReplicaConfiguration(
      name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite"))
    let first = try SyncEngineTests.Daemon("local", in: scratch)
    try first.insert(["written", "gone"])
    try first.engine.addReplica(nas)
    try await first.engine.wait(timeout: .patience)
    try await first.close()

    let program = try SyncEngineTests.Daemon("local", in: scratch)
    try program.site.write { context in
      for key in ["written", "gone"] {
        try program.site.find("Item", key, in: context).map(context.delete)
      }
    }
    let history = try #require(program.site.store.capabilities.history)
    #expect(try history.purgeHistory(before: .max, date: nil) > 0)
    try await program.close()

    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try other.engine.addReplica(nas)
    try await other.engine.wait(timeout: .patience)
    try other.site.write { context in
      try other.site.find("Item", "written", in: context)?.setValue("later", forKey: "value")
    }
    try await other.engine.wait(timeout: .patience)

    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.engine.addReplica(nas)
    for _ in 0..<2 {
      try await daemon.engine.wait(timeout: .patience)
      try await other.engine.wait(timeout: .patience)
    }
    for daemon in [daemon, other] {
      #expect(try daemon.site.picture() == ["item written later nil ^- []"])
      #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
      try await daemon.close()
    }
  }
}
