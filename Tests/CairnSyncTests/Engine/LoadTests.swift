import CairnContext
import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

// A graph of some thousands of objects in one transaction.
struct LoadTests {
  @Test func aLargeGraphReachesAReplica() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let count = 2000
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
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    // How long it takes is measured in Benchmarks; this only ends a run that hangs.
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas")
    #expect(report.isEqual && report.records == 2 * count)
    await daemon.engine.stop()
  }
}
