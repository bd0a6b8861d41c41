import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "In step means in step": what a pass brings may let in what it has tried before that.
struct HeldWaitTests {
  private let scratch: Scratch
  private let replica: URL

  init() throws {
    scratch = try Scratch()
    replica = scratch.url.appendingPathComponent("nas.sqlite")
  }

  /// The link's other end is put right by what comes after the link was tried; the next pass lets it in.
  @Test func aWaitLooksOnceMoreWhereWhatArrivedLetsInWhatWaited() async throws {
    // The link is held up before it rests: its next pass begins after the wait.
    let gate = RestGate()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch, environment: gate.environment)
    try daemon.site.write { context in
      _ = try daemon.site.insert("Item", ["key": "k", "value": "v"], in: context)
      _ = try daemon.site.insert("Tag", ["name": "t"], in: context)
    }
    // Nothing comes back that another pass would have to follow for.
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: replica, direction: .push))
    try await daemon.engine.wait(timeout: .patience)
    try LaxProgram.exceed("k", in: replica)
    try daemon.site.write { context in
      let tag = try #require(try daemon.site.find("Tag", "t", in: context))
      try daemon.set("k", "tags", Set([tag]), in: context)
    }
    _ = await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    let waiting = try await daemon.engine.quarantine().items
    guard case .impossible(let why)? = waiting.first?.discardEffect, waiting.count == 1 else {
      Issue.record("\(waiting)")
      return
    }
    #expect(why.contains("correct that record"))
    #expect(await gate.close())
    try daemon.site.write { try daemon.set("k", "value", "short", in: $0) }
    let requested = try daemon.engine.link("nas").life.requested
    async let wait: Void = daemon.engine.wait(timeout: .patience)
    #expect(
      try await eventually { try daemon.engine.link("nas").life.requested > requested })
    gate.open()
    try await wait
    #expect(try await daemon.engine.quarantine().items.isEmpty)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await daemon.close()
  }
}
