import CairnPredicates
import Foundation
import TestSupport
import Testing

@testable import CairnModel

/// Archiving, copying and going through models and their parts: chapters 3 and II.2 of the
/// specification.
@Suite struct ElementCodingTests {
  private func roundTrip<Element: ModelElement>(_ element: Element) throws -> Element {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: element, requiringSecureCoding: true)
    let decoded = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [type(of: element), NSData.self], from: data)
    return try #require(decoded as? Element)
  }

  @Test("A model comes back equal and editable")
  func model() throws {
    let original = try SampleModels.everything()
    try original.prepareForUse()
    let decoded = try roundTrip(original)
    #expect(decoded == original && !decoded.isFrozen)
    #expect(decoded.versionChecksum == original.versionChecksum)
    #expect(decoded.entities.allSatisfy { $0.managedObjectModel === decoded })
    decoded.entities.first?.name = "Renamed"
  }

  @Test("An entity comes back with its own properties, indexes and constraints")
  func entity() throws {
    let model = try SampleModels.everything()
    let work = try #require(model.entitiesByName["Work"])
    let decoded = try roundTrip(work)
    #expect(decoded.name == "Work" && decoded.isAbstract)
    #expect(decoded.attributesByName.keys.sorted() == work.attributesByName.keys.sorted())
    #expect(decoded.constraintNames == work.constraintNames)
    #expect(decoded.indexes == work.indexes)
    let author = try #require(decoded.relationshipsByName["author"])
    #expect(author.destinationEntityName == "Author" && author.inverseRelationshipName == "works")
    #expect(decoded.managedObjectModel == nil)
  }

  @Test("Properties of each kind come back equal")
  func properties() throws {
    let model = try SampleModels.everything()
    var kinds: Set<String> = []
    for entity in model.entities {
      for property in entity.declaredProperties {
        let decoded = try roundTrip(property)
        #expect(decoded == property, "\(property.name)")
        #expect(decoded.entity == nil && type(of: decoded) == type(of: property))
        kinds.insert("\(type(of: property))")
      }
    }
    #expect(
      kinds == [
        "AttributeDescription", "CompositeAttributeDescription", "DerivedAttributeDescription",
        "FetchedPropertyDescription", "RelationshipDescription",
      ])
  }

  @Test("An expression description comes back equal")
  func expression() throws {
    let column = ExpressionDescription()
    column.name = "heaviest"
    column.expression = ObjectExpression(format: "max:(weight)")
    column.expressionResultType = .double
    let decoded = try roundTrip(column)
    #expect(decoded.expression == column.expression && decoded.expressionResultType == .double)
  }

  @Test("An index and its elements come back equal")
  func index() throws {
    let model = try SampleModels.everything()
    let index = try #require(model.entitiesByName["Work"]?.indexes.first)
    let decoded = try roundTrip(index)
    #expect(decoded == index && decoded.entity == nil)
    #expect(decoded.elements.allSatisfy { $0.indexDescription === decoded })
    let element = try #require(index.elements.first)
    #expect(try roundTrip(element) == element)
  }

  @Test("Bytes that are no model make no model")
  func damaged() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(Data("nonsense".utf8), forKey: "CairnCompiledModel")
    archiver.finishEncoding()
    let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    reader.decodingFailurePolicy = .setErrorAndReturn
    #expect(ManagedObjectModel(coder: reader) == nil)
  }

  @Test("copy() gives an editable element of the same class that is part of nothing")
  func copies() throws {
    let model = try SampleModels.everything()
    try model.prepareForUse()
    let copy = try #require(model.copy() as? ManagedObjectModel)
    #expect(copy == model && !copy.isFrozen)
    let author = try #require(model.entitiesByName["Author"])
    let entity = try #require(author.copy() as? EntityDescription)
    #expect(entity.managedObjectModel == nil && !entity.isFrozen && entity.name == "Author")
    let name = try #require(author.attributesByName["name"]?.copy() as? AttributeDescription)
    #expect(name.entity == nil && name == author.attributesByName["name"])
  }

  @Test("A part outlives its model without a dangling way back")
  func lifetime() throws {
    var model: ManagedObjectModel? = try SampleModels.everything()
    let entity = try #require(model?.entitiesByName["Author"])
    let property = try #require(entity.propertiesByName["name"])
    weak let gone = model
    model = nil
    #expect(gone == nil, "parts do not keep their model")
    #expect(entity.managedObjectModel == nil && property.entity === entity)
  }

  @Test("An entity of one model cannot be put into another")
  func twoModels() async {
    await #expect(processExitsWith: .failure) {
      let first = try SampleModels.everything()
      let second = ManagedObjectModel()
      second.entities = first.entities
    }
  }

  @Test("A model in use cannot be changed")
  func frozen() async {
    await #expect(processExitsWith: .failure) {
      let model = try SampleModels.everything()
      try model.prepareForUse()
      model.entities[0].name = "Other"
    }
  }

  @Test("The deprecated compound indexes are always empty; constraints come back as names")
  func leftovers() {
    let entity = EntityDescription(
      name: "A", properties: [AttributeDescription(name: "x", type: .string)])
    entity.compoundIndexes = [["x"]]
    #expect(entity.compoundIndexes.isEmpty && entity.uniquenessConstraints.isEmpty)
    entity.uniquenessConstraints = [entity.properties, ["x"]]
    #expect(entity.uniquenessConstraints as? [[String]] == [["x"], ["x"]])
  }

  @Test("Relationships to an entity are those to it and to its ancestors")
  func destinations() throws {
    let model = try SampleModels.everything()
    let author = try #require(model.entitiesByName["Author"])
    let book = try #require(model.entitiesByName["Book"])
    #expect(author.relationships(forDestination: book).map(\.name) == ["works"])
    #expect(book.relationships(forDestination: author).map(\.name) == ["author"])
    #expect(author.relationships(forDestination: author).map(\.name) == ["friends"])
  }
}
