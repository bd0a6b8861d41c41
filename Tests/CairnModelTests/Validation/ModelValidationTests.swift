import Foundation
import TestSupport
import Testing

@testable import CairnModel

/// What a usable model keeps to, one test for each rule.
@Suite struct ModelValidationTests {
  /// The codes of everything that is wrong with a model of these entities, with their places.
  private func problems(
    _ entities: [EntityDescription], _ change: (ManagedObjectModel) -> Void = { _ in }
  ) -> [String] {
    let model = ManagedObjectModel()
    model.entities = entities
    change(model)
    return ModelValidation.problems(of: model).map { "\($0.place) \($0.code)" }
  }

  private func attribute(
    _ name: String, _ type: AttributeType = .string, default value: Any? = nil
  ) -> AttributeDescription {
    AttributeDescription(name: name, type: type, defaultValue: value)
  }

  private func relationship(
    _ name: String, to destination: EntityDescription?, max: Int = 0, min: Int = 0
  ) -> RelationshipDescription {
    let relationship = RelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = max
    relationship.minCount = min
    return relationship
  }

  @Test("A model without problems has none")
  func fine() throws {
    let sample = try SampleModels.everything()
    #expect(ModelValidation.problems(of: sample) == [])
    #expect(problems([]) == [])
  }

  @Test("Every entity has a name")
  func entityNames() {
    #expect(
      problems([EntityDescription(name: "A"), EntityDescription()]) == [
        "entity 2 missingEntityName"
      ])
  }

  @Test("Entities have different names")
  func duplicateEntities() {
    let entities = [EntityDescription(name: "A"), EntityDescription(name: "A")]
    #expect(problems(entities) == ["A duplicateEntityName"])
  }

  @Test("Every property has a name")
  func propertyNames() {
    let entity = EntityDescription(name: "A", properties: [attribute("x"), attribute("")])
    #expect(problems([entity]) == ["A, property 2 missingPropertyName"])
  }

  @Test("Properties of an entity have different names")
  func duplicateProperties() {
    let entity = EntityDescription(name: "A", properties: [attribute("x"), attribute("x")])
    #expect(problems([entity]) == ["A.x duplicatePropertyName"])
  }

  @Test("A subentity does not declare an inherited property again")
  func inheritedProperties() {
    let parent = EntityDescription(name: "A", properties: [attribute("x")])
    let child = EntityDescription(name: "B", properties: [attribute("x")])
    parent.subentities = [child]
    #expect(problems([parent, child]) == ["B.x inheritedPropertyName"])
  }

  @Test(
    "Names that every object uses are refused", arguments: ["objectID", "description", "isFault"])
  func reservedNames(name: String) {
    let entity = EntityDescription(name: "A", properties: [attribute(name)])
    #expect(problems([entity]) == ["A.\(name) reservedPropertyName"])
  }

  @Test("A property name holds no dot")
  func dottedNames() {
    let entity = EntityDescription(name: "A", properties: [attribute("x.y")])
    #expect(problems([entity]) == ["A.x.y invalidPropertyName"])
  }

  @Test("An attribute that is stored has a type")
  func undefinedType() {
    let transient = attribute("t", .undefined)
    transient.isTransient = true
    let entity = EntityDescription(name: "A", properties: [attribute("x", .undefined), transient])
    #expect(problems([entity]) == ["A.x undefinedType"])
  }

  @Test("An attribute that is stored holds no object ID")
  func objectIDType() {
    let entity = EntityDescription(name: "A", properties: [attribute("x", .objectID)])
    #expect(problems([entity]) == ["A.x objectIDType"])
  }

  @Test("A derived attribute has an expression")
  func derivation() {
    let derived = DerivedAttributeDescription()
    derived.name = "x"
    derived.attributeType = .integer64
    #expect(
      problems([EntityDescription(name: "A", properties: [derived])]) == ["A.x missingDerivation"])
  }

  @Test("An attribute of composite type has elements")
  func compositeWithoutElements() {
    let entity = EntityDescription(name: "A", properties: [attribute("x", .composite)])
    #expect(problems([entity]) == ["A.x compositeWithoutElements"])
  }

  @Test("The elements of a composite have different names")
  func compositeElements() {
    let composite = CompositeAttributeDescription()
    composite.name = "x"
    composite.elements = [attribute("a"), attribute("a"), attribute("b", .undefined)]
    let entity = EntityDescription(name: "A", properties: [composite])
    #expect(problems([entity]) == ["A.x.a duplicateElementName", "A.x.b undefinedType"])
  }

  @Test("A default value is of the attribute's class")
  func defaultValues() {
    let entity = EntityDescription(
      name: "A",
      properties: [
        attribute("number", .integer16, default: "many"), attribute("fine", .integer16, default: 3),
        attribute("text", .string, default: 3), attribute("any", .transformable, default: 3),
      ])
    #expect(problems([entity]) == ["A.number defaultOfWrongClass", "A.text defaultOfWrongClass"])
  }

  @Test("A relationship has a destination")
  func missingDestination() {
    let entity = EntityDescription(name: "A", properties: [relationship("r", to: nil)])
    #expect(problems([entity]) == ["A.r missingDestination"])
  }

  @Test("A destination is in the model")
  func foreignDestination() {
    let elsewhere = EntityDescription(name: "B")
    let entity = EntityDescription(name: "A", properties: [relationship("r", to: elsewhere)])
    #expect(problems([entity]) == ["A.r destinationNotInModel"])
    withExtendedLifetime(elsewhere) {}
  }

  @Test("Inverses name each other")
  func inverseNotMutual() {
    let (a, b) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
    let (there, back) = (relationship("there", to: b), relationship("back", to: a))
    there.inverseRelationship = back
    a.properties = [there]
    b.properties = [back]
    #expect(problems([a, b]) == ["A.there inverseNotMutual"])
  }

  @Test("An inverse belongs to the destination")
  func inverseOfWrongEntity() {
    let (a, b) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
    let c = EntityDescription(name: "C")
    let (there, back) = (relationship("there", to: b), relationship("back", to: a))
    there.inverseRelationship = back
    back.inverseRelationship = there
    a.properties = [there]
    c.properties = [back]
    #expect(
      problems([a, b, c]) == ["A.there inverseOfWrongEntity", "C.back inverseLeadsElsewhere"])
  }

  @Test("An inverse may belong to an ancestor of the destination")
  func inverseOfAncestor() {
    let (a, b, c) = (
      EntityDescription(name: "A"), EntityDescription(name: "B"), EntityDescription(name: "C")
    )
    b.subentities = [c]
    let (there, back) = (relationship("there", to: c), relationship("back", to: a))
    there.inverseRelationship = back
    back.inverseRelationship = there
    a.properties = [there]
    b.properties = [back]
    #expect(problems([a, b, c]) == [])
  }

  @Test("The bounds of a relationship leave room for a member")
  func counts() {
    let entity = EntityDescription(name: "A")
    let ordered = relationship("ordered", to: entity, max: 1)
    ordered.isOrdered = true
    entity.properties = [
      relationship("crossed", to: entity, max: 2, min: 3),
      relationship("negative", to: entity, min: -1), ordered,
      relationship("unlimited", to: entity, max: -1, min: 3),
    ]
    #expect(
      problems([entity]) == [
        "A.crossed countsCrossed", "A.negative negativeCount",
      ])
  }

  @Test("A uniqueness constraint names stored attributes")
  func constraints() {
    let entity = EntityDescription(name: "A")
    let transient = attribute("t")
    transient.isTransient = true
    entity.properties = [attribute("x"), transient, relationship("r", to: entity)]
    entity.uniquenessConstraints = [["x"], [], ["missing"], ["t"], ["r"]]
    #expect(
      problems([entity]) == [
        "A emptyConstraint", "A invalidConstraint", "A invalidConstraint", "A invalidConstraint",
      ])
  }

  @Test("An index names properties of its entity")
  func indexes() {
    let entity = EntityDescription(name: "A", properties: [attribute("x")])
    let other = attribute("y")
    entity.indexes = [
      FetchIndexDescription(
        name: "i",
        elements: [
          FetchIndexElementDescription(property: other, collationType: .binary),
          FetchIndexElementDescription(
            propertyName: "x", collationType: .binary, isAscending: true),
          FetchIndexElementDescription(
            propertyName: "self", collationType: .binary, isAscending: true),
        ])
    ]
    #expect(problems([entity]) == ["A unknownIndexProperty"])
  }

  @Test("A configuration names entities of the model")
  func configurations() {
    let found = problems([EntityDescription(name: "A")]) {
      $0.setEntities([EntityDescription(name: "B")], forConfigurationName: "c")
    }
    #expect(found == ["configuration c unknownConfigurationEntity"])
  }

  @Test("A template fetches an entity of the model")
  func templates() {
    let fetched = FetchedPropertyDescription()
    fetched.name = "f"
    fetched.template = FetchRequestTemplate(entityName: "Missing")
    let entity = EntityDescription(name: "A", properties: [fetched])
    let found = problems([entity]) {
      $0.templatesByName = [
        "t": FetchRequestTemplate(entityName: "Gone"), "u": FetchRequestTemplate(entityName: "A"),
      ]
    }
    #expect(found == ["fetch request t unknownTemplateEntity", "A.f unknownTemplateEntity"])
  }

  @Test("All of an inheritance tree is in the model")
  func inheritanceOutside() {
    let (parent, child) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
    parent.subentities = [child]
    #expect(problems([parent]) == ["A subentityNotInModel"])
    #expect(problems([child]) == ["B superentityNotInModel"])
    withExtendedLifetime(parent) {}
  }

  @Test("Inheritance that goes round in a circle is reported and does not hang")
  func inheritanceCycle() {
    let (a, b) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
    a.subentities = [b]
    b.subentities = [a]
    #expect(problems([a, b]) == ["A inheritanceCycle", "B inheritanceCycle"])
    a.subentities = []
  }

  @Test("A wrong model is refused with every problem at once, and stays editable")
  func allAtOnce() throws {
    let entity = EntityDescription(
      name: "A",
      properties: [
        attribute("objectID"), attribute("x", .undefined),
        attribute("n", .integer16, default: "no"),
        relationship("r", to: nil),
      ])
    entity.uniquenessConstraints = [["missing"]]
    let model = ManagedObjectModel()
    model.entities = [entity]
    let error = try #require(throws: ModelError.self) { try model.prepareForUse() }
    #expect(
      error.problems.map(\.code) == [
        "reservedPropertyName", "undefinedType", "defaultOfWrongClass", "missingDestination",
        "invalidConstraint",
      ])
    #expect(error.description.hasPrefix("The model has 5 problems:"))
    #expect(!model.isFrozen)
    entity.uniquenessConstraints = []
    entity.properties = [attribute("x")]
    try model.prepareForUse()
    #expect(model.isFrozen)
  }
}
