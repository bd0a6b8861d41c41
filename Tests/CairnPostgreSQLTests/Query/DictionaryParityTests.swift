// Columns, groups and aggregates are the same in PostgreSQL and in memory.

import CairnContext
import CairnModel
import CairnPredicates
import Foundation
import ParitySamples
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer, .serialized) struct DictionaryParityTests {
  // Used by one test at a time, because the suite is serialized.
  nonisolated(unsafe) private static let shared = Result { try ParityFixture(seed: 20_261_126) }

  private func column(
    _ name: String, _ function: String, _ argument: ObjectExpression, _ type: AttributeType
  ) -> ExpressionDescription {
    let column = ExpressionDescription()
    column.name = name
    column.expression = ObjectExpression(forFunction: function, arguments: [argument])
    column.expressionResultType = type
    return column
  }

  private func column(
    _ function: String, _ key: String, _ type: AttributeType = .undefined
  ) -> ExpressionDescription {
    column("\(function)\(key)", function, ObjectExpression(forKeyPath: key), type)
  }

  /// What a request gives, as texts; in any order where the request has none.
  private func compare(
    _ change: (FetchRequest<NSDictionary>) throws -> Void
  ) throws -> ParityFixture.Answers<[String]> {
    let fixture = try Self.shared.get()
    return fixture.answers { context in
      let request = FetchRequest<NSDictionary>(entityName: "Item")
      request.resultType = .dictionaryResultType
      try change(request)
      let rows = try context.fetch(request).map { row in
        (row as? [String: Any] ?? [:]).map { "\($0)=\(Self.text(of: $1))" }.sorted()
          .joined(separator: " ")
      }
      return request.sortDescriptors?.isEmpty == false ? rows : rows.sorted()
    }
  }

  /// IDs differ from store to store but for the row they mean.
  private static func text(of value: Any) -> String {
    if let id = value as? ManagedObjectID { return "\(id.entity.name ?? "")/\(id.rowKey ?? 0)" }
    return "\(type(of: value)) \(value)"
  }

  private func column(at path: String) -> ExpressionDescription {
    let column = ExpressionDescription()
    column.name = path
    column.expression =
      path == "self" ? .expressionForEvaluatedObject() : ObjectExpression(forKeyPath: path)
    return column
  }

  @Test(arguments: [
    "s", "i", "j", "f", "g", "d", "flag", "at", "u", "link", "raw", "owner", "owner.name",
    "owner.age",
    "self", "entity.name", "parts.@count", "parts.@sum.j", "tags.@max.weight", "whole.at",
  ])
  func columnsOfEachKindAgree(_ key: String) throws {
    let answers = try compare { request in
      request.propertiesToFetch = ["n", column(at: key)]
      request.sortDescriptors = [ObjectSortDescriptor(key: "n", ascending: true)]
    }
    #expect(answers.agree && answers.error == nil, "\(answers)")
    #expect(answers.postgreSQL?.count == 60)
    let distinct = try compare { request in
      request.propertiesToFetch = [column(at: key)]
      request.returnsDistinctResults = true
    }
    #expect(distinct.agree && distinct.error == nil, "\(distinct)")
  }

  @Test func distinctRowsAreSortedByWhatTheyHaveAndByWhatTheyHaveNot() throws {
    for (columns, key) in [(["j"], "j"), (["j", "flag"], "flag"), (["at"], "at"), (["j"], "n")] {
      for ascending in [true, false] {
        let answers = try compare { request in
          request.propertiesToFetch = columns
          request.returnsDistinctResults = true
          request.sortDescriptors = [ObjectSortDescriptor(key: key, ascending: ascending)]
        }
        #expect(answers.agree || columns == ["j", "flag"], "\(columns) by \(key): \(answers)")
        #expect(answers.postgreSQL?.count == answers.memory?.count)
      }
    }
  }

  @Test func aggregatesAgree() throws {
    let functions = ["count:", "sum:", "min:", "max:", "average:", "median:"]
    for key in ["i", "j", "f", "g", "d", "at", "s"] {
      for function in functions {
        if key == "s" || key == "at", ["sum:", "average:", "median:"].contains(function) {
          continue
        }
        for predicate in ["TRUEPREDICATE", "n < 0", "i < 10 AND i > -10 AND f < 10 AND f > -10"] {
          let answers = try compare { request in
            request.propertiesToFetch = [column(function, key)]
            request.predicate = ObjectPredicate(format: predicate)
          }
          #expect(answers.agree, "\(function) \(key) where \(predicate): \(answers)")
        }
      }
    }
  }

  @Test func aSumThatNoIntegerHoldsIsAnErrorOrADouble() throws {
    for (type, isError) in [(AttributeType.integer64, true), (.double, false), (.decimal, false)] {
      let answers = try compare { request in
        request.propertiesToFetch = [column("sum:", "i", type)]
        request.predicate = ObjectPredicate(format: "i > 9000000000000000000")
      }
      #expect(answers.agree, "\(answers)")
      #expect((answers.error != nil) == isError)
    }
  }

  @Test func groupsAgree() throws {
    let columns = [
      column("count:", "n"), column("sum:", "j"), column("max:", "at"), column("min:", "s"),
      column("average:", "g"),
    ]
    for key in ["j", "flag", "owner.name", "s", "at", "entity.name"] {
      for having in [nil, "j > 1", "%@ > 4"] {
        let answers = try compare { request in
          let group = column(at: key)
          request.propertiesToFetch = [group] + columns
          request.propertiesToGroupBy = [group]
          request.havingPredicate = having.map {
            $0.hasPrefix("j")
              ? ObjectPredicate(format: key == "j" ? $0 : "TRUEPREDICATE")
              : ObjectPredicate(
                format: $0, columns[0].expression ?? ObjectExpression(forKeyPath: "n"))
          }
          request.predicate = ObjectPredicate(format: "n < 50")
          if key != "entity.name" {
            request.sortDescriptors = [ObjectSortDescriptor(key: key, ascending: false)]
          }
        }
        #expect(answers.agree && answers.error == nil, "\(key) \(having ?? ""): \(answers)")
      }
    }
  }

  @Test func memoryChoosesRowsAndSQLMakesTheColumns() throws {
    let answers = try compare { request in
      request.propertiesToFetch = ["flag", column("sum:", "j"), column("count:", "n")]
      request.propertiesToGroupBy = ["flag"]
      request.predicate = ObjectPredicate(format: "uppercase(s) != 'A' AND n > 3")
      request.sortDescriptors = [ObjectSortDescriptor(key: "flag", ascending: true)]
    }
    #expect(answers.agree && answers.error == nil, "\(answers)")
    #expect(answers.postgreSQL?.count == 3)
  }

  @Test func columnsWithConstantsAreGroupedByTheirText() throws {
    let sum = ObjectExpression(
      forFunction: "add:to:",
      arguments: [ObjectExpression(forKeyPath: "j"), ObjectExpression(forConstantValue: 1)])
    let next = ExpressionDescription()
    next.name = "next"
    next.expression = sum
    next.expressionResultType = .integer64
    let answers = try compare { request in
      request.propertiesToFetch = [next, column("count:", "n")]
      request.propertiesToGroupBy = [next]
      request.predicate = ObjectPredicate(format: "j < 4")
    }
    #expect(answers.agree && answers.error == nil, "\(answers)")
    #expect(answers.postgreSQL?.count == 4)
  }
}
