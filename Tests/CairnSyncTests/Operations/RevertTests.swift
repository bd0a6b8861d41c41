import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 9, `revert`.
struct RevertTests {
  private func request(_ author: String, since: UInt64 = 0) -> RevertRequest {
    RevertRequest(.author(author), since: since)
  }

  @Test func whatAnAuthorInsertedIsDeletedUnlessOthersWroteToItOrNeedIt() async throws {
    let duet = try await Duet.make()
    try duet.here.write(by: "anna") { context in
      _ = try duet.here.site.insert("Item", ["key": "alone"], in: context)
      let whole = try duet.here.site.insert("Item", ["key": "whole"], in: context)
      _ = try duet.here.site.insert("Part", ["key": "own", "item": whole], in: context)
      _ = try duet.here.site.insert("Item", ["key": "touched"], in: context)
      _ = try duet.here.site.insert("Item", ["key": "needed"], in: context)
    }
    try await duet.settle()
    try duet.here.write(by: "bert") { try duet.here.set("touched", "value", "b", in: $0) }
    try duet.there.write(by: "carl") { context in
      let item = try #require(try duet.there.site.find("Item", "needed", in: context))
      _ = try duet.there.site.insert("Part", ["key": "other", "item": item], in: context)
    }
    try await duet.settle()
    let plan = try await duet.here.engine.planRevert(request("anna"))
    let before = try duet.here.site.picture()
    #expect(plan.steps.count == 3 && plan.steps.allSatisfy { $0.kind == .delete })
    let needed = try duet.here.record("Item", "needed")
    let touched = try duet.here.record("Item", "touched")
    #expect(plan.kept.contains { $0.record == touched && $0.reason == .writtenByOthers })
    let part = try duet.here.record("Part", "other")
    #expect(plan.kept.contains { $0.record == needed && $0.reason == .neededByOthers([part]) })
    #expect(try duet.here.site.picture() == before)
    let outcome = try await duet.here.engine.revert(request("anna"), plan: plan.id)
    #expect(outcome.done == plan.steps && outcome.kept == plan.kept)
    try await duet.settle()
    let picture = try duet.there.site.picture()
    #expect(
      !picture.contains { $0.contains("alone") || $0.contains("whole") || $0.contains("own") })
    #expect(
      picture.contains { $0.contains("touched") } && picture.contains { $0.contains("other") })
    #expect(try await duet.here.engine.revert(request("anna")).done.isEmpty)
    try await duet.close()
  }

  /// That it lives follows from no history, which a program purges whenever it likes.
  @Test(arguments: DeleteConflictPolicy.allCases.filter { $0 != .deleteWins })
  func aRecordThatComesBackLivesAlsoWhereItsHistoryIsPurgedBeforeItIsCaptured(
    _ policy: DeleteConflictPolicy
  ) async throws {
    let duet = try await Duet.make(policy: policy)
    try await duet.here.engine.rest()
    try duet.here.write(by: "anna") { context in
      try duet.here.site.find("Item", "k", in: context).map(context.delete)
    }
    let outcome = try await duet.here.engine.revert(request("anna"))
    #expect(outcome.done.count == 1)
    let history = try #require(duet.here.site.store.capabilities.history)
    #expect(try history.purgeHistory(before: .max, date: nil) > 0)
    try duet.here.engine.resume()
    try await duet.settle()
    for daemon in [duet.here, duet.there] { #expect(try daemon.item("k", "value") == "first") }
    #expect(try await duet.here.engine.verify(name: "nas").isEqual)
    try await duet.close()
  }

  @Test func takingBackCanBeTakenBack() async throws {
    let duet = try await Duet.make()
    try duet.here.write(by: "anna") { context in
      let tag = try #require(try duet.here.site.find("Tag", "t", in: context))
      let item = try duet.here.site.insert("Item", ["key": "new", "value": "v"], in: context)
      item.setValue(Set([tag]), forKey: "tags")
      try duet.here.set("k", "tags", Set([tag]), in: context)
    }
    try await duet.settle()
    let before = try duet.here.site.picture()
    let record = try duet.here.record("Item", "new")
    let outcome = try await duet.here.engine.revert(request("anna"))
    #expect(outcome.done.count == 2, "\(outcome)")
    #expect(try duet.here.site.picture() == ["item k first 1.0 ^- []", "tag t n"])
    try await duet.settle()
    let back = try await duet.here.engine.revert(request(outcome.author))
    #expect(back.kept.isEmpty, "\(back.kept)")
    #expect(try duet.here.site.picture() == before)
    #expect(try duet.here.record("Item", "new") == record)
    try await duet.settle()
    #expect(try duet.there.site.picture() == before)
    #expect(try await duet.here.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await duet.close()
  }

  @Test func whatAnAuthorDeletedComesBackWithItsValuesAndWhatRefersToIt() async throws {
    let duet = try await Duet.make()
    try duet.here.site.write { context in
      let item = try #require(try duet.here.site.find("Item", "k", in: context))
      let tag = try #require(try duet.here.site.find("Tag", "t", in: context))
      item.setValue(Set([tag]), forKey: "tags")
      _ = try duet.here.site.insert("Item", ["key": "child", "parent": item], in: context)
      for key in ["p1", "p2"] {
        _ = try duet.here.site.insert("Part", ["key": key, "item": item], in: context)
      }
    }
    try await duet.settle()
    let before = try duet.here.site.picture()
    try duet.here.write(by: "anna") { context in
      context.delete(try #require(try duet.here.site.find("Item", "k", in: context)))
    }
    try await duet.settle()
    #expect(try duet.there.site.picture() == ["item child nil nil ^- []", "tag t n"])
    let outcome = try await duet.here.engine.revert(request("anna"))
    #expect(outcome.kept.isEmpty, "\(outcome.kept)")
    try await duet.settle()
    #expect(try duet.there.site.picture() == before)
    #expect(try duet.here.site.picture() == before)
    try await duet.close()
  }

  @Test func whatAnAuthorInsertedAndDeletedStaysAwayUnlessAnotherWroteToIt() async throws {
    let duet = try await Duet.make()
    try duet.here.write(by: "anna") { context in
      for key in ["own", "shared", "far"] {
        _ = try duet.here.site.insert("Item", ["key": key], in: context)
      }
    }
    let others = [try duet.here.record("Item", "shared"), try duet.here.record("Item", "far")]
    try await duet.settle()
    try duet.here.write(by: "bert") { try duet.here.set("shared", "value", "b", in: $0) }
    try duet.there.write(by: "carl") { try duet.there.set("far", "value", "c", in: $0) }
    try await duet.settle()
    try duet.here.write(by: "anna") { context in
      for key in ["own", "shared", "far", "k"] {
        try duet.here.site.find("Item", key, in: context).map(context.delete)
      }
    }
    try await duet.settle()
    let outcome = try await duet.here.engine.revert(request("anna"))
    #expect(Set(outcome.done.map(\.record)).isSuperset(of: others))
    #expect(outcome.done.count == 3 && outcome.kept.isEmpty, "\(outcome)")
    let picture = try duet.here.site.picture()
    #expect(picture.contains { $0.contains("item k first") })
    #expect(!picture.contains { $0.contains("own") })
    try await duet.close()
  }

  @Test func whatARepairTookForDeletedDoesNotComeBackWithWhatAnAuthorDeletedBefore() async throws {
    let duet = try await Duet.make()
    try duet.here.insert(["lost", "gone"])
    try await duet.settle()
    let gone = try duet.here.record("Item", "gone")
    try duet.here.write(by: "anna") { context in
      try duet.here.site.find("Item", "gone", in: context).map(context.delete)
    }
    try await duet.settle()
    try await duet.scratch.sql("here", "DELETE FROM ZITEM WHERE ZKEY = 'lost'")
    #expect(try await duet.here.engine.repairLocal().actions.map(\.kind) == [.deleted])
    try await duet.settle()
    let outcome = try await duet.here.engine.revert(request("anna"))
    #expect(outcome.done.map(\.record) == [gone])
    try await duet.close()
  }

  @Test func aReplacedValueComesBackWhereItIsKnownAndElseTheWriteStaysAndItSaysSo() async throws {
    let duet = try await Duet.make()
    try duet.here.write(by: "anna") { try duet.here.set("k", "value", "second", in: $0) }
    try await duet.settle()
    let unknown = try await duet.here.engine.planRevert(request("anna"))
    #expect(unknown.steps.isEmpty && unknown.kept.map(\.reason) == [.formerValueUnknown])
    // A replica that has not got it knows what was there.
    try await duet.here.engine.rest()
    try duet.here.write(by: "bert") { try duet.here.set("k", "value", "third", in: $0) }
    let known = try await duet.here.engine.planRevert(request("bert"))
    let record = try duet.here.record("Item", "k")
    #expect(
      known.steps == [
        RevertStep(
          record: record, entity: "Item",
          kind: .set(property: "value", from: .string("third"), to: .string("second")))
      ])
    #expect(
      try await duet.here.engine.planRevert(request("anna")).kept.map(\.reason) == [.superseded])
    try await duet.here.engine.revert(request("bert"))
    #expect(try duet.here.item("k", "value") == "second")
    try duet.here.engine.resume()
    try await duet.settle()
    #expect(try duet.there.item("k", "value") == "second")
    // The journal knows what was taken back.
    try await duet.here.engine.revert(request(SyncConfiguration.revertingAuthor))
    #expect(try duet.here.item("k", "value") == "third")
    try await duet.close()
  }

  @Test func aValueThatLostToTheAuthorsWriteComesBack() async throws {
    let duet = try await Duet.make()
    try await duet.settle()
    for daemon in [duet.here, duet.there] { try await daemon.engine.rest() }
    try duet.there.write(by: "anna") { try duet.there.set("k", "value", "lost", in: $0) }
    try HistoryCapture(access: duet.there.site.access).run()
    try duet.here.write(by: "bert") { try duet.here.set("k", "value", "won", in: $0) }
    try await duet.meet()
    #expect(try duet.there.item("k", "value") == "won")
    try await duet.here.engine.revert(request("bert"))
    try await duet.settle()
    #expect(try duet.there.item("k", "value") == "lost")
    try await duet.close()
  }

  @Test func onlyTheTimeThatIsAskedForIsTakenBack() async throws {
    let duet = try await Duet.make()
    try duet.here.write(by: "anna") {
      _ = try duet.here.site.insert("Item", ["key": "early"], in: $0)
    }
    let between = duet.here.site.access.environment.now() + 1
    try duet.here.write(by: "anna") {
      _ = try duet.here.site.insert("Item", ["key": "late"], in: $0)
    }
    try await duet.settle()
    let late = try await duet.here.engine.planRevert(request("anna", since: between))
    #expect(late.steps.map(\.record) == [try duet.here.record("Item", "late")])
    let early = try await duet.here.engine.planRevert(
      RevertRequest(.author("anna"), since: 0, until: between))
    #expect(early.steps.map(\.record) == [try duet.here.record("Item", "early")])
    try await duet.close()
  }

  @Test func aStoreThatIsNotOpenIsTakenBackByItsStamps() async throws {
    let duet = try await Duet.make()
    try duet.there.site.write { context in
      _ = try duet.there.site.insert("Item", ["key": "theirs"], in: context)
      try duet.there.set("k", "value", "changed", in: context)
    }
    try await duet.settle()
    let store = try duet.there.site.access.ledger().storeID
    let outcome = try await duet.here.engine.revert(RevertRequest(.store(store), since: 0))
    #expect(outcome.done.map(\.kind) == [.delete])
    #expect(outcome.kept.map(\.reason) == [.formerValueUnknown])
    try await duet.settle()
    #expect(try duet.there.site.picture() == ["item k changed 1.0 ^- []", "tag t n"])
    try await duet.close()
  }

  @Test func aPlanThatNoLongerHoldsIsNotCarriedOutAndOneRefusalDoesNotStopTheRest() async throws {
    let duet = try await Duet.make()
    try duet.here.site.write { context in
      _ = try duet.here.site.insert("Tag", ["name": "unique", "note": "old"], in: context)
      _ = try duet.here.site.insert("Tag", ["name": "other", "note": "old"], in: context)
    }
    try await duet.settle()
    try duet.here.write(by: "anna") { context in
      for name in ["unique", "other"] {
        context.delete(try #require(try duet.here.site.find("Tag", name, in: context)))
      }
    }
    try await duet.settle()
    let plan = try await duet.here.engine.planRevert(request("anna"))
    #expect(plan.steps.count == 2)
    try duet.here.write(by: "bert") {
      _ = try duet.here.site.insert("Tag", ["name": "unique", "note": "new"], in: $0)
    }
    try await duet.settle()
    let wrong = await #expect(throws: SyncError.self) {
      try await duet.here.engine.revert(request("anna"), plan: "another")
    }
    #expect(wrong?.code == .planChanged)
    let outcome = try await duet.here.engine.revert(request("anna"), plan: plan.id)
    #expect(outcome.done.count == 1)
    guard case .refused(let why)? = outcome.kept.first?.reason else {
      Issue.record("\(outcome.kept)")
      return
    }
    #expect(why.contains("Tag.name unique"))
    try await duet.settle()
    #expect(
      try duet.there.site.picture() == [
        "item k first 1.0 ^- []", "tag other old", "tag t n", "tag unique new",
      ])
    try await duet.close()
  }

  @Test func whatCannotBeKnownIsNotMadeUp() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.insert(["gone"])
    try HistoryCapture(access: daemon.site.access).run()
    try daemon.write(by: "anna") { context in
      context.delete(try #require(try daemon.site.find("Item", "gone", in: context)))
    }
    // No other store has ever had it.
    let plan = try await daemon.engine.planRevert(request("anna"))
    #expect(plan.steps.isEmpty && plan.kept.map(\.reason) == [.valuesUnknown(["key"])])
    let nobody = try await daemon.engine.planRevert(request("nobody"))
    #expect(nobody.steps.isEmpty && nobody.kept.isEmpty)
    try await daemon.close()
  }
}
