@testable import Cairn
import CairnStore
import Foundation
import ParitySamples
import Testing

/// Chapters 24 and 25: a predicate means the same to SQLite, to a store in memory and to objects.
@Suite(.serialized) struct PredicateParityTests {
  private static let seed: UInt64 = 20_260_711
  // Used by one test at a time, because the suite is serialized.
  nonisolated(unsafe) private static let shared = Result { try ParityFixture(seed: seed) }

  @Test(arguments: ParityCases.all) func threeWaysAgree(_ sample: ParityCase) throws {
    let fixture = try Self.shared.get()
    let predicate = try ObjectPredicate.parse(sample.format)
    let answers = fixture.answers(predicate)
    #expect(answers.agree, "\(predicate): \(answers)")
    if sample.isSQL {
      #expect(answers.error == nil)
      let inMemory = try fixture.explanation(predicate).predicateInMemory
      #expect(inMemory == nil, "SQL should say all of \(predicate)")
    } else if answers.error == nil {
      #expect(try fixture.explanation(predicate).predicateInMemory != nil)
    }
  }

  @Test func objectsAndListsOfThemAgree() throws {
    let fixture = try Self.shared.get()
    try fixture.sqlite.performAndWait { try compareWithObjects(fixture) }
  }

  private func compareWithObjects(_ fixture: ParityFixture) throws {
    // Objects of one context cannot be asked of another store, so only SQLite and its objects.
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.sortDescriptors = [ObjectSortDescriptor(key: "n", ascending: true)]
    let items = try fixture.sqlite.fetch(request)
    let tag = try #require(
      try fixture.sqlite.fetch(FetchRequest<ManagedObject>(entityName: "Tag")).first)
    let owner = try #require(items.lazy.compactMap { $0.value(forKey: "owner") }.first)
    let cases: [(String, [Any?])] = [
      ("SELF == %@", [items[3]]), ("SELF != %@", [items[3].objectID]), ("SELF IN %@", [items]),
      ("SELF IN %@", [Set(items.prefix(5))]),
      ("NOT (SELF IN %@)", [items.prefix(5).map(\.objectID)]),
      ("owner == %@", [owner]), ("owner != %@", [owner]), ("owner IN %@", [[owner]]),
      ("whole IN %@", [items.prefix(20).map { $0 }]), ("tags CONTAINS %@", [tag]),
      ("%@ IN tags", [tag.objectID]), ("NONE tags == %@", [tag]), ("ANY parts IN %@", [items]),
      ("entity == %@", [items[1].entity]), ("owner == %@", [items[3]]),
      ("owner.items CONTAINS %@", [items[3]]),
      ("SUBQUERY(tags, $t, $t == %@).@count > 0", [tag]), ("ANY whole.tags == %@", [tag]),
    ]
    for (format, arguments) in cases {
      let predicate = try ObjectPredicate.parse(format, arguments: arguments)
      let answers = fixture.answers(predicate)
      #expect(answers.sqlite == answers.objects, "\(format): \(answers)")
    }
  }

  @Test func objectsOfAnotherStoreAreInNoRow() throws {
    let fixture = try Self.shared.get()
    let stranger = try #require(
      try fixture.memory.performAndWait {
        try fixture.memory.fetch(FetchRequest<ManagedObject>(entityName: "Owner")).first?.objectID
      })
    for format in ["owner == %@", "owner IN {%@}", "SELF == %@"] {
      let answers = fixture.answers(
        try ObjectPredicate.parse(format, arguments: [stranger]))
      #expect(answers.sqlite == [], "\(format)")
    }
  }

  @Test func sortsLimitsAndOffsetsAgree() throws {
    let fixture = try Self.shared.get()
    let predicates = ["j > 0", "FUNCTION(s, 'length') >= 0", "s != nil OR median(parts.j) > 1"]
    let selectors: [SelectorName] = [
      .compare, .caseInsensitiveCompare, .localizedCompare, .localizedCaseInsensitiveCompare,
      .localizedStandardCompare,
    ]
    for format in predicates {
      let predicate = try ObjectPredicate.parse(format)
      for key in ["s", "i", "f", "d", "flag", "at", "u", "link", "raw", "owner.name", "whole.j"] {
        for selector in key == "s" ? selectors : [.compare] {
          for ascending in [true, false] {
            let order = [ObjectSortDescriptor(key: key, ascending: ascending, selector: selector)]
            let answers = fixture.answers(predicate, sortedBy: order, limit: 9, offset: 4)
            #expect(answers.agree, "\(format) by \(order): \(answers)")
          }
        }
      }
    }
  }

  // MARK: Errors

  @Test(arguments: ["s IN %@", "s CONTAINS %@", "s BEGINSWITH[c] %@", "tags CONTAINS %@"])
  func nilOnTheRightIsAnErrorInCoreDatasWords(_ format: String) throws {
    let fixture = try Self.shared.get()
    let predicate = try ObjectPredicate.parse(format, arguments: [nil])
    let answers = fixture.answers(predicate)
    #expect(answers.sqlite == nil)
    #expect("\(answers.error.map { "\($0)" } ?? "")".contains("nil RHS"))
  }

  // MARK: Costs

  @Test func listsOfAHundredThousandConstantsAreFound() throws {
    let fixture = try Self.shared.get()
    for (format, list) in ParityLists.constants {
      let predicate = try ObjectPredicate.parse(format, arguments: [list, list])
      let answers = fixture.answers(predicate)
      #expect(answers.agree && answers.error == nil, "\(format)")
      #expect(answers.sqlite?.isEmpty == false, "\(format)")
    }
  }

  @Test func longAndDeepPredicatesStayWithinEveryLimit() throws {
    let fixture = try Self.shared.get()
    for (index, predicate) in try ParityLists.large().enumerated() {
      let answers = fixture.answers(predicate)
      #expect(answers.agree && answers.error == nil, "\(index): \(answers)")
    }
  }
}
