// Rows come in the same order from PostgreSQL and from memory, nil first, and limits cut them alike.

import CairnContext
import CairnModel
import CairnPredicates
import Foundation
import ParitySamples
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer, .serialized) struct SortParityTests {
  // Used by one test at a time, because the suite is serialized.
  nonisolated(unsafe) private static let shared = Result { try ParityFixture(seed: 20_260_711) }

  @Test func sortsLimitsAndOffsetsAgree() throws {
    let fixture = try Self.shared.get()
    let predicates = ["j > 0", "length(s) >= 0", "s != nil OR median(parts.j) > 1"]
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
            let answers = fixture.numbers(predicate, sortedBy: order, limit: 9, offset: 4)
            #expect(answers.agree && answers.error == nil, "\(format) by \(order): \(answers)")
          }
        }
      }
    }
  }

  @Test func anOffsetWithoutLimitAndCountsOfAWindowAgree() throws {
    let fixture = try Self.shared.get()
    for format in ["j > 0", "uppercase(s) == 'A' OR j > 2"] {
      let predicate = try ObjectPredicate.parse(format)
      let numbers = fixture.numbers(predicate, offset: 5)
      #expect(numbers.agree && numbers.error == nil, "\(format): \(numbers)")
      for (limit, offset) in [(0, 0), (5, 0), (0, 7), (4, 100), (3, 2)] {
        let counts = fixture.answers { context in
          let request = FetchRequest<ManagedObject>(entityName: "Item")
          request.predicate = predicate
          request.fetchLimit = limit
          request.fetchOffset = offset
          return try context.count(for: request)
        }
        #expect(counts.agree && counts.error == nil, "\(format) \(limit) \(offset): \(counts)")
      }
    }
  }

  @Test func rowsWithoutOrderComeByTheirKeys() throws {
    let fixture = try Self.shared.get()
    let answers = fixture.answers { context in
      let request = FetchRequest<ManagedObject>(entityName: "Special")
      request.predicate = ObjectPredicate(format: "n >= 0")
      return try context.fetch(request).map { $0.value(forKey: "n") as? Int ?? -1 }
    }
    #expect(answers.postgreSQL == answers.postgreSQL?.sorted())
    #expect(answers.postgreSQL?.count == 9)
  }
}
