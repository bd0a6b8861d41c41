import CairnModel
import CairnPredicates
import TestSupport

/// The model of the sync tests: items in a tree, tags on many items, parts that go with their item
/// in an order, tags picked in an order on both sides, and one label that no other item has.
///
/// Some tags are marks: a name is unique among both. And leaves, whose records are no more than their rows; some of
/// them are blooms.
enum SampleModel {
  /// Versions of the model: what is there of `Item.other`, and whether there is more.
  enum Version {
    case older, current, newer, otherType
    /// With an attribute and an entity more, linked with what there was, and an attribute renamed.
    case muchNewer
  }

  /// A value has fewer characters.
  static let mostLength = 100

  /// - Parameters:
  ///   - denies: Whether an item with parts cannot be deleted.
  ///   - isLax: Whether a value may be of any length.
  static func make(
    _ version: Version = .current, denies: Bool = false, isLax: Bool = false
  ) -> ManagedObjectModel {
    let item = EntityDescription(name: "Item")
    let tag = EntityDescription(name: "Tag")
    let part = EntityDescription(name: "Part")
    let fresh = EntityDescription(name: "Fresh")
    let freshItem = relationship("item", to: item)
    let itemFresh = relationship("freshes", to: fresh, isToMany: true)
    let freshTags = relationship("tags", to: tag, isToMany: true)
    let tagFresh = relationship("freshes", to: fresh, isToMany: true)
    connect(freshItem, itemFresh)
    connect(freshTags, tagFresh)
    let parent = relationship("parent", to: item)
    let children = relationship("children", to: item, isToMany: true)
    let tags = relationship("tags", to: tag, isToMany: true)
    let items = relationship("items", to: item, isToMany: true)
    let parts = relationship(
      "parts", to: part, isToMany: true, isOrdered: true, deleteRule: denies ? .deny : .cascade)
    let picks = relationship("picks", to: tag, isToMany: true, isOrdered: true)
    let pickedBy = relationship("pickedBy", to: item, isToMany: true, isOrdered: true)
    let label = relationship("label", to: tag)
    let labelled = relationship("labelled", to: item)
    let owner = relationship("item", to: item)
    connect(parent, children)
    connect(tags, items)
    connect(parts, owner)
    connect(picks, pickedBy)
    connect(label, labelled)
    let short = AttributeDescription(name: "value", type: .string)
    if !isLax {
      short.setValidationPredicates(
        [ObjectPredicate(format: "length < \(mostLength)")], withValidationWarnings: ["too long"])
    }
    item.properties = [
      AttributeDescription(name: "key", type: .string, isOptional: false, defaultValue: ""),
      short, AttributeDescription(name: "other", type: .double), parent, children, tags, parts,
      picks, label,
    ]
    switch version {
    case .current: break
    case .older: item.properties.removeAll { $0.name == "other" }
    case .newer: item.properties.append(AttributeDescription(name: "extra", type: .string))
    case .muchNewer:
      short.name = "text"
      short.renamingIdentifier = "value"
      item.properties.append(AttributeDescription(name: "extra", type: .string))
      fresh.properties = [
        AttributeDescription(name: "title", type: .string), freshItem, freshTags,
      ]
      item.properties.append(itemFresh)
    case .otherType:
      item.properties.removeAll { $0.name == "other" }
      item.properties.append(AttributeDescription(name: "other", type: .uuid))
    }
    tag.properties = [
      AttributeDescription(name: "name", type: .string, isOptional: false, defaultValue: ""),
      AttributeDescription(name: "note", type: .string), items,
      pickedBy, labelled,
    ]
    if version == .muchNewer { tag.properties.append(tagFresh) }
    tag.uniquenessConstraints = [["name"]]
    let mark = EntityDescription(name: "Mark")
    mark.properties = [AttributeDescription(name: "ink", type: .string)]
    tag.subentities = [mark]
    part.properties = [
      AttributeDescription(name: "key", type: .string, isOptional: false, defaultValue: ""),
      owner,
    ]
    let model = ManagedObjectModel()
    model.entities = [item, tag, mark, part] + leaves(version)
    if version == .muchNewer { model.entities.append(fresh) }
    return model
  }

  private static func leaves(_ version: Version) -> [EntityDescription] {
    let leaf = EntityDescription(name: "Leaf")
    let bloom = EntityDescription(name: "Bloom")
    let stem = relationship("stem", to: leaf)
    let shoots = relationship("shoots", to: leaf, isToMany: true)
    connect(stem, shoots)
    let data = AttributeDescription(name: "data", type: .binaryData)
    // Large values lie in files of their own.
    data.allowsExternalBinaryDataStorage = true
    leaf.properties = [
      AttributeDescription(name: "key", type: .string, isOptional: false, defaultValue: ""),
      AttributeDescription(name: "value", type: .string),
      AttributeDescription(name: "other", type: .double),
      AttributeDescription(name: "count", type: .integer64),
      AttributeDescription(name: "moment", type: .date),
      data,
      AttributeDescription(name: "ident", type: .uuid),
      AttributeDescription(name: "flag", type: .boolean),
      stem, shoots,
    ]
    if version == .muchNewer {
      leaf.properties.append(
        AttributeDescription(name: "extra", type: .string, isOptional: false, defaultValue: ""))
    }
    bloom.properties = [AttributeDescription(name: "petal", type: .string)]
    leaf.subentities = [bloom]
    return [leaf, bloom]
  }
}
