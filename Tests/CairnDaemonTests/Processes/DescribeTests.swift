// What a daemon tells of one store.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct DescribeTests {
  @Test func theLocalStoreAndAReplicaAreDescribedWithTheirFiles() async throws {
    let folder = try TemporaryFolder()
    let replica = folder.file("near.sqlite")
    let daemon = try Daemon(in: folder, Daemon.Setup(replicas: [("near", replica)]))
    try await daemon.start()
    for name in ["a", "b"] { try await daemon.ctl("insert", "Section", "name=\(name)") }
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let (local, near) = try await offPool {
      let client = try daemon.client()
      return (
        try client.call(DescribeStore.self, .init(name: "local")),
        try client.call(DescribeStore.self, .init(name: "near"))
      )
    }
    #expect(local.store.role == .local && local.local?.records == 2 && local.replica == nil)
    #expect(local.counters == nil)
    #expect(local.file?.lastTransaction == local.local?.lastTransaction)
    #expect(near.store.role == .replica && near.replica?.name == "near" && near.local == nil)
    #expect(near.counters?.recordsPushed == 2 && near.counters?.recordsPulled == 0)
    #expect((near.counters?.passes ?? 0) > 0)
    for (path, reply) in [(daemon.localPath, local), (replica, near)] {
      let file = try #require(reply.file)
      let facts = try FileManager.default.attributesOfItem(atPath: path)
      #expect(file.bytes == (facts[.size] as? NSNumber)?.intValue)
      #expect(reply.store.location == path)
    }
    // The version is named as by those who look at models.
    let checked = try await daemon.ctl("model", "check", daemon.setup.model)
    let checksum = try #require(local.file?.checksum)
    #expect(near.file?.checksum == checksum)
    #expect(checked.output.contains(checksum), "\(checked.output)")
    #expect(await daemon.stop() == 0)
  }

  @Test func aReplicaThatIsNotThereIsDescribedWithoutItsFile() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("away", folder.file("none/away.sqlite"))]))
    try await daemon.start()
    let isNoticed = await eventually { (try? daemon.replica("away")?.problem) != nil }
    #expect(isNoticed)
    let reply = try await offPool {
      try daemon.client().call(DescribeStore.self, .init(name: "away"))
    }
    #expect(reply.file == nil && reply.replica?.problem != nil)
    #expect(reply.counters?.passes == 0)
    let shown = try await daemon.ctl("store", "describe", "away")
    #expect(shown.code == 0 && shown.output.contains("unavailable"), "\(shown)")
    let unknown = try await daemon.ctl("store", "describe", "awya")
    #expect(unknown.code == 1 && unknown.errors.contains("did you mean \"away\""), "\(unknown)")
    #expect(await daemon.stop() == 0)
  }
}
