import CairnContext
import CairnStore
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 9, `explain`, of what is deleted: it says who did it only where history does.
struct ExplainDeletionTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon

  init() throws {
    scratch = try Scratch()
    daemon = try SyncEngineTests.Daemon("local", in: scratch)
  }

  private func delete(_ key: String, by author: String) throws {
    try daemon.write(by: author) { context in
      context.delete(try #require(try daemon.site.find("Item", key, in: context)))
    }
  }

  private func author(_ write: WriteExplanation?) -> String? {
    guard case .transaction(_, let author, _, _, _)? = write?.authorship else { return nil }
    return author
  }

  @Test func theValuesOfADeletedRecordAreExplainedByWhoWroteThem() async throws {
    _ = try await daemon.addReplica(in: scratch, with: ["k", "other"])
    try daemon.write(by: "anna") { try daemon.set("k", "value", "hers", in: $0) }
    let record = try daemon.record("Item", "k")
    try await daemon.engine.wait(timeout: .patience)
    try delete("k", by: "bert")
    try await daemon.engine.wait(timeout: .patience)
    let found = try await daemon.engine.explain(record)
    #expect(found.isDeleted && author(found.deletion) == "bert")
    let value = try #require(found.values.first { $0.property == "value" })
    #expect(value.value == .string("hers") && author(value.write) == "anna")
    try await daemon.close()
  }

  @Test func aRowThatWentPastHistoryIsNotTakenForOneThatAProgramDeleted() async throws {
    _ = try await daemon.addReplica(in: scratch, with: ["k", "other"])
    let record = try daemon.record("Item", "k")
    try delete("other", by: "anna")
    try await daemon.engine.wait(timeout: .patience)
    try await scratch.sql("local", "DELETE FROM ZITEM WHERE ZKEY = 'k'")
    let report = try await daemon.engine.repairLocal()
    #expect(report.actions.count == 1)
    let found = try await daemon.engine.explain(record)
    #expect(found.isDeleted && found.deletion?.authorship == .nobody)
    try await daemon.close()
  }

  @Test func aValueThatARepairWroteIsNotTakenForTheProgramsThatWroteItBefore() async throws {
    _ = try await daemon.addReplica(in: scratch, with: ["k"])
    try daemon.write(by: "anna") { try daemon.set("k", "value", "hers", in: $0) }
    try await daemon.engine.wait(timeout: .patience)
    try await scratch.sql("local", "UPDATE ZITEM SET ZVALUE = 'past history'")
    let report = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(report.actions.map(\.kind) == [.written])
    let found = try await daemon.engine.explain(try daemon.record("Item", "k"), property: "value")
    #expect(found.values.first?.write.authorship == .nobody, "\(found.values)")
    try await daemon.close()
  }

  @Test func aRecordThatCameBackIsExplainedByItsSecondDelete() async throws {
    _ = try await daemon.addReplica(in: scratch, with: ["k", "other"])
    let record = try daemon.record("Item", "k")
    let start = SyncEnvironment.live.now()
    try delete("k", by: "anna")
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.engine.revert(RevertRequest(.author("anna"), since: start))
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.record("Item", "k") == record)
    try delete("k", by: "bert")
    #expect(author(try await daemon.engine.explain(record).deletion) == "bert")
    try await daemon.close()
  }

  @Test func aLinkToADeletedRecordIsGoneByWhoDeletedIt() async throws {
    _ = try await daemon.addReplica(in: scratch, with: ["k"])
    try daemon.tag("k", with: "t")
    try await daemon.engine.wait(timeout: .patience)
    let (item, tag) = (try daemon.record("Item", "k"), try daemon.record("Tag", "t"))
    try await daemon.engine.rest()
    try daemon.write(by: "anna") { context in
      context.delete(try #require(try daemon.site.find("Tag", "t", in: context)))
    }
    func link() async throws -> ValueExplanation {
      let found = try await daemon.engine.explain(item, property: "tags").values
      #expect(found.map(\.member) == [tag])
      let link = try #require(found.first)
      #expect(link.value == .null && author(link.write) == "anna" && link.write.isByDeleteRule)
      return link
    }
    #expect(try await link().standings.map(\.standing) == [.inStep, .waiting(.reference(tag))])
    try daemon.engine.resume()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await link().standings.map(\.standing) == [.inStep, .inStep])
    try await daemon.close()
  }
}
