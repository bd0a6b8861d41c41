import Foundation
import TestSupport
import Testing

@testable import CairnModel

/// Copies of models, and models made of several.
@Suite struct ModelCopyingTests {
  private func model(_ entities: EntityDescription...) -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = entities
    return model
  }

  @Test("A copy says the same and shares nothing")
  func copy() throws {
    let original = try SampleModels.everything()
    let copy = original.copyModel()
    #expect(copy == original)
    #expect(copy.versionChecksum == original.versionChecksum)
    #expect(ModelValidation.problems(of: copy) == [])
    for entity in copy.entities {
      #expect(entity.managedObjectModel === copy)
      let other = try #require(original.entitiesByName[entity.name ?? ""])
      #expect(entity !== other)
      for property in entity.declaredProperties {
        #expect(property.entity === entity)
        #expect(property !== other.propertiesByName[property.name])
      }
    }
  }

  @Test("A copy's relationships, indexes and subentities lead into the copy")
  func links() throws {
    let copy = try SampleModels.everything().copyModel()
    let author = try #require(copy.entitiesByName["Author"])
    let work = try #require(copy.entitiesByName["Work"])
    let works = try #require(author.relationshipsByName["works"])
    #expect(works.destinationEntity === work)
    #expect(works.inverseRelationship === work.relationshipsByName["author"])
    #expect(work.subentities.first === copy.entitiesByName["Book"])
    #expect(work.indexes.first?.elements.first?.property === work.attributesByName["year"])
    #expect(work.indexes.first?.entity === work)
  }

  @Test("A copy of a model in use can be changed, without changing the original")
  func copyIsEditable() throws {
    let original = try SampleModels.everything()
    try original.prepareForUse()
    let copy = original.copyModel()
    #expect(!copy.isFrozen)
    copy.entitiesByName["Author"]?.attributesByName["name"]?.isOptional = true
    #expect(copy != original)
    #expect(original.entitiesByName["Author"]?.attributesByName["name"]?.isOptional == false)
    try copy.prepareForUse()
    #expect(copy.isFrozen)
  }

  @Test("A copied entity belongs to no model and has no relatives")
  func copiedEntity() throws {
    let model = try SampleModels.everything()
    let copy = try #require(model.entitiesByName["Book"]?.copyEntity())
    #expect(copy.superentity == nil)
    #expect(copy.renamingIdentifier == "Volume")
    #expect(copy.codeGenerationType == "class")
    #expect(copy.userInfo?["shelf"] as? String == "north")
    #expect(copy.declaredProperties.map(\.name) == ["pages"])
  }

  @Test("Merging puts the entities and annotations of models together")
  func merging() throws {
    let first = model(EntityDescription(name: "A"), EntityDescription(name: "B"))
    first.versionIdentifiers = ["1"]
    first.setEntities([first.entities[0]], forConfigurationName: "c")
    first.localizationDictionary = ["Entity/A": "Ah"]
    let second = model(EntityDescription(name: "C"), EntityDescription(name: "B"))
    second.versionIdentifiers = ["2"]
    second.setEntities([second.entities[0]], forConfigurationName: "c")
    second.templatesByName = ["all": FetchRequestTemplate(entityName: "C")]
    let merged = try #require(ManagedObjectModel(byMerging: [first, second]))
    #expect(merged.entities.compactMap(\.name) == ["A", "B", "C"])
    #expect(merged.versionIdentifiers == ["1", "2"])
    #expect(merged.entities(forConfigurationName: "c")?.compactMap(\.name) == ["A", "C"])
    #expect(merged.templatesByName["all"]?.entityName == "C")
    #expect(merged.localizedName(of: merged.entities[0]) == "Ah")
    #expect(merged.entities[0] !== first.entities[0])
  }

  @Test("Models with different entities of one name cannot be merged")
  func conflicting() {
    let first = model(EntityDescription(name: "A"))
    let second = model(
      EntityDescription(name: "A", properties: [AttributeDescription(name: "x", type: .date)]))
    #expect(ManagedObjectModel(byMerging: [first, second]) == nil)
    #expect(ManagedObjectModel(byMerging: [])?.entities.isEmpty == true)
  }

  @Test("Of several versions the one that a store was made with is chosen")
  func storeMetadata() throws {
    let old = model(EntityDescription(name: "A"))
    let new = model(
      EntityDescription(name: "A", properties: [AttributeDescription(name: "x", type: .date)]))
    let metadata: [String: Any] = ["NSStoreModelVersionHashes": new.entityVersionHashesByName]
    let found = try #require(
      ManagedObjectModel(byMerging: [old, new], forStoreMetadata: metadata))
    #expect(found == new)
    #expect(found.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!old.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(ManagedObjectModel(byMerging: [old], forStoreMetadata: metadata) == nil)
    #expect(ManagedObjectModel(byMerging: [old], forStoreMetadata: [:]) == nil)
  }

  @Test("A store's entities may come from several models")
  func pieces() throws {
    let (first, second) = (model(EntityDescription(name: "A")), model(EntityDescription(name: "B")))
    let hashes = first.entityVersionHashesByName.merging(second.entityVersionHashesByName) { a, _ in
      a
    }
    let metadata: [String: Any] = ["NSStoreModelVersionHashes": hashes]
    let found = ManagedObjectModel(byMerging: [first, second], forStoreMetadata: metadata)
    #expect(found?.entities.compactMap(\.name) == ["A", "B"])
  }

  @Test("A configuration fits a store of the whole model, an unknown one none")
  func configurations() {
    let model = model(EntityDescription(name: "A"), EntityDescription(name: "B"))
    model.setEntities([model.entities[0]], forConfigurationName: "c")
    let whole: [String: Any] = ["NSStoreModelVersionHashes": model.entityVersionHashesByName]
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: whole))
    #expect(model.isConfiguration(withName: "c", compatibleWithStoreMetadata: whole))
    #expect(!model.isConfiguration(withName: "d", compatibleWithStoreMetadata: whole))
    let part: [String: Any] = [
      "NSStoreModelVersionHashes": ["A": model.entities[0].versionHash]
    ]
    #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: part))
    #expect(model.isConfiguration(withName: "c", compatibleWithStoreMetadata: part))
  }
}
