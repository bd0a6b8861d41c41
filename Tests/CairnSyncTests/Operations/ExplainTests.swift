import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 9, `explain`.
struct ExplainTests {
  private func author(_ write: WriteExplanation) -> String? {
    guard case .transaction(_, let author, _, _, _) = write.authorship else { return nil }
    return author
  }

  @Test func anAttributeIsExplainedByStoreAuthorAndRuleWithWhatItSuperseded() async throws {
    let duet = try await Duet.make()
    try await duet.settle()
    try await duet.there.engine.rest()
    try duet.here.write(by: "anna") { try duet.here.set("k", "value", "mine", in: $0) }
    try HistoryCapture(access: duet.here.site.access).run()
    let now = duet.here.site.access.environment.now()
    while duet.here.site.access.environment.now() <= now + 1 {}
    try duet.there.write(by: "bert") { try duet.there.set("k", "value", "theirs", in: $0) }
    try duet.there.engine.resume()
    try await duet.settle()
    let record = try duet.here.record("Item", "k")
    let here = try await duet.here.engine.explain(record, property: "value")
    let value = try #require(here.values.first)
    #expect(here.entity == "Item" && !here.isDeleted && here.values.count == 1)
    #expect(value.value == .string("theirs") && value.rule == .conflict(.lastWriter))
    #expect(value.superseded.map(\.conflict.losingValue) == [.string("mine")])
    #expect(value.write.store.name == nil && value.write.authorship == .elsewhere)
    #expect(value.standings.map(\.standing) == [.inStep, .inStep])
    #expect(value.standings.map(\.store.name) == ["local", "nas"])
    let there = try #require(
      try await duet.there.engine.explain(record, property: "value").values.first)
    #expect(there.write.store.name == "local" && author(there.write) == "bert")
    let other = try #require(
      try await duet.here.engine.explain(record, property: "other").values.first)
    #expect(other.rule == .unopposed && author(other.write) == "app")
    try await duet.close()
  }

  @Test func aValueOfARecordThatCameBackIsNotSaidToHaveReplacedAllThatWasWritten() async throws {
    let duet = try await Duet.make(policy: .writeWins)
    try await duet.concurrently(
      here: { context in
        try duet.here.set("k", "value", "last", in: context)
        try context.save()
        context.delete(try #require(try duet.here.site.find("Item", "k", in: context)))
      },
      there: { try duet.there.set("k", "other", 2.5, in: $0) })
    let record = try duet.here.record("Item", "k")
    let found = try await duet.here.engine.explain(record, property: "value")
    let value = try #require(found.values.first)
    #expect(!found.isDeleted && found.deletion != nil)
    #expect(value.value == .string("first") && value.rule == .conflict(.writeWon))
    try await duet.close()
  }

  @Test func itSaysWhereAValueHasNotArrived() async throws {
    let duet = try await Duet.make()
    try await duet.here.engine.rest()
    try duet.here.site.write { try duet.here.set("k", "value", "new", in: $0) }
    let record = try duet.here.record("Item", "k")
    let value = try #require(
      try await duet.here.engine.explain(record, property: "value").values.first)
    #expect(value.standings.map(\.standing) == [.inStep, .waiting(.string("first"))])
    let there = try await duet.there.engine.explain(record, property: "value").values.first
    #expect(there?.value == .string("first"))
    try await duet.close()
  }

  @Test func itSaysWhereAValueIsQuarantined() async throws {
    let duet = try await Duet.make()
    try duet.here.breakRule(value: String(repeating: "x", count: 200))
    await #expect(throws: SyncError.self) { try await duet.here.engine.wait(timeout: .patience) }
    let record = try duet.here.record("Item", "k")
    let explanation = try await duet.here.engine.explain(record)
    for value in explanation.values {
      guard case .quarantined(let why) = value.standings[1].standing else {
        #expect(value.property != "value")
        continue
      }
      #expect(value.property == "value" && why.contains("too long"))
    }
    guard case .quarantined = explanation.standings[1].standing else {
      Issue.record("the record waits in nas: \(explanation.standings)")
      return
    }
    try await duet.close()
  }

  @Test func aReferenceALinkAPlaceAndTheOtherSideOfAReferenceAreExplained() async throws {
    let duet = try await Duet.make()
    try duet.here.write(by: "carl") { context in
      let item = try #require(try duet.here.site.find("Item", "k", in: context))
      let tag = try #require(try duet.here.site.find("Tag", "t", in: context))
      let child = try duet.here.site.insert("Item", ["key": "c", "parent": item], in: context)
      child.setValue(tag, forKey: "label")
      item.setValue(Set([tag]), forKey: "tags")
      item.setValue(NSOrderedSet(array: [tag]), forKey: "picks")
      _ = try duet.here.site.insert("Part", ["key": "p", "item": item], in: context)
    }
    try await duet.settle()
    let (item, child) = (try duet.here.record("Item", "k"), try duet.here.record("Item", "c"))
    let (tag, part) = (try duet.here.record("Tag", "t"), try duet.here.record("Part", "p"))
    func explain(_ record: RecordID, _ property: String) async throws -> [ValueExplanation] {
      let found = try await duet.here.engine.explain(record, property: property).values
      for value in found {
        #expect(author(value.write) == "carl", "\(property): \(value.write)")
        #expect(value.standings.map(\.standing) == [.inStep, .inStep], "\(property)")
      }
      return found
    }
    #expect(try await explain(child, "parent").map(\.value) == [.reference(item)])
    #expect(try await explain(item, "children").map(\.record) == [child])
    #expect(try await explain(item, "tags").map(\.member) == [tag])
    #expect(try await explain(tag, "items").map(\.value) == [.reference(item)])
    #expect(
      try await explain(item, "parts").map(\.property) == ["item", "item#position"])
    #expect(try await explain(item, "parts").map(\.record) == [part, part])
    #expect(
      try await explain(item, "picks").map(\.property) == ["picks", "picks#position"])
    #expect(try await explain(tag, "labelled").map(\.record) == [child])
    let wrong = await #expect(throws: SyncError.self) { try await explain(item, "color") }
    #expect(wrong?.code == .noSuchProperty && wrong?.message.contains("value") == true)
    let none = await #expect(throws: SyncError.self) {
      try await explain(RecordID(high: 1, low: 1), "value")
    }
    #expect(none?.code == .noSuchRecord)
    try await duet.close()
  }

  @Test func aDeleteIsExplainedByWhoMadeItAndWhereItHasNotArrived() async throws {
    let duet = try await Duet.make()
    let record = try duet.here.record("Item", "k")
    try await duet.here.engine.rest()
    try duet.here.write(by: "dora") { context in
      context.delete(try #require(try duet.here.site.find("Item", "k", in: context)))
    }
    let explanation = try await duet.here.engine.explain(record)
    let deletion = try #require(explanation.deletion)
    #expect(explanation.isDeleted && author(deletion) == "dora" && deletion.store.name == "local")
    #expect(explanation.standings.map(\.standing) == [.inStep, .waiting(.null)])
    try duet.here.engine.resume()
    try await duet.settle()
    #expect(
      try await duet.here.engine.explain(record).standings.map(\.standing) == [.inStep, .inStep])
    try await duet.close()
  }

  @Test func whereHistoryIsGoneItSaysSo() async throws {
    let duet = try await Duet.make()
    let history = try duet.here.site.access.history()
    _ = try history.purgeHistory(before: try history.lastTransactionNumber() + 1, date: nil)
    let value = try #require(
      try await duet.here.engine.explain(
        try duet.here.record("Item", "k"), property: "value"
      ).values.first)
    #expect(value.write.authorship == .gone && value.write.store.name == "local")
    try await duet.close()
  }

  @Test func aRecordThatWasUnitedIsExplainedByItsSurvivor() async throws {
    let duet = try await Duet.make()
    var records: [RecordID] = []
    try await duet.settle()
    for daemon in [duet.here, duet.there] { try await daemon.engine.rest() }
    for (daemon, note) in [(duet.here, "mine"), (duet.there, "theirs")] {
      try daemon.site.write {
        _ = try daemon.site.insert("Tag", ["name": "same", "note": note], in: $0)
      }
      records.append(try daemon.record("Tag", "same"))
    }
    for daemon in [duet.here, duet.there] { try daemon.engine.resume() }
    try await duet.settle()
    let survivor = try duet.here.record("Tag", "same")
    let loser = try #require(records.first { $0 != survivor })
    let explanation = try await duet.here.engine.explain(loser, property: "note")
    #expect(explanation.survivor == survivor && explanation.record == loser)
    #expect(explanation.values.first.map { $0.rule == .unopposed } == false)
    try await duet.close()
  }

  @Test func aReferenceToWhatAnotherRecordHasIsExplainedByWhoHasIt() async throws {
    let duet = try await Duet.make()
    try duet.here.insert(["x", "y"])
    try await duet.settle()
    func label(_ daemon: SyncEngineTests.Daemon, _ key: String) -> (ManagedObjectContext) throws ->
      Void
    {
      { context in
        let tag = try daemon.site.find("Tag", "t", in: context)
        try daemon.set(key, "label", tag, in: context)
      }
    }
    try await duet.concurrently(here: label(duet.here, "x"), there: label(duet.there, "y"))
    let (x, y) = (try duet.here.record("Item", "x"), try duet.here.record("Item", "y"))
    let tag = try duet.here.record("Tag", "t")
    let found = try await duet.here.engine.explain(x, property: "label").values
    let value = try #require(found.first)
    #expect(value.value == .reference(tag) && value.superseded.isEmpty)
    #expect(Set(value.standings.map(\.standing)) == [.taken(tag, by: y)])
    try await duet.close()
  }
}
