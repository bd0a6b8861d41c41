import CairnModel
import Testing

/// What belongs to an entity of a model when the entity gets another name.
@Suite struct RenamedEntityTests {
  private let model: ManagedObjectModel

  init() {
    let fetched = FetchedPropertyDescription()
    fetched.name = "others"
    fetched.template = FetchRequestTemplate(entityName: "Book")
    model = ManagedObjectModel()
    model.entities = [
      EntityDescription(name: "Book"), EntityDescription(name: "Shelf", properties: [fetched]),
    ]
    model.setEntities(model.entities, forConfigurationName: "all")
    model.templatesByName = [
      "books": FetchRequestTemplate(entityName: "Book"),
      "shelves": FetchRequestTemplate(entityName: "Shelf"),
    ]
  }

  private var fetchedEntity: String? {
    let property = model.entities[1].propertiesByName["others"]
    return (property as? FetchedPropertyDescription)?.template?.entityName
  }

  @Test("Configurations and fetch requests stay those of the entity")
  func renamed() throws {
    model.entities[0].name = "Volume"
    let members = try #require(model.entities(forConfigurationName: "all"))
    #expect(members.compactMap(\.name) == ["Volume", "Shelf"])
    #expect(model.templatesByName["books"]?.entityName == "Volume")
    #expect(model.templatesByName["shelves"]?.entityName == "Shelf")
    #expect(fetchedEntity == "Volume")
  }

  @Test("An entity that the model lacks takes nothing along")
  func stranger() {
    let former = model.entities[0]
    model.entities = [EntityDescription(name: "Book"), model.entities[1]]
    former.name = "Volume"
    #expect(model.entities(forConfigurationName: "all")?.count == 2)
    #expect(model.templatesByName["books"]?.entityName == "Book" && fetchedEntity == "Book")
  }
}
