// What Cairn adds to models, and `import CoreData` does not bring.

import Cairn
import Testing

@Suite struct ModelIterationTests {
  @Test("A model is a sequence of its entities, an entity one of its properties")
  func iteration() throws {
    let work = EntityDescription(
      name: "Work", properties: [AttributeDescription(name: "title", type: .string)])
    let book = EntityDescription(
      name: "Book", properties: [AttributeDescription(name: "pages", type: .integer32)])
    work.subentities = [book]
    let model = ManagedObjectModel()
    model.entities = [work, book]
    var names: [String] = []
    for entity in model { names.append(entity.name ?? "") }
    #expect(names == model.entities.map { $0.name ?? "" })
    #expect(book.map(\.name) == book.properties.map(\.name))
    #expect(book.contains { $0.name == "title" }, "inherited properties are among them")
  }

  @Test("Enumerations of models and mappings have all their values")
  func values() {
    #expect(Set(AttributeType.allCases).count == 16)
    #expect((0...2200).compactMap(AttributeType.init(rawValue:)) == AttributeType.allCases)
    #expect((0...9).compactMap(DeleteRule.init(rawValue:)) == DeleteRule.allCases)
    #expect((0...9).compactMap(EntityMappingType.init(rawValue:)) == EntityMappingType.allCases)
  }
}
