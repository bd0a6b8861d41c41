// Diagrams as text for browsers and for other programs.
import CairnControl
import CairnDiagrams
import Foundation
import FoundationXML
import Testing

@Suite struct DiagramWritingTests {
  private let hostile = "<b>&\"'\u{1}\n\\é日"

  private var hostileModel: ModelSummary {
    ModelSummary(
      name: hostile,
      entities: [
        EntitySummary(
          name: hostile,
          attributes: [AttributeSummary(name: hostile, type: hostile, isOptional: true)],
          relationships: [
            RelationshipSummary(
              name: "to" + hostile, destination: hostile, isToMany: true, deleteRule: "nullify")
          ])
      ])
  }

  @Test func svgOfAnyNamesIsWellFormed() throws {
    for model in [.library, hostileModel] {
      let svg = EntityDiagram(model).svg { "/entities/\($0)" }
      let document = try XMLDocument(data: Data(svg.utf8))
      #expect(document.rootElement()?.name == "svg")
    }
  }

  @Test func svgHasATitleALinkAndALineForEachPair() {
    let svg = EntityDiagram(.library).svg { $0 == "Book" ? "/entities/Book" : nil }
    #expect(svg.contains("<title id=\"diagram-title\">Entities of Library</title>"))
    #expect(svg.components(separatedBy: "<a href=").count == 2)
    #expect(
      svg.contains("<title>Author.books leads to many Book, Book.author to one Author</title>"))
    #expect(svg.contains("<title>Novel inherits from Book</title>"))
  }

  @Test func coloursAreInsideOnlyWhereThePageHasNone() {
    let diagram = EntityDiagram(.library)
    #expect(diagram.svg(style: .own).contains("<style>"))
    #expect(!diagram.svg(style: .ofThePage).contains("style"))
  }

  @Test func graphvizNamesAreQuoted() {
    let dot = EntityDiagram(hostileModel).dot()
    #expect(dot.contains("\"<b>&\\\"'\u{1}\\n\\\\é日\""))
    #expect(dot.hasPrefix("digraph ") && dot.hasSuffix("}\n"))
    let library = EntityDiagram(.library).dot()
    #expect(
      library.contains(
        "\"Author\" -> \"Book\" [dir=both arrowhead=veevee arrowtail=vee label=\"books / author\"]")
    )
    #expect(library.contains("\"Novel\" -> \"Book\" [arrowhead=onormal]"))
  }

  @Test func mermaidHasEntitiesAttributesAndCardinalities() {
    let text = EntityDiagram(.library).mermaid()
    #expect(text.hasPrefix("erDiagram\n"))
    #expect(text.contains("  Book {\n    String title\n  }\n"))
    #expect(text.contains("  Author |o--o{ Book : \"books / author\"\n"))
    #expect(text.contains("  Book ||..|| Novel : \"superentity of\"\n"))
    // Mermaid has no escapes: a quoted name holds neither quotes nor line ends.
    let lines = EntityDiagram(hostileModel).mermaid().split(separator: "\n")
    #expect(lines.count == 5)
    #expect(lines.dropFirst().first == "  \"<b>&''  \\é日\" {")
  }
}
