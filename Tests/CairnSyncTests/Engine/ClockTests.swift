import CairnStore
import CairnTesting
import Foundation
import Synchronization
import Testing

@testable import CairnSync

/// Specification: sync.md 3, "The machine's clock may jump", and 9, `accept`.
struct ClockTests {
  private static let year: UInt64 = 365 * 24 * 3600 * 1000
  private let scratch: Scratch
  /// What the clock shows beyond the time.
  private final class Skew: Sendable {
    let milliseconds: Atomic<UInt64>
    init(_ milliseconds: UInt64) { self.milliseconds = Atomic(milliseconds) }
  }
  private let skew = Skew(0)

  init() throws { scratch = try Scratch() }

  private var replica: URL { scratch.url.appendingPathComponent("nas.sqlite") }

  /// The time is a year ago: saves carry the real date, which is then that of a wrong clock.
  private func environment(_ skew: Skew) -> SyncEnvironment {
    var environment = SyncEnvironment.live
    environment.now = {
      SyncEnvironment.live.now() - Self.year + skew.milliseconds.load(ordering: .relaxed)
    }
    return environment
  }

  /// A daemon on this machine, whose clock may be wrong.
  private func daemon() throws -> SyncEngineTests.Daemon {
    try SyncEngineTests.Daemon("local", in: scratch, environment: environment(skew))
  }

  /// A daemon on another machine, whose clock is right, over the same replica.
  private func other(_ skew: Skew = Skew(0)) throws -> SyncEngineTests.Daemon {
    let daemon = try SyncEngineTests.Daemon(
      "other", in: scratch, environment: environment(skew))
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    return daemon
  }

  private func jump(_ milliseconds: UInt64) {
    skew.milliseconds.store(milliseconds, ordering: .relaxed)
  }

  private func set(_ key: String, _ value: String, _ daemon: SyncEngineTests.Daemon) throws {
    try daemon.site.write { context in
      try daemon.site.find("Item", key, in: context)?.setValue(value, forKey: "value")
    }
  }

  private func value(_ key: String, _ daemon: SyncEngineTests.Daemon) throws -> String? {
    try daemon.site.write { try daemon.site.find("Item", key, in: $0)?.value(forKey: "value") }
      as? String
  }

  @Test func aYearsJumpForOneSaveHoldsNothingBackThatIsWrittenAfterIt() async throws {
    let local = try daemon()
    try local.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    try local.insert(["before", "both"])
    try await local.engine.wait(timeout: .patience)
    jump(Self.year)
    try set("both", "wrong clock", local)
    try local.insert(["meanwhile"])
    try await local.engine.wait(timeout: .patience)
    jump(0)
    try local.insert(["after"])
    try set("before", "new", local)
    // The replica has what the wrong clock wrote to this record: only what is news can be held.
    try local.site.write { context in
      try local.site.find("Item", "both", in: context)?.setValue(2.5, forKey: "other")
    }
    try await local.engine.wait(timeout: .patience)
    let other = try other()
    do {
      try await other.engine.wait(timeout: .patience)
      Issue.record("what was written meanwhile is believed by a machine with the right time")
    } catch let error as SyncError {
      #expect(error.code == .recordsHeld && error.message.contains("2 records held by clock skew"))
    }
    #expect(try other.site.picture().count == 2)
    #expect(try value("before", other) == "new")
    #expect(try await other.engine.acceptHeld() == 2)
    try await other.engine.wait(timeout: .patience)
    #expect(try other.site.picture() == local.site.picture())
    // A store that overwrites it stamps its own just after it, and is believed with it.
    for (writer, reader) in [(other, local), (local, other)] {
      try set("meanwhile", "by \(writer.site.name)", writer)
      try await writer.engine.wait(timeout: .patience)
      try await reader.engine.wait(timeout: .patience)
      #expect(try value("meanwhile", reader) == "by \(writer.site.name)")
    }
    try await local.close()
    try await other.close()
  }

  @Test func whatNoOtherStoreHasSeenIsStampedAnew() async throws {
    let local = try daemon()
    let configuration = ReplicaConfiguration(name: "nas", url: replica)
    try local.engine.addReplica(configuration)
    try local.insert(["before", "gone"])
    try await local.engine.wait(timeout: .patience)
    try await local.engine.removeReplica(named: "nas")
    jump(Self.year)
    try local.insert(["meanwhile"])
    try set("before", "first", local)
    try set("before", "second", local)
    try local.site.write { context in
      try local.site.find("Item", "gone", in: context).map(context.delete)
    }
    // The stamps are given while the clock is wrong.
    try HistoryCapture(access: local.site.access).run()
    // A while later: until then the new stamps, given after all that was seen, may be ahead as well.
    jump(600_000)
    let events = local.engine.events()
    try local.engine.addReplica(configuration)
    try await local.engine.wait(timeout: .patience)
    let other = try other(Skew(600_000))
    try await other.engine.wait(timeout: .patience)
    #expect(try other.site.picture() == local.site.picture())
    #expect(try value("before", other) == "second")
    #expect(try other.site.picture().count == 2)
    try await local.close()
    try await other.close()
    var told: [UInt64] = []
    for await event in events {
      if case .clockFellBack(_, let path, let ahead) = event, path.hasSuffix("local.sqlite") {
        told.append(ahead)
      }
    }
    #expect(told.count == 1 && told.allSatisfy { $0 > Self.year / 2 })
  }

  /// "The daemon says so at once", also where no program writes.
  @Test func aClockThatFallsBackOnAnIdleMachineIsReportedByTheNextLook() async throws {
    jump(Self.year)
    let local = try daemon()
    let events = local.engine.events()
    try local.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    try local.insert(["k"])
    try await local.engine.wait(timeout: .patience)
    local.engine.lookAtStores()
    jump(600_000)
    local.engine.lookAtStores()
    var told: UInt64?
    for await event in events {
      guard case .clockFellBack(_, _, let ahead) = event else { continue }
      told = ahead
      break
    }
    #expect(told.map { $0 > Self.year / 2 } == true)
    try await local.close()
  }

  @Test func aLinkFromTheFutureIsHeldLikeARecord() throws {
    let fleet = Fleet(seed: 9)
    let a = try fleet.add("a", skew: 3_600_000)
    let b = try fleet.add("b")
    try b.write { context in
      _ = try b.insert("Item", ["key": "k"], in: context)
      _ = try b.insert("Tag", ["name": "t"], in: context)
    }
    _ = try fleet.settle([(a, b)])
    try a.write { context in
      let tag = try a.find("Tag", "t", in: context)
      try a.find("Item", "k", in: context)?.setValue(Set([tag].compactMap { $0 }), forKey: "tags")
    }
    try HistoryCapture(access: a.access).run()
    try fleet.pass(b, a)
    #expect(try b.picture() != a.picture())
    let held = try ReplicationTests().quarantine(b)
    #expect(held.contains { $0.reason == .clockSkew && $0.link != nil })
    #expect(try b.access.held().ahead == held.count)
    let accepted = try b.access.held(.all)
    #expect(accepted.count == held.count)
    try b.access.accept(accepted.stamps, isExact: false)
    try fleet.pass(b, a)
    #expect(try b.picture() == a.picture())
    #expect(try ReplicationTests().quarantine(b).isEmpty)
  }

  @Test func aClockThatIsWrongInThePastNeitherOverwritesNorLoses() async throws {
    jump(Self.year)
    let local = try daemon()
    try local.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    try local.insert(["a"])
    try set("a", "first", local)
    try await local.engine.wait(timeout: .patience)
    jump(0)
    try set("a", "second", local)
    try local.insert(["b"])
    try HistoryCapture(access: local.site.access).run()
    // A little later than before, as it goes.
    jump(Self.year + 60_000)
    try await local.engine.wait(timeout: .patience)
    let report = try await local.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 2)
    #expect(try value("a", local) == "second")
    try await local.close()
  }
}
