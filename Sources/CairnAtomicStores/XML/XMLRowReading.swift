import CairnModel
import CairnStore
import Foundation

/// Makes rows of a document's objects.
///
/// Each side of a relationship is trusted as written, then missing inverses are added. Whatever the
/// model does not know, and what an object has twice, is an error: the next save would lose it.
struct XMLRowReading {
  let document: XMLStoreDocument
  let reader: XMLDocumentReader
  let identity: StoreIdentity
  private let entities: [String: EntityDescription]
  private let model: ManagedObjectModel

  init(
    document: XMLStoreDocument, reader: XMLDocumentReader, model: ManagedObjectModel,
    identity: StoreIdentity
  ) {
    self.document = document
    self.reader = reader
    self.identity = identity
    self.model = model
    entities = Dictionary(
      model.entities.map { (XMLNames.entity($0.name ?? ""), $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// An object while it is read.
  private struct Draft {
    let id: ManagedObjectID
    var values: [AttributeValue]
    var members: [(RelationshipDescription, [ManagedObjectID])] = []
  }

  /// An entity's properties by their names in the file.
  private struct Names {
    var slots: [String: Int] = [:]
    var toManys: [String: RelationshipDescription] = [:]

    init(_ layout: EntityLayout) {
      for slot in layout.persistentSlots {
        slots[XMLNames.property(layout.slots[slot].name)] = slot
      }
      for relationship in layout.toManys where !relationship.isTransient {
        toManys[XMLNames.property(relationship.name)] = relationship
      }
    }
  }

  /// - Throws: 259 with the line of the first object, attribute or relationship that does not fit.
  func tables(lastKey: Int64) throws -> MemoryTables {
    let ids = try objectIDs()
    var names: [ObjectIdentifier: Names] = [:]
    var drafts: [Draft] = []
    drafts.reserveCapacity(document.objects.count)
    var places: [Int64: Int] = [:]
    for object in document.objects {
      guard let id = ids[object.number] else { continue }
      let key = ObjectIdentifier(id.entity)
      let known = names[key] ?? Names(id.entity.layout)
      names[key] = known
      places[object.number] = drafts.count
      drafts.append(try draft(of: object, id: id, names: known, ids: ids))
    }
    completeToOnes(&drafts, places: places)
    var tables = MemoryTables(manner: .wholeFile, lastKey: lastKey)
    for draft in drafts {
      tables.load(.make(objectID: draft.id, version: 1, values: draft.values))
    }
    for draft in drafts {
      for (relationship, members) in draft.members {
        tables.load(members: members, of: relationship, owner: draft.id)
      }
    }
    tables.completeInverses(of: model)
    return tables
  }

  private func objectIDs() throws -> [Int64: ManagedObjectID] {
    var ids: [Int64: ManagedObjectID] = [:]
    for object in document.objects {
      guard let entity = entities[object.entity.uppercased()], !entity.isAbstract else {
        throw reader.damage(
          "the model has no entity for objects of type \(object.entity)", at: object.place)
      }
      let id = ManagedObjectID(entity: entity, storeIdentity: identity, key: .row(object.number))
      if ids.updateValue(id, forKey: object.number) != nil {
        throw reader.damage("the id z\(object.number) is there twice", at: object.place)
      }
    }
    return ids
  }

  private func draft(
    of object: XMLStoreDocument.Object, id: ManagedObjectID, names: Names,
    ids: [Int64: ManagedObjectID]
  ) throws -> Draft {
    let layout: EntityLayout = id.entity.layout
    var draft = Draft(id: id, values: Array(repeating: .null, count: layout.slots.count))
    var seen: Set<String> = []
    func note(_ name: String, at place: Int) throws {
      if seen.insert(name.lowercased()).inserted { return }
      throw reader.damage("this \(object.entity) has \(name) twice", at: place)
    }
    for attribute in object.attributes {
      try note(attribute.name, at: attribute.place)
      guard let slot = names.slots[attribute.name.lowercased()],
        let description = layout.slots[slot].attribute
      else {
        throw reader.damage(
          "\(object.entity) has no attribute \(attribute.name)", at: attribute.place)
      }
      guard let value = XMLValues.value(of: attribute.text, for: description.attributeType) else {
        throw reader.damage(
          "\"\(attribute.text.prefix(60))\" is no value for \(object.entity).\(attribute.name), "
            + "which is of type \(XMLValues.name(of: description.attributeType))",
          at: attribute.place)
      }
      draft.values[slot] = value
    }
    for relationship in object.relationships {
      try note(relationship.name, at: relationship.place)
      try read(relationship, of: object, into: &draft, names: names, ids: ids)
    }
    return draft
  }

  private func read(
    _ relationship: XMLStoreDocument.Relationship, of object: XMLStoreDocument.Object,
    into draft: inout Draft, names: Names, ids: [Int64: ManagedObjectID]
  ) throws {
    let name = relationship.name.lowercased()
    let layout: EntityLayout = draft.id.entity.layout
    func members(of description: RelationshipDescription) throws -> [ManagedObjectID] {
      try relationship.members.map { number in
        guard let id = ids[number] else {
          throw reader.damage(
            "\(object.entity).\(relationship.name) names z\(number), which is no object",
            at: relationship.place)
        }
        if let destination = description.destinationEntity, !id.entity.isKindOf(entity: destination)
        {
          throw reader.damage(
            "\(object.entity).\(relationship.name) names z\(number), which is no "
              + "\(destination.name ?? "?")", at: relationship.place)
        }
        return id
      }
    }
    if let slot = names.slots[name], let description = layout.slots[slot].relationship {
      let found = try members(of: description)
      if found.count > 1 {
        throw reader.damage(
          "\(object.entity).\(relationship.name) leads to one object only", at: relationship.place)
      }
      draft.values[slot] = found.first.map { .object($0) } ?? .null
    } else if let description = names.toManys[name] {
      var seen: Set<ManagedObjectID> = []
      draft.members.append(
        (description, try members(of: description).filter { seen.insert($0).inserted }))
    } else {
      throw reader.damage(
        "\(object.entity) has no relationship \(relationship.name)", at: relationship.place)
    }
  }

  /// Adds the to-one side of links that only the to-many side names.
  private func completeToOnes(_ drafts: inout [Draft], places: [Int64: Int]) {
    for draft in drafts {
      for (relationship, members) in draft.members {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { continue }
        for member in members {
          guard let place = member.rowKey.flatMap({ places[$0] }),
            let slot = member.entity.layout.slotByName[inverse.name],
            drafts[place].values[slot].isNull
          else { continue }
          drafts[place].values[slot] = .object(draft.id)
        }
      }
    }
    completeOneToOnes(&drafts, places: places)
  }

  private func completeOneToOnes(_ drafts: inout [Draft], places: [Int64: Int]) {
    for index in drafts.indices {
      let id = drafts[index].id
      for slot in id.entity.layout.toOneSlots {
        guard case .object(let other) = drafts[index].values[slot],
          let inverse = id.entity.layout.slots[slot].relationship?.inverseRelationship,
          !inverse.isToMany, let place = other.rowKey.flatMap({ places[$0] }),
          let back = other.entity.layout.slotByName[inverse.name],
          drafts[place].values[back].isNull
        else { continue }
        drafts[place].values[back] = .object(id)
      }
    }
  }
}
