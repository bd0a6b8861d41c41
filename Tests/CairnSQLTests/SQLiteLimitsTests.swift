import CairnModel
import CairnPredicates
import Foundation
import Testing

@testable import CairnSQL

/// What SQLite stores do not make of a model is said.
@Suite struct SQLiteLimitsTests {
  /// A spot with one index, of elements by the names of properties or by expressions.
  private func problems(
    _ elements: [(name: String, type: FetchIndexElementType)], where condition: String? = nil
  ) -> [String] {
    let scratch = AttributeDescription(name: "scratch", type: .double)
    scratch.isTransient = true
    let friends = RelationshipDescription()
    friends.name = "friends"
    let spot = EntityDescription(
      name: "Spot",
      properties: [
        AttributeDescription(name: "x", type: .double),
        AttributeDescription(name: "title", type: .string), scratch, friends,
      ])
    friends.destinationEntity = spot
    let index = FetchIndexDescription(
      name: "byAll",
      elements: elements.map { name, type in
        if let property = spot.propertiesByName[name] {
          return FetchIndexElementDescription(property: property, collationType: type)
        }
        let computed = ExpressionDescription()
        computed.name = "computed"
        computed.expression = ObjectExpression(format: name)
        return FetchIndexElementDescription(property: computed, collationType: type)
      })
    index.partialIndexPredicate = condition.map { ObjectPredicate(format: $0) }
    spot.indexes = [index]
    let model = ManagedObjectModel()
    model.entities = [spot]
    let found = SQLiteLimits.indexProblems(of: model)
    #expect(found.allSatisfy { $0.code == "indexNotAsModelled" && $0.place == "Spot" })
    return found.map(\.message)
  }

  @Test func anIndexThatIsMadeAsModelledIsNoProblem() {
    #expect(problems([("x", .binary), ("title", .binary)], where: "x > 1").isEmpty)
    #expect(problems([("x", .rTree)]).isEmpty)
    #expect(problems([("x * 2", .binary)]).isEmpty)
  }

  @Test(arguments: ["scratch", "friends", "uppercase:(title)"])
  func anElementThatNoColumnHoldsKeepsTheIndexFromBeingMade(_ element: String) {
    let found = problems([("x", .binary), (element, .binary)])
    #expect(found.count == 1)
    #expect(found.first?.contains("do not make the index byAll") == true, "\(found)")
  }

  @Test func aLocationIndexIsOfNumbersAlone() {
    let mixed = problems([("x", .rTree), ("x", .binary)])
    #expect(mixed.count == 1 && mixed[0].contains("makes all of them ranges"), "\(mixed)")
    let text = problems([("title", .rTree)])
    #expect(text.count == 1 && text[0].contains("title is not"), "\(text)")
  }

  @Test(arguments: ["title CONTAINS 'a'", "x > 1 OR title LIKE 'b'"])
  func aConditionThatNoIndexCanHaveIsLeftOut(_ condition: String) {
    let found = problems([("x", .binary)], where: condition)
    #expect(found.count == 1 && found[0].contains("of all rows"), "\(found)")
  }
}
