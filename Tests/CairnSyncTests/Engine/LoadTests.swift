import CairnContext
import CairnModel
import Foundation
import Testing

@testable import CairnSync

// A graph of some thousands of objects in one transaction.
struct LoadTests {
  @Test func aLargeGraphReachesAReplica() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let clock = ContinuousClock()
    let count = 2000
    let writing = try clock.measure {
      try daemon.site.write { context in
        let tags = try (0..<count).map {
          try daemon.site.insert("Tag", ["name": "t\($0)"], in: context)
        }
        for number in 0..<count {
          let item = try daemon.site.insert("Item", ["key": "k\(number)"], in: context)
          item.setValue(
            Set((0..<5).map { tags[(number * 7 + $0 * $0) % count] }), forKey: "tags")
        }
      }
    }
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    let syncing = try await clock.measure { try await daemon.engine.wait(timeout: .seconds(120)) }
    let verifying = try await clock.measure {
      let report = try await daemon.engine.verify(name: "nas")
      #expect(report.isEqual && report.records == 2 * count)
    }
    // Far above what it takes; guards against work that grows with the square.
    #expect(syncing < .seconds(60), "write \(writing) sync \(syncing) verify \(verifying)")
    await daemon.engine.stop()
  }
}
