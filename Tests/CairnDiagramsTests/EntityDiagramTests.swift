// Which boxes and lines a model has.
import CairnControl
import Testing

@testable import CairnDiagrams

@Suite struct EntityDiagramTests {
  private func line(_ from: String, in diagram: EntityDiagram) -> [EntityDiagram.Line] {
    diagram.lines.filter { $0.from == from }
  }

  @Test func aRelationshipAndItsInverseAreOneLine() throws {
    let diagram = EntityDiagram(.library)
    let between = diagram.lines.filter { $0.kind != .inheritance }
    #expect(
      between == [
        .init(
          from: "Author", to: "Book",
          kind: .relationship(
            name: "books", isToMany: true, inverse: "author", inverseIsToMany: false))
      ])
  }

  @Test func whatIsInheritedStandsInTheSuperentityOnly() throws {
    let diagram = EntityDiagram(.library)
    let book = try #require(diagram.boxes.first { $0.entity == "Book" })
    let novel = try #require(diagram.boxes.first { $0.entity == "Novel" })
    #expect(book.rows.map(\.name) == ["title", "author"])
    #expect(novel.rows.map(\.name) == ["genre"])
    #expect(novel.superentity == "Book")
    #expect(
      diagram.lines.contains { $0 == .init(from: "Novel", to: "Book", kind: .inheritance) })
  }

  @Test func aRelationshipWithoutInverseIsALineOfItsOwn() {
    var model = ModelSummary.library
    model.entities[0].relationships.append(
      RelationshipSummary(
        name: "favourite", destination: "Book", isToMany: false, deleteRule: "nullify"))
    let favourite = EntityDiagram(model).lines.filter {
      if case .relationship("favourite", false, nil, _) = $0.kind { true } else { false }
    }
    #expect(favourite.map(\.to) == ["Book"])
  }

  @Test func aRelationshipThatIsItsOwnInverseIsOneLine() {
    let person = EntitySummary(
      name: "Person",
      relationships: [
        RelationshipSummary(
          name: "friends", destination: "Person", inverse: "friends", isToMany: true,
          deleteRule: "nullify")
      ])
    let diagram = EntityDiagram(ModelSummary(name: "People", entities: [person]))
    #expect(diagram.lines.count == 1)
    #expect(diagram.svg().contains("Person.friends"))
  }

  @Test func aDestinationThatTheModelLacksIsARowWithoutALine() {
    let entity = EntitySummary(
      name: "A",
      relationships: [
        RelationshipSummary(
          name: "gone", destination: "Nowhere", isToMany: false, deleteRule: "nullify")
      ])
    let diagram = EntityDiagram(ModelSummary(name: "M", entities: [entity]))
    #expect(diagram.boxes.first?.rows.map(\.type) == ["Nowhere"])
    #expect(diagram.lines.isEmpty)
  }
}

extension ModelSummary {
  /// Authors, books, and novels, which are books.
  static var library: ModelSummary {
    let title = AttributeSummary(name: "title", type: "String", isOptional: false)
    let author = RelationshipSummary(
      name: "author", destination: "Author", inverse: "books", isToMany: false,
      deleteRule: "nullify")
    return ModelSummary(
      name: "Library",
      entities: [
        EntitySummary(
          name: "Author",
          attributes: [AttributeSummary(name: "name", type: "String", isOptional: true)],
          relationships: [
            RelationshipSummary(
              name: "books", destination: "Book", inverse: "author", isToMany: true,
              deleteRule: "cascade")
          ]),
        EntitySummary(name: "Book", attributes: [title], relationships: [author]),
        EntitySummary(
          name: "Novel", superentity: "Book",
          attributes: [title, AttributeSummary(name: "genre", type: "String", isOptional: true)],
          relationships: [author]),
      ])
  }
}
