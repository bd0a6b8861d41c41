import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 7: `restore` writes the losing value back as a new change.
struct RestoreTests {
  private func only(
    _ duet: Duet, _ filter: ConflictFilter = ConflictFilter()
  ) async throws -> JournaledConflict {
    let found = try await duet.here.engine.conflicts(matching: filter).conflicts
    try #require(found.count == 1, "\(found.map(\.conflict))")
    return found[0]
  }

  @Test func aLosingValueIsBackInAllStoresAndTwiceChangesNothingMore() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: { try duet.here.set("k", "value", "mine", in: $0) },
      there: { try duet.there.set("k", "value", "theirs", in: $0) })
    let conflict = try await only(duet)
    let outcome = try await duet.here.engine.restore(conflict.id, as: "anna")
    #expect(outcome.isChanged && !outcome.isRevived)
    #expect(try await !duet.here.engine.restore(conflict.id, as: "anna").isChanged)
    try await duet.settle()
    #expect(try duet.there.item("k", "value") == "mine")
    // What it replaced had been seen: no conflict.
    #expect(try await duet.there.engine.conflicts().conflicts.count <= 1)
    let history = try duet.here.site.access.history().readHistory(HistoryReadRequest())
    #expect(history.filter { $0.author == "anna" }.count == 1)
    try await duet.close()
  }

  @Test func aRecordThatWasDeletedComesBackWithAllThatIsKnownOfIt() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: { try duet.here.set("k", "value", "mine", in: $0) },
      there: { context in
        context.delete(try #require(try duet.there.site.find("Item", "k", in: context)))
      })
    #expect(try duet.here.item("k", "value") == nil)
    let conflict = try await only(duet, ConflictFilter(rules: [.deleteWon]))
    let outcome = try await duet.here.engine.restore(conflict.id)
    #expect(outcome.isRevived)
    try await duet.settle()
    #expect(try duet.there.site.picture() == ["item k mine 1.0 ^- []", "tag t n"])
    #expect(try duet.here.site.picture() == duet.there.site.picture())
    #expect(try duet.there.record("Item", "k") == conflict.conflict.record)
    #expect(try await duet.here.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await duet.close()
  }

  /// What refers to the record, or went along with it, unseen by the one who deleted it, waits for it.
  @Test func whatWaitedForARecordIsThereAgainWithIt() async throws {
    let duet = try await Duet.make()
    try duet.here.insert(["child"])
    try await duet.concurrently(
      here: { context in
        let item = try #require(try duet.here.site.find("Item", "k", in: context))
        try duet.here.set("child", "parent", item, in: context)
        try duet.here.set("k", "value", "mine", in: context)
        _ = try duet.here.site.insert("Part", ["key": "p", "item": item], in: context)
      },
      there: { context in
        context.delete(try #require(try duet.there.site.find("Item", "k", in: context)))
      })
    #expect(try duet.here.site.picture() == ["item child child nil ^- []", "tag t n"])
    let filter = ConflictFilter(property: "value", rules: [.deleteWon])
    let conflict = try await only(duet, filter)
    #expect(try await duet.here.engine.restore(conflict.id).isRevived)
    try await duet.settle()
    for daemon in [duet.here, duet.there] {
      #expect(
        try daemon.site.picture() == [
          "item child child nil ^k []", "item k mine 1.0 ^- []", "tag t n", "part p of k at 0",
        ])
      #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    }
    try await duet.close()
  }

  @Test func whereDeletesWinADeletedRecordDoesNotComeBack() async throws {
    let duet = try await Duet.make(policy: .deleteWins)
    try await duet.concurrently(
      here: { context in
        context.delete(try #require(try duet.here.site.find("Item", "k", in: context)))
      },
      there: { try duet.there.set("k", "value", "late", in: $0) })
    let conflict = try await only(duet, ConflictFilter(property: "value"))
    let error = await #expect(throws: SyncError.self) {
      try await duet.here.engine.restore(conflict.id)
    }
    #expect(error?.code == .notAllowed && error?.message.contains("Item") == true)
    #expect(try duet.here.item("k", "key") == nil)
    try await duet.close()
  }

  @Test func aDeleteThatLostIsMadeAgain() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: { context in
        context.delete(try #require(try duet.here.site.find("Item", "k", in: context)))
      },
      there: { try duet.there.set("k", "value", "late", in: $0) })
    #expect(try duet.here.item("k", "value") == "late")
    let conflict = try await only(duet, ConflictFilter(rules: [.writeWon]))
    #expect(try await duet.here.engine.restore(conflict.id).isChanged)
    #expect(try await !duet.here.engine.restore(conflict.id).isChanged)
    try await duet.settle()
    #expect(try duet.there.site.picture() == ["tag t n"])
    try await duet.close()
  }

  @Test func aLinkThatLostIsAddedAgain() async throws {
    let duet = try await Duet.make()
    func tag(_ daemon: SyncEngineTests.Daemon, _ isSet: Bool, _ context: ManagedObjectContext)
      throws
    {
      let tag = try #require(try daemon.site.find("Tag", "t", in: context))
      try daemon.set("k", "tags", isSet ? Set([tag]) : Set<ManagedObject>(), in: context)
    }
    // Both know the link; one removes and adds it, the other removes it later.
    try duet.here.site.write { try tag(duet.here, true, $0) }
    try await duet.settle()
    try await duet.concurrently(
      here: { context in
        try tag(duet.here, false, context)
        try context.save()
        try HistoryCapture(access: duet.here.site.access).run()
        try tag(duet.here, true, context)
      },
      there: { try tag(duet.there, false, $0) })
    let conflict = try await only(duet)
    #expect(conflict.conflict.member != nil)
    #expect(try await duet.here.engine.restore(conflict.id).isChanged)
    try await duet.settle()
    #expect(try duet.there.site.picture().first?.hasSuffix("[\"t\"]") == true)
    #expect(try await !duet.here.engine.restore(conflict.id).isChanged)
    try await duet.close()
  }

  @Test func aMemberGoesBackToThePlaceThatLost() async throws {
    let duet = try await Duet.make()
    try duet.here.site.write { context in
      let item = try #require(try duet.here.site.find("Item", "k", in: context))
      for key in ["a", "b", "c", "d"] {
        _ = try duet.here.site.insert("Part", ["key": key, "item": item], in: context)
      }
      let parts = try duet.here.site.all("Part", in: context)
      item.setValue(NSOrderedSet(array: parts), forKey: "parts")
    }
    try await duet.settle()
    func order(
      _ keys: [String], _ daemon: SyncEngineTests.Daemon, _ context: ManagedObjectContext
    ) throws {
      let parts = try keys.map { try #require(try daemon.site.find("Part", $0, in: context)) }
      try daemon.set("k", "parts", NSOrderedSet(array: parts), in: context)
    }
    try await duet.concurrently(
      here: { try order(["d", "a", "b", "c"], duet.here, $0) },
      there: { try order(["a", "d", "b", "c"], duet.there, $0) })
    func list(_ daemon: SyncEngineTests.Daemon) throws -> [String] {
      try daemon.site.write { context in
        Fleet.Site.list("parts", of: try #require(try daemon.site.find("Item", "k", in: context)))
      }
    }
    #expect(try list(duet.here) == ["a", "d", "b", "c"])
    let conflict = try await only(duet, ConflictFilter(property: "item"))
    #expect(try await duet.here.engine.restore(conflict.id).isChanged)
    try await duet.settle()
    #expect(try list(duet.there) == ["d", "a", "b", "c"])
    #expect(try await !duet.here.engine.restore(conflict.id).isChanged)
    try await duet.close()
  }

  @Test func aValueThatIsTakenNamesTheProperty() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: { context in
        try duet.here.site.find("Tag", "t", in: context)?.setValue("mine", forKey: "name")
      },
      there: { context in
        try duet.there.site.find("Tag", "t", in: context)?.setValue("theirs", forKey: "name")
      })
    let conflict = try await only(duet)
    try duet.here.site.write { _ = try duet.here.site.insert("Tag", ["name": "mine"], in: $0) }
    let error = await #expect(throws: SyncError.self) {
      try await duet.here.engine.restore(conflict.id)
    }
    #expect(error?.code == .valueTaken && error?.message.contains("Tag.name mine") == true)
    try await duet.close()
  }

  @Test func aValueThatIsNotValidNamesTheProperty() async throws {
    let duet = try await Duet.make()
    let ledger = try duet.here.site.access.ledger()
    let stamp = Stamp(clock: ClockReading(bits: 99), store: StoreID(high: 1, low: 1))
    let record = try duet.here.record("Item", "k")
    func conflict(_ property: String, _ value: WireValue) -> Conflict {
      Conflict(
        record: record, entity: "Item", property: property, losingValue: value,
        losingStamp: stamp, winningValue: .null, winningStamp: stamp, rule: .lastWriter)
    }
    let entries = [
      conflict("value", .string(String(repeating: "x", count: 200))), conflict("key", .null),
      conflict("other", .string("text")), conflict("gone", .null),
      conflict("parent", .reference(RecordID(high: 5, low: 5))),
    ]
    _ = try ledger.journal(entries, time: 1)
    #expect(try duet.here.site.access.commit(ledger))
    let expected: [(String, SyncError.Code)] = [
      ("value", .invalidRecord), ("key", .invalidRecord), ("other", .invalidRecord),
      ("gone", .noSuchProperty), ("parent", .notAllowed),
    ]
    for (property, code) in expected {
      let found = try await only(duet, ConflictFilter(property: property))
      let error = await #expect(throws: SyncError.self) {
        try await duet.here.engine.restore(found.id)
      }
      #expect(error?.code == code, "\(property): \(error?.message ?? "")")
      #expect(error?.message.contains(property) == true, "\(error?.message ?? "")")
    }
    #expect(try duet.here.site.picture() == ["item k first 1.0 ^- []", "tag t n"])
    try await duet.close()
  }

  /// Specification: sync.md 2.7: sync invents no state that no writer wrote.
  @Test func aDeletedRecordWhoseValuesNoStoreKnowsDoesNotComeBack() async throws {
    let duet = try await Duet.make()
    let record = try duet.here.record("Item", "k")
    try duet.here.site.write { context in
      context.delete(try #require(try duet.here.site.find("Item", "k", in: context)))
    }
    try await duet.settle()
    let stamp = Stamp(clock: ClockReading(bits: 99), store: StoreID(high: 1, low: 1))
    let conflict = Conflict(
      record: record, entity: "Item", property: "value", losingValue: .string("v"),
      losingStamp: stamp, winningValue: .null, winningStamp: stamp, rule: .lastWriter)
    let access = duet.here.site.access
    func decide(knowing known: [String: WireValue]) throws -> OperatorDecision {
      try ConflictRestoring(
        conflict: conflict, access: access, ledger: access.ledger(), known: known
      ).decide()
    }
    let error = #expect(throws: SyncError.self) { try decide(knowing: ["other": .double(1)]) }
    #expect(error?.code == .notAllowed && error?.message.contains("its key") == true)
    #expect(try decide(knowing: ["key": .string("k")]).edits.count == 2)
    try await duet.close()
  }

  @Test func aValueOfARecordThatWasUnitedGoesToTheSurvivor() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: { context in
        _ = try duet.here.site.insert("Tag", ["name": "same", "note": "mine"], in: context)
      },
      there: { context in
        _ = try duet.there.site.insert("Tag", ["name": "same", "note": "theirs"], in: context)
      })
    let conflict = try await only(duet, ConflictFilter(property: "note"))
    let outcome = try await duet.here.engine.restore(conflict.id)
    #expect(outcome.record == (try duet.here.record("Tag", "same")))
    try await duet.settle()
    #expect(try duet.there.site.picture().contains("tag same mine"))
    try await duet.close()
  }

  @Test func aRestoreBesideAWriterOfTheSameRecordLosesNothingOfEither() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: { try duet.here.set("k", "value", "mine", in: $0) },
      there: { try duet.there.set("k", "value", "theirs", in: $0) })
    let conflict = try await only(duet)
    let (engine, id) = (duet.here.engine, conflict.id)
    async let restored = engine.restore(id)
    for number in 0..<40 {
      var isSaved = false
      while !isSaved {
        do {
          try duet.here.site.write { try duet.here.set("k", "other", Double(number), in: $0) }
          isSaved = true
        } catch let error as CoreDataError where error.code == .managedObjectMerge {
          // The restore came first; a program tries again.
        }
      }
    }
    #expect(try await restored.isChanged)
    try await duet.settle()
    #expect(try duet.there.site.picture() == ["item k mine 39.0 ^- []", "tag t n"])
    try await duet.close()
  }
}
