import CairnContext
import CairnStore
import CairnTesting
import Foundation
import Synchronization
import Testing

@testable import CairnSync

// Links that have nothing to do: who wakes them, and what they do then.
struct RestTests {
  @Test func memoryIsGivenBackOnceForEachTimeOfWork() {
    var rest = Rest()
    let told = [0, 3, 3, 3, 4, 4, 4].map { rest.finding(after: $0) == .rest }
    #expect(told == [false, false, true, false, false, true, false])
  }

  @Test func memoryIsGivenBackNowAndThenWhileWorkGoesOn() {
    var rest = Rest()
    let found = (1...200).map { rest.finding(after: $0) }
    let places = found.indices.filter { found[$0] == .longWork }
    #expect(places == [59, 119, 179])
    #expect(!found.contains(.rest))
    #expect(rest.finding(after: 200) == .rest)
    // A rest in between begins anew.
    let later = (201...259).map { rest.finding(after: $0) } + [rest.finding(after: 259)]
    #expect(!later.contains(.longWork) && later.last == .rest)
  }

  @Test func whatAPushBringsAboutComesBackInTheSamePass() throws {
    var machine = PassState(direction: .both)
    for event in [PassState.Event.identified, .captured, .captured, .retried, .drained, .retried] {
      machine.take(event)
    }
    #expect(machine.step == .move(.push))
    machine.take(.moved)
    machine.take(.drained)
    #expect(machine.step == .move(.pull))
    machine.take(.passedOver)
    #expect(machine.step == .move(.pull) && !machine.isUnfinished)
    machine.take(.moved)
    machine.take(.drained)
    #expect(machine.step == nil && machine.isUnfinished)
  }

  @Test func aPassThatPushesNothingDoesNotAskTheReplicaAgain() throws {
    var machine = PassState(direction: .both)
    for event in [
      PassState.Event.identified, .captured, .captured, .retried, .moved, .drained, .retried,
      .passedOver, .drained,
    ] {
      machine.take(event)
    }
    #expect(machine.step == nil && !machine.isUnfinished)
    #expect(machine.hasMoved)
  }

  @Test func aPassThatMovesNothingHasNothingThatLetsGoWhatWaits() throws {
    var machine = PassState(direction: .both)
    for event in [
      PassState.Event.moved, .identified, .captured, .captured, .retried, .passedOver, .drained,
      .retried, .drained,
    ] {
      machine.take(event)
    }
    #expect(machine.step == nil && !machine.hasMoved)
  }

  @Test func aCommitOfTheLinkItselfStartsNoPass() async throws {
    let scratch = try Scratch()
    let calls = Mutex(0)
    var environment = SyncEnvironment.live
    environment.wake = { _, call in
      calls.withLock { $0 += 1 }
      call()
    }
    let daemon = try SyncEngineTests.Daemon(
      "local", in: scratch, environment: environment, pollInterval: .seconds(3600))
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await daemon.engine.wait(timeout: .patience)
    let before = calls.withLock { $0 }
    try daemon.insert(["a"])
    // The save itself has called the link.
    #expect(
      await eventually {
        (try? daemon.engine.status().replicas.first?.counters.recordsPushed) == 1
      })
    try await daemon.engine.wait(timeout: .patience)
    // That of the save and that of the wait, none for the commits in both stores.
    #expect(calls.withLock { $0 } - before == 2)
    await daemon.engine.stop()
  }

  @Test func aCommitOfAnotherProgramIsNoticedWithoutALook() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon(
      "local", in: scratch, pollInterval: .seconds(3600), noticesCommits: true)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await daemon.engine.wait(timeout: .patience)
    for name in ["local", "nas"] {
      let other = try SyncEngineTests.Daemon(name, in: scratch)
      for number in 0..<5 {
        try other.insert(["\(name) \(number)"])
        let key = "item \(name) \(number)"
        let isThere = await eventually {
          ((try? daemon.site.picture()) ?? []).contains { $0.hasPrefix(key) }
        }
        #expect(isThere, "\(key)")
      }
      try await other.close()
    }
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 10)
    await daemon.engine.stop()
  }

  @Test func workWithoutAnEndGivesMemoryBackNowAndThenAndAlsoAtRest() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch, pollInterval: .seconds(3600))
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    var given: [SyncEngine.MemoryRelease] = []
    for number in 1...Rest.longWork {
      try daemon.insert(["\(number)"])
      try await daemon.engine.wait(timeout: .patience)
      given.append(daemon.engine.lookAtStores())
    }
    #expect(given.dropLast().allSatisfy { $0 == .nothing } && given.last == .amongWork, "\(given)")
    #expect(await eventually { daemon.engine.lookAtStores() == .atRest })
    #expect(daemon.engine.lookAtStores() == .nothing)
    try await daemon.close()
  }

  @Test func aFileThatIsReplacedIsFoundByTheLookAtAllStores() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon(
      "local", in: scratch, pollInterval: .seconds(3600), noticesCommits: true)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try daemon.insert(["a"])
    try await daemon.engine.wait(timeout: .patience)
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: url.path + suffix)
    }
    daemon.engine.lookAtStores()
    let isFound = await eventually {
      (try? daemon.engine.status().replicas.first?.lastError?.code) == .storeUnavailable
        || (try? daemon.engine.status().replicas.first?.lastError?.code) == .fileMoved
    }
    #expect(isFound)
    await daemon.engine.stop()
  }
}
