import CairnContext
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 7: each time a concurrent value loses, neither writer having seen the other,
/// an entry is kept, and otherwise none.
struct JournalCompletenessTests {
  private struct Pair {
    let fleet: Fleet
    let a: Fleet.Site
    let b: Fleet.Site

    init(policy: DeleteConflictPolicy = .lastWriter) throws {
      fleet = Fleet(seed: 77)
      a = try fleet.add("a") { $0.deleteConflicts = policy }
      b = try fleet.add("b") { $0.deleteConflicts = policy }
      try a.write { [a] context in
        let item = try a.insert("Item", ["key": "k", "value": "0", "other": 1.0], in: context)
        let tag = try a.insert("Tag", ["name": "t", "note": "n"], in: context)
        item.setValue(Set([tag]), forKey: "tags")
        for key in ["p", "q"] {
          _ = try a.insert("Part", ["key": key, "item": item], in: context)
        }
      }
      _ = try fleet.settle([(a, b)])
    }

    /// Writes of both, the second the later, then all in step.
    func write(
      a first: (Fleet.Site, ManagedObjectContext) throws -> Void,
      b second: (Fleet.Site, ManagedObjectContext) throws -> Void
    ) throws {
      try a.write { try first(a, $0) }
      try HistoryCapture(access: a.access).run()
      fleet.advance(10)
      try b.write { try second(b, $0) }
      try HistoryCapture(access: b.access).run()
      _ = try fleet.settle([(a, b)])
      #expect(try a.picture() == b.picture())
    }

    /// Of both stores, each entry once.
    func journal() throws -> [Conflict] {
      let entries = try [a, b].flatMap { site in
        let sidecar = try #require(site.store.capabilities.sidecar)
        return try sidecar.sidecarEntries(
          of: SyncMap.journal.rawValue, from: nil, to: nil, limit: 0
        )
        .map { try JournalEntry(decoding: $0.value) }
      }
      return Dictionary(entries.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        .values.map(\.conflict)
    }
  }

  private static func item(
    _ site: Fleet.Site, _ context: ManagedObjectContext
  ) throws -> ManagedObject { try #require(try site.find("Item", "k", in: context)) }

  @Test func anAttributeThatLosesIsKept() throws {
    let pair = try Pair()
    try pair.write(
      a: { try Self.item($0, $1).setValue("a", forKey: "value") },
      b: { try Self.item($0, $1).setValue("b", forKey: "value") })
    let journal = try pair.journal()
    #expect(journal.map(\.losingValue) == [.string("a")])
    #expect(journal.map(\.winningValue) == [.string("b")])
  }

  @Test func theSameValueAndWhatWasSeenAreNoConflicts() throws {
    let pair = try Pair()
    try pair.write(
      a: { try Self.item($0, $1).setValue("same", forKey: "value") },
      b: { try Self.item($0, $1).setValue("same", forKey: "value") })
    try pair.b.write { try Self.item(pair.b, $0).setValue("later", forKey: "value") }
    _ = try pair.fleet.settle([(pair.a, pair.b)])
    try pair.a.write { try Self.item(pair.a, $0).setValue("last", forKey: "value") }
    _ = try pair.fleet.settle([(pair.a, pair.b)])
    #expect(try pair.journal().isEmpty)
  }

  @Test func everyValueThatADeleteTakesUnseenIsKept() throws {
    let pair = try Pair()
    try pair.write(
      a: { try Self.item($0, $1).setValue("a", forKey: "value") },
      b: { $1.delete(try Self.item($0, $1)) })
    let journal = try pair.journal().filter { $0.rule == .deleteWon && $0.entity == "Item" }
    #expect(journal.map(\.property) == ["value"] && journal.map(\.losingValue) == [.string("a")])
  }

  @Test func aDeleteThatLosesToAWriteIsKept() throws {
    let pair = try Pair()
    try pair.write(
      a: { $1.delete(try Self.item($0, $1)) },
      b: { try Self.item($0, $1).setValue("b", forKey: "value") })
    #expect(try pair.journal().contains { $0.rule == .writeWon && $0.property == nil })
  }

  @Test func valuesOfARecordThatACascadeTakesUnseenAreKept() throws {
    let pair = try Pair(policy: .deleteWins)
    try pair.write(
      a: { $1.delete(try Self.item($0, $1)) },
      b: { site, context in
        _ = try site.insert(
          "Part", ["key": "unseen", "item": try Self.item(site, context)], in: context)
      })
    #expect(try pair.b.picture() == ["tag t n"])
    let journal = try pair.journal().filter { $0.entity == "Part" && $0.rule == .deleteWon }
    #expect(journal.contains { $0.property == "key" && $0.losingValue == .string("unseen") })
  }

  @Test func valuesOfUnitedRecordsThatLoseAreKept() throws {
    let pair = try Pair()
    try pair.write(
      a: { _ = try $0.insert("Tag", ["name": "same", "note": "a"], in: $1) },
      b: { _ = try $0.insert("Tag", ["name": "same", "note": "b"], in: $1) })
    let lost = try pair.journal().filter { $0.property == "note" }
    #expect(lost.map(\.losingValue) == [.string("a")])
  }

  @Test func aLinkThatLosesIsKept() throws {
    let pair = try Pair()
    func tags(_ names: [String], _ site: Fleet.Site, _ context: ManagedObjectContext) throws {
      let tags = try names.map { try #require(try site.find("Tag", $0, in: context)) }
      try Self.item(site, context).setValue(Set(tags), forKey: "tags")
    }
    try pair.write(
      a: { site, context in
        try tags([], site, context)
        try context.save()
        try HistoryCapture(access: site.access).run()
        pair.fleet.advance(1)
        try tags(["t"], site, context)
      }, b: { try tags([], $0, $1) })
    let lost = try pair.journal().filter { $0.property == "tags" }
    #expect(lost.count == 1 && lost.first?.losingValue.reference != nil)
  }

  @Test func aPlaceThatLosesIsKept() throws {
    let pair = try Pair()
    func order(_ keys: [String], _ site: Fleet.Site, _ context: ManagedObjectContext) throws {
      let parts = try keys.map { try #require(try site.find("Part", $0, in: context)) }
      try Self.item(site, context).setValue(NSOrderedSet(array: parts), forKey: "parts")
    }
    try pair.a.write { try order(["p", "q"], pair.a, $0) }
    try pair.a.write { context in
      _ = try pair.a.insert(
        "Part", ["key": "r", "item": try Self.item(pair.a, context)], in: context)
    }
    _ = try pair.fleet.settle([(pair.a, pair.b)])
    try pair.write(
      a: { try order(["r", "p", "q"], $0, $1) }, b: { try order(["p", "r", "q"], $0, $1) })
    let lost = try pair.journal().filter { $0.property == "item#position" }
    #expect(lost.count == 1)
  }

  /// A program writes over a value that its row could not show: neither has seen the other.
  @Test(arguments: [true, false])
  func aReferenceThatWaitedAndIsWrittenOverIsKept(staysUnknown: Bool) throws {
    let pair = try Pair()
    try pair.a.write { context in
      let parent = try pair.a.insert("Item", ["key": "unknown"], in: context)
      try Self.item(pair.a, context).setValue(parent, forKey: "parent")
    }
    try HistoryCapture(access: pair.a.access).run()
    let importer = Importer(fleet: pair.fleet, destination: pair.b)
    let all = try importer.everything(from: pair.a).records
    let child = try #require(all.first { $0.registers["key"]?.value == .string("k") })
    let parent = try #require(all.first { $0.registers["key"]?.value == .string("unknown") })
    try importer.deliver([child], from: pair.a)
    pair.fleet.advance(10)
    try pair.b.write { context in
      let other = try pair.b.insert("Item", ["key": "other"], in: context)
      try Self.item(pair.b, context).setValue(other, forKey: "parent")
    }
    if !staysUnknown { _ = try pair.fleet.settle([(pair.a, pair.b)]) }
    try HistoryCapture(access: pair.b.access).run()
    let found = try pair.journal()
    #expect(found.map(\.property) == ["parent"])
    #expect(found.map(\.losingValue) == [.reference(parent.id)])
    let other = try #require(
      try Importer(fleet: pair.fleet, destination: pair.a).everything(from: pair.b).records
        .first { $0.registers["key"]?.value == .string("other") })
    #expect(found.map(\.winningValue) == [.reference(other.id)])
  }
}
