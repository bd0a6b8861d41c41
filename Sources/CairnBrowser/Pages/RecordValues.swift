// A record as the pages show it.

@_spi(Generated) import Cairn
import CairnControl
import CairnRecords
import Foundation

/// Reads the properties of an object on its context's queue.
struct RecordValues {
  let object: ManagedObject
  let addresses: PageAddress

  /// Characters of a text in a table, and on the page of one record.
  static let shortText = 120
  static let longText = 20_000

  var title: String { Self.title(of: object) }

  /// What a person would call the object: its name or title, else its first text, else its key.
  static func title(of object: ManagedObject) -> String {
    let layout: EntityLayout = object.entity.layout
    let preferred = ["name", "title", "label", "displayName", "fullName", "identifier"]
    let texts = layout.slots.enumerated().filter {
      $0.element.relationship == nil && !$0.element.isTransient
    }
    func text(_ index: Int) -> String? {
      guard case .string(let text) = object.storedValue(at: index), !text.isEmpty else {
        return nil
      }
      return PageValue.shortened(
        text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "", to: 60)
    }
    for name in preferred {
      if let slot = texts.first(where: { $0.element.name == name }), let text = text(slot.offset) {
        return text
      }
    }
    for slot in texts {
      if let text = text(slot.offset) { return text }
    }
    return "\(object.entity.name ?? "") \(PageAddress.key(of: object.objectID))"
  }

  /// The value of an attribute or a to-one relationship, or how many members a to-many has.
  func value(of column: PageColumn, limit: Int) -> PageValue {
    switch column.source {
    case .attribute(let slot):
      return PageValue(
        object.storedValue(at: slot), limit: limit,
        bytes: addresses.bytes(object.objectID, attribute: column.name))
    case .toOne(let slot):
      guard case .object(let id) = object.storedValue(at: slot) else { return .none }
      return reference(id)
    case .toMany:
      let count = object.objectIDs(forRelationshipNamed: column.name).count
      return count == 0
        ? PageValue(kind: .count, text: "0")
        : PageValue(
          kind: .count, text: "\(count)",
          target: "\(addresses.record(object.objectID))#\(column.anchor)")
    }
  }

  /// A link to a record.
  ///
  /// One that is gone, or cannot be read, is shown by its key.
  func reference(_ id: ManagedObjectID) -> PageValue {
    guard let target = try? object.managedObjectContext?.existingObject(with: id) else {
      return PageValue(
        kind: .reference, text: "\(id.entity.name ?? "") \(PageAddress.key(of: id)) (missing)")
    }
    return PageValue(
      kind: .reference, text: Self.title(of: target), target: addresses.record(target.objectID))
  }
}

/// A property that is shown.
struct PageColumn: Sendable {
  enum Source: Sendable {
    case attribute(slot: Int)
    case toOne(slot: Int)
    case toMany
  }

  let name: String
  /// The attribute's type, or the relationship's destination.
  let type: String
  let source: Source
  /// Whether rows can be put in the order of its values by the store.
  let isSortable: Bool
  let isOptional: Bool
  let isOrdered: Bool

  /// Where a page of a record has the members of a relationship.
  var anchor: String {
    "members-" + name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? "\($0)" : "-" }.joined()
  }
  var isToMany: Bool {
    if case .toMany = source { true } else { false }
  }

  /// The stored properties of an entity: attributes, then relationships, each in the layout's order.
  static func all(of entity: EntityDescription) -> [PageColumn] {
    let layout: EntityLayout = entity.layout
    var attributes: [PageColumn] = []
    var toOnes: [PageColumn] = []
    for (index, slot) in layout.slots.enumerated() where !slot.isTransient {
      if let relationship = slot.relationship {
        toOnes.append(PageColumn(relationship, source: .toOne(slot: index)))
      } else if let attribute = slot.attribute {
        attributes.append(PageColumn(attribute, name: slot.name, slot: index))
      }
    }
    let toManys = layout.toManys.filter { !$0.isTransient }
      .map { PageColumn($0, source: .toMany) }
    return attributes + toOnes + toManys
  }

  private init(
    name: String, type: String, source: Source, isSortable: Bool, isOptional: Bool, isOrdered: Bool
  ) {
    self.name = name
    self.type = type
    self.source = source
    self.isSortable = isSortable
    self.isOptional = isOptional
    self.isOrdered = isOrdered
  }

  private init(_ attribute: AttributeDescription, name: String, slot: Int) {
    let summary = AttributeSummary(attribute)
    self.init(
      name: name, type: summary.type, source: .attribute(slot: slot),
      isSortable: ![.binaryData, .transformable, .composite].contains(attribute.attributeType),
      isOptional: summary.isOptional, isOrdered: false)
  }

  private init(_ relationship: RelationshipDescription, source: Source) {
    self.init(
      name: relationship.name, type: relationship.destinationEntity?.name ?? "", source: source,
      isSortable: false, isOptional: relationship.isOptional, isOrdered: relationship.isOrdered)
  }
}
