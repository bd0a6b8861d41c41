import Foundation

/// Reads a whole model out of a keyed archive.
struct ModelUnarchiving {
  private let file: String
  private let properties: PropertyUnarchiving

  /// - Throws: ``ModelFileError``, never anything worse, whatever the bytes.
  static func model(_ data: Data, file: String) throws -> ManagedObjectModel {
    let archive: KeyedArchive
    do {
      archive = try KeyedArchive(data)
    } catch let malformed as BinaryPropertyList.Malformed {
      throw ModelFileError(file: file, .malformed, malformed.description)
    }
    guard let root = archive.root, root.className == "NSManagedObjectModel" else {
      throw ModelFileError(
        file: file, .notAModel,
        "The archive holds \(archive.root?.className ?? "nothing"), not a model.")
    }
    let reading = ModelUnarchiving(file: file, properties: PropertyUnarchiving(file: file))
    return try reading.model(root)
  }

  private func model(_ root: ArchivedObject) throws -> ManagedObjectModel {
    let archived = try entityObjects(root)
    var entities: [Int: EntityDescription] = [:]
    for object in archived { entities[object.uid] = try entity(object) }
    let ordered = try linkInheritance(archived, entities)
    var propertyCount = 0
    for object in ordered {
      guard let entity = entities[object.uid] else { continue }
      try readProperties(of: object, into: entity)
      propertyCount += entity.propertyCount
      guard propertyCount <= ModelFileLimits.inheritedProperties else {
        throw ModelFileError(
          file: file, .tooLarge,
          "The entities have more than \(ModelFileLimits.inheritedProperties) properties together, "
            + "inherited ones counted with each; no model has so many.")
      }
    }
    let model = ManagedObjectModel()
    model.entities = archived.compactMap { entities[$0.uid] }
    try linkRelationships(in: model)
    for object in archived {
      guard let entity = entities[object.uid] else { continue }
      entity.uniquenessConstraints = constraints(of: object)
      entity.indexes = try indexes(of: object, entity)
    }
    for (name, value) in root.dictionary("NSConfigurations") {
      guard name != ManagedObjectModel.defaultConfigurationName, case .object(let list) = value
      else { continue }
      model.setEntities(members(of: list, entities), forConfigurationName: name)
    }
    for (name, value) in root.dictionary("NSFetchRequestTemplates") {
      guard case .object(let request) = value else { continue }
      model.templatesByName[name] = try properties.template(request)
    }
    for identifier in root.members("NSVersionIdentifiers") {
      if let hint = properties.values.value(identifier) as? AnyHashable {
        model.versionIdentifiers.insert(hint)
      }
    }
    return model
  }

  // MARK: Entities

  private func entityObjects(_ root: ArchivedObject) throws -> [ArchivedObject] {
    var result: [ArchivedObject] = []
    var names: Set<String> = []
    var seen: Set<Int> = []
    for (name, value) in root.dictionary("NSEntities") {
      guard case .object(let object) = value else { continue }
      guard names.insert(name).inserted, seen.insert(object.uid).inserted else {
        throw ModelFileError(file: file, .duplicateName, "There are two entities \(name).")
      }
      result.append(object)
    }
    return result.sorted { ($0.text("NSEntityName") ?? "") < ($1.text("NSEntityName") ?? "") }
  }

  private func entity(_ object: ArchivedObject) throws -> EntityDescription {
    guard let name = object.text("NSEntityName"), !name.isEmpty else {
      throw ModelFileError(file: file, .missingValue, "An entity of the archive has no name.")
    }
    let entity = EntityDescription()
    entity.name = name
    if let className = object.text("NSClassNameForEntity"), className != "NSManagedObject" {
      entity.managedObjectClassName = className
    }
    entity.isAbstract = object.flag("NSIsAbstract")
    entity.versionHashModifier = object.text("NSVersionHashModifier")
    if let former = object.text("NSRenamingIdentifier"), former != name {
      entity.renamingIdentifier = former
    }
    entity.userInfo = properties.userInfo(of: object)
    return entity
  }

  /// Links subentities and gives back the entities, ancestors first.
  private func linkInheritance(
    _ archived: [ArchivedObject], _ entities: [Int: EntityDescription]
  ) throws -> [ArchivedObject] {
    var parents: [Int: Int] = [:]
    for object in archived {
      guard let parent = object.object("NSSuperentity") else { continue }
      guard entities[parent.uid] != nil else {
        throw ModelFileError(
          file: file, .unknownName,
          "\(object.text("NSEntityName") ?? "") inherits from an entity that the model lacks.")
      }
      parents[object.uid] = parent.uid
    }
    var depths: [Int: Int] = [:]
    for object in archived {
      var depth = 0
      var next = parents[object.uid]
      while let current = next {
        depth += 1
        next = parents[current]
        guard depth <= archived.count, depth <= ModelFileLimits.inheritanceDepth else {
          throw ModelFileError(
            file: file, .invalidValue,
            "\(object.text("NSEntityName") ?? "") inherits from itself or through more than "
              + "\(ModelFileLimits.inheritanceDepth) entities.")
        }
      }
      depths[object.uid] = depth
    }
    let children = Dictionary(grouping: archived) { parents[$0.uid] }
    for object in archived {
      entities[object.uid]?.subentities = (children[object.uid] ?? [])
        .compactMap { entities[$0.uid] }
    }
    return archived.sorted { (depths[$0.uid] ?? 0) < (depths[$1.uid] ?? 0) }
  }

  /// Inherited properties are archived again with each subentity; only the first counts.
  private func readProperties(
    of object: ArchivedObject, into entity: EntityDescription
  ) throws {
    let inherited = Set((entity.superentity?.properties ?? []).map(\.name))
    var own: [PropertyDescription] = []
    for (name, value) in object.dictionary("NSProperties") where !inherited.contains(name) {
      guard case .object(let archived) = value else { continue }
      if let property = try properties.property(archived) { own.append(property) }
    }
    entity.properties = own.sorted { $0.name.precedesByCodePoints($1.name) }
  }

  private func linkRelationships(in model: ManagedObjectModel) throws {
    let byName = model.entitiesByName
    let relationships = model.entities.flatMap(\.declaredProperties)
      .compactMap { $0 as? RelationshipDescription }
    for relationship in relationships {
      guard let name = relationship.destinationEntityName else { continue }
      guard let destination = byName[name] else {
        throw ModelFileError(
          file: file, .unknownName,
          "The destination \(name) of \(relationship.name) is not in the model.")
      }
      relationship.destinationEntity = destination
    }
    var lookup = PropertyLookup()
    for relationship in relationships {
      guard let name = relationship.inverseRelationshipName,
        let destination = relationship.destinationEntity
      else { continue }
      relationship.inverseRelationship =
        lookup.property(name, of: destination) as? RelationshipDescription
    }
  }

  private func members(
    of list: ArchivedObject, _ entities: [Int: EntityDescription]
  ) -> [EntityDescription] {
    let values = list.pairs.isEmpty ? list.members : list.pairs.map(\.value)
    let found: [EntityDescription] = values.compactMap { value in
      if case .object(let object) = value { return entities[object.uid] }
      return nil
    }
    return found.sorted { ($0.name ?? "").precedesByCodePoints($1.name ?? "") }
  }

  // MARK: Constraints and indexes

  private func constraints(of object: ArchivedObject) -> [[String]] {
    object.members("NSUniqueTuples").compactMap { value in
      guard case .object(let tuple) = value else { return nil }
      return tuple.members.compactMap { member in
        switch member {
        case .string(let name): return name
        case .object(let property): return properties.name(of: property)
        case .none, .bool, .integer, .real, .date, .data: return nil
        }
      }
    }
  }

  private func indexes(
    of object: ArchivedObject, _ entity: EntityDescription
  ) throws -> [FetchIndexDescription] {
    let known = entity.propertiesByName
    return try object.members("NSFetchIndexDescriptions").compactMap { value in
      guard case .object(let archived) = value, let name = archived.text("NSIndexName") else {
        return nil
      }
      let elements = try archived.members("NSIndexElements").compactMap { value in
        guard case .object(let element) = value else { return nil as FetchIndexElementDescription? }
        return try indexElement(element, known)
      }
      let index = FetchIndexDescription(name: name, elements: elements)
      index.partialIndexPredicate = try archived.object("NSPartialIndexPredicate").map {
        try properties.predicates.predicate($0)
      }
      return index
    }
  }

  private func indexElement(
    _ element: ArchivedObject, _ known: [String: PropertyDescription]
  ) throws -> FetchIndexElementDescription? {
    let indexed = element.object("NSIndexedProperty")
    guard let name = element.text("NSPropertyName") ?? indexed.flatMap({ properties.name(of: $0) })
    else { return nil }
    let result = FetchIndexElementDescription(
      propertyName: name,
      collationType: element.integer("NSFetchIndexElementType") == 1 ? .rTree : .binary,
      isAscending: element.flag("NSAscending"))
    if let indexed, indexed.className == "NSExpressionDescription" {
      result.property = try properties.property(indexed, isColumn: true)
    } else {
      result.property = known[name]
    }
    return result
  }
}
