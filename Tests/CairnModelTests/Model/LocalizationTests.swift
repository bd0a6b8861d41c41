import Foundation
import TestSupport
import Testing

@testable import CairnModel

/// Names for people, and requests from templates.
@Suite struct LocalizationTests {
  private func library() throws -> (
    model: ManagedObjectModel, work: EntityDescription, book: EntityDescription
  ) {
    let model = try SampleModels.everything()
    return (
      model, try #require(model.entitiesByName["Work"]),
      try #require(model.entitiesByName["Book"])
    )
  }

  @Test("Without a dictionary things have their own names")
  func none() throws {
    let (model, work, _) = try library()
    let title = try #require(work.attributesByName["title"])
    #expect(model.localizedName(of: work) == "Work")
    #expect(model.localizedName(of: title, in: work) == "title")
    #expect(model.localizedErrorString("too long") == "too long")
  }

  @Test("The entity's own text comes before an ancestor's, that before the general one")
  func precedence() throws {
    let (model, work, book) = try library()
    let title = try #require(work.attributesByName["title"])
    let year = try #require(work.attributesByName["year"])
    model.localizationDictionary = [
      "Entity/Book": "Buch", "Property/title": "Name", "Property/title/Entity/Work": "Werktitel",
      "Property/title/Entity/Book": "Buchtitel", "Property/year": "Jahr",
      "ErrorString/too long": "zu lang",
    ]
    #expect(model.localizedName(of: book) == "Buch")
    #expect(model.localizedName(of: work) == "Work")
    #expect(model.localizedName(of: title, in: book) == "Buchtitel")
    #expect(model.localizedName(of: title, in: work) == "Werktitel")
    #expect(model.localizedName(of: year, in: book) == "Jahr")
    model.localizationDictionary?["Property/title/Entity/Book"] = nil
    #expect(model.localizedName(of: title, in: book) == "Werktitel")
    #expect(model.localizedErrorString("too long") == "zu lang")
    #expect(model.localizedErrorString("other") == "other")
  }

  @Test("A template takes its variables and stays as it was")
  func substitution() throws {
    let (model, _, _) = try library()
    let template = try #require(
      model.template(named: "thick", substitutionVariables: ["PAGES": 300]))
    #expect(template.predicate?.predicateFormat == "pages >= 300")
    #expect(template.fetchLimit == 10)
    #expect(model.templatesByName["thick"]?.predicate?.predicateFormat == "pages >= $PAGES")
    #expect(model.template(named: "thin", substitutionVariables: [:]) == nil)
  }
}
