// Composite attributes in the predicates of fetches.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Testing

/// Core Data semantics, 16.3: what is unsaved and what is stored answer alike.
@Suite struct CompositeFetchTests {
  private func model() -> ManagedObjectModel {
    let origin = CompositeAttributeDescription()
    origin.name = "origin"
    origin.elements = [AttributeDescription(name: "x", type: .double)]
    let place = CompositeAttributeDescription()
    place.name = "place"
    place.elements = [AttributeDescription(name: "shelf", type: .string), origin]
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Thing", properties: [place, AttributeDescription(name: "name", type: .string)])
    ]
    return model
  }

  @Test(arguments: StoreChoice.allCases)
  func aCompositeIsNilWhereAllItsElementsAre(_ choice: StoreChoice) throws {
    try Stack(in: choice, model: model()).use { context in
      context.make("Thing", ["name": "on a shelf", "place": ["shelf": "a"]])
      context.make("Thing", ["name": "nowhere"])
      func names(_ format: String) throws -> [String] {
        try context.all("Thing", format, sortedBy: "name").compactMap { $0.text("name") }
      }
      for state in ["unsaved", "stored"] {
        try expect(names("place == nil"), is: ["nowhere"], "\(state)")
        try expect(names("place != nil"), is: ["on a shelf"], "\(state)")
        try expect(names("place.origin == nil"), is: ["nowhere", "on a shelf"], "\(state)")
        try expect(names("place.shelf == 'a'"), is: ["on a shelf"], "\(state)")
        try context.save()
      }
    }
  }
}
