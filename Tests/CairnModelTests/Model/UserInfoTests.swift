// Chapters 3.3 and 3.4 of the specification.
import CairnModel
import Foundation
import Testing

/// The annotations of entities and properties.
@Suite struct UserInfoTests {
  private func model() -> ManagedObjectModel {
    let fetched = FetchedPropertyDescription()
    fetched.name = "others"
    let owner = RelationshipDescription()
    owner.name = "owner"
    owner.maxCount = 1
    let entity = EntityDescription(
      name: "Book", properties: [AttributeDescription(name: "title", type: .string), owner])
    owner.destinationEntity = entity
    let model = ManagedObjectModel()
    model.entities = [entity]
    return model
  }

  @Test func theyAreAnEmptyDictionaryAtFirst() throws {
    let entity = try #require(model().entities.first)
    #expect(entity.userInfo?.isEmpty == true)
    for property in entity.properties { #expect(property.userInfo?.isEmpty == true) }
    #expect(FetchedPropertyDescription().userInfo?.isEmpty == true)
    #expect(EntityDescription().userInfo?.isEmpty == true)
  }

  @Test func thoseOfAModelInUseMayBeChangedAndChangeNoHash() throws {
    let model = model()
    try model.prepareForUse()
    let entity = try #require(model.entities.first)
    let hashes = model.entityVersionHashesByName
    entity.userInfo?["shelf"] = "north"
    for property in entity.properties { property.userInfo = ["note": property.name] }
    #expect(entity.userInfo?["shelf"] as? String == "north")
    #expect(entity.attributesByName["title"]?.userInfo?["note"] as? String == "title")
    #expect(entity.relationshipsByName["owner"]?.userInfo?["note"] as? String == "owner")
    #expect(model.entityVersionHashesByName == hashes)
    #expect(entity.versionHash == hashes["Book"])
    #expect((entity.copy() as? EntityDescription)?.userInfo?["shelf"] as? String == "north")
  }

  @Test func theyMayBeSetAndReadOnManyThreads() throws {
    let model = model()
    try model.prepareForUse()
    let entity = try #require(model.entities.first)
    DispatchQueue.concurrentPerform(iterations: 200) { number in
      entity.userInfo = ["number": number]
      #expect(entity.userInfo?["number"] is Int)
    }
  }
}
