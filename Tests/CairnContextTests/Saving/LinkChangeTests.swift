// Links that no to-one slot carries, of objects that are deleted in the same save.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapters 8 and 9: what a deleted object was given before it was deleted is nobody's.
///
/// Each stack has its file checked for keys that lead nowhere.
@Suite struct LinkChangeTests {
  /// Album with tags (many-to-many) that it does not give up when it is deleted, and stickers and
  /// ordered pages without inverse.
  private static func model() -> ManagedObjectModel {
    func toMany(
      _ name: String, _ destination: EntityDescription, _ rule: DeleteRule, isOrdered: Bool = false
    ) -> RelationshipDescription {
      let result = RelationshipDescription()
      result.name = name
      result.destinationEntity = destination
      result.deleteRule = rule
      result.isOrdered = isOrdered
      return result
    }
    let (album, tag) = (EntityDescription(name: "Album"), EntityDescription(name: "Tag"))
    let (sticker, page) = (EntityDescription(name: "Sticker"), EntityDescription(name: "Page"))
    let tags = toMany("tags", tag, .noAction)
    let albums = toMany("albums", album, .noAction)
    (tags.inverseRelationship, albums.inverseRelationship) = (albums, tags)
    album.properties = [
      AttributeDescription(name: "name", type: .string), tags,
      toMany("stickers", sticker, .nullify), toMany("pages", page, .nullify, isOrdered: true),
    ]
    tag.properties = [AttributeDescription(name: "name", type: .string), albums]
    for entity in [sticker, page] {
      entity.properties = [AttributeDescription(name: "name", type: .string)]
    }
    let model = ManagedObjectModel()
    model.entities = [album, tag, sticker, page]
    return model
  }

  private static let lists = ["tags": "Tag", "stickers": "Sticker", "pages": "Page"]

  @Test(arguments: StoreChoice.allCases, ["tags", "stickers", "pages"])
  func aMemberOfAnObjectThatIsDeletedInTheSameSaveIsNobodys(
    choice: StoreChoice, name: String
  ) throws {
    let stack = try Stack(in: choice, model: Self.model())
    try stack.use { context in
      let album = context.make("Album")
      let member = context.make(Self.lists[name] ?? "")
      try context.save()
      if name == "pages" {
        album.mutableOrderedSetValue(forKey: name).add(member)
      } else {
        album.mutableSetValue(forKey: name).add(member)
      }
      context.delete(album)
      try context.save()
      #expect(try context.all("Album").isEmpty && !context.hasChanges)
      if name == "tags" {
        context.refreshAllObjects()
        let left = member.value(forKey: "albums") as? NSSet
        #expect(left?.count == 0)
      }
    }
    let found = try stack.store.capabilities.integrity?.verifyIntegrity()
    #expect(choice == .memory || found == [])
  }

  @Test(arguments: StoreChoice.allCases)
  func aNewMemberIsSavedWithoutItsDeletedOwner(choice: StoreChoice) throws {
    let stack = try Stack(in: choice, model: Self.model())
    try stack.use { context in
      let album = context.make("Album")
      try context.save()
      album.mutableSetValue(forKey: "stickers").add(context.make("Sticker"))
      album.mutableSetValue(forKey: "tags").add(context.make("Tag"))
      context.delete(album)
      try context.save()
      #expect(try context.all("Sticker").count == 1 && context.all("Tag").count == 1)
    }
    let found = try stack.store.capabilities.integrity?.verifyIntegrity()
    #expect(choice == .memory || found == [])
  }
}
