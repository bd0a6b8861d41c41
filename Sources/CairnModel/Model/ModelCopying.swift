import Foundation

// Deep copies and merging of models. Copies are editable whatever the original is.

extension EntityDescription {
  /// A new, editable entity with copies of the entity's own properties and indexes.
  ///
  /// It belongs to no model, has neither superentity nor subentities, and its relationships know
  /// their destinations and inverses by name only; ``ManagedObjectModel/copyModel()`` links them.
  package func copyEntity() -> EntityDescription {
    let copy = EntityDescription()
    copyContents(to: copy)
    return copy
  }

  /// Gives another entity copies of everything that is the entity's own.
  func copyContents(to copy: EntityDescription) {
    copy.name = name
    copy.managedObjectClassName = explicitClassName
    copy.isAbstract = isAbstract
    copy.userInfo = userInfo
    copy.versionHashModifier = versionHashModifier
    copy.codeGenerationType = codeGenerationType
    if let explicitRenamingIdentifier { copy.renamingIdentifier = explicitRenamingIdentifier }
    copy.properties = declaredProperties.map { $0.copyProperty() }
    copy.uniquenessConstraints = constraintNames
    copy.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
    copyIndexes(to: copy)
  }

  /// Copies of the indexes, whose elements name properties of `copy`.
  fileprivate func copyIndexes(to copy: EntityDescription) {
    let properties = copy.propertiesByName
    copy.indexes = indexes.map { index in
      let result = index.copyIndex()
      for element in result.elements where element.property == nil {
        element.property = properties[element.propertyName ?? ""]
      }
      return result
    }
  }
}

extension FetchIndexDescription {
  /// A new, editable index that belongs to no entity; its elements name properties.
  func copyIndex() -> FetchIndexDescription {
    let result = FetchIndexDescription(name: name, elements: elements.map { $0.copyElement() })
    result.partialIndexPredicate = partialIndexPredicate
    return result
  }
}

extension FetchIndexElementDescription {
  /// A new, editable element that belongs to no index; of properties it knows the name.
  func copyElement() -> FetchIndexElementDescription {
    let copy = FetchIndexElementDescription(
      propertyName: propertyName ?? "", collationType: collationType, isAscending: isAscending)
    copy.property = (property as? ExpressionDescription)?.copyProperty()
    return copy
  }
}

extension ManagedObjectModel {
  /// A deep, editable copy; Core Data's `copy()`.
  package func copyModel() -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = Self.linkedCopies(of: entities)
    let copies = model.entitiesByName
    for name in configurations {
      let members = entities(forConfigurationName: name) ?? []
      model.setEntities(
        members.compactMap { copies[$0.name ?? ""] }, forConfigurationName: name)
    }
    model.versionIdentifiers = versionIdentifiers
    model.localizationDictionary = localizationDictionary
    model.templatesByName = templatesByName
    return model
  }

  /// Copies of entities, linked among themselves as the originals are.
  private static func linkedCopies(of entities: [EntityDescription]) -> [EntityDescription] {
    let copies = entities.map { $0.copyEntity() }
    let byName = Dictionary(
      copies.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    for (original, copy) in zip(entities, copies) {
      copy.subentities = original.subentities.compactMap { byName[$0.name ?? ""] }
    }
    let relationships = copies.flatMap(\.declaredProperties)
      .compactMap { $0 as? RelationshipDescription }
    for relationship in relationships {
      relationship.destinationEntity = relationship.destinationEntityName.flatMap { byName[$0] }
    }
    for relationship in relationships {
      guard let name = relationship.inverseRelationshipName else { continue }
      relationship.inverseRelationship =
        relationship.destinationEntity?.propertiesByName[name] as? RelationshipDescription
    }
    for (original, copy) in zip(entities, copies) { original.copyIndexes(to: copy) }
    return copies
  }

  /// A new model with the entities of several; nil when two of the same name differ.
  public convenience init?(byMerging models: [ManagedObjectModel]?) {
    let models = models ?? []
    var chosen: [String: EntityDescription] = [:]
    var order: [EntityDescription] = []
    for entity in models.flatMap(\.entities) {
      if let known = chosen[entity.name ?? ""] {
        guard known == entity else { return nil }
        continue
      }
      chosen[entity.name ?? ""] = entity
      order.append(entity)
    }
    self.init()
    entities = Self.linkedCopies(of: order)
    takeAnnotations(of: models)
  }

  /// A new model of those entities among several models, perhaps versions of one, that a store was
  /// made with; nil when not all of them are found.
  public convenience init?(
    byMerging models: [ManagedObjectModel], forStoreMetadata metadata: [String: Any]
  ) {
    guard let hashes = Self.entityHashes(inStoreMetadata: metadata) else { return nil }
    // A whole version that fits is better than one pieced together.
    let fitting = models.first {
      $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
    var chosen: [String: EntityDescription] = [:]
    for entity in (fitting.map { [$0] } ?? models).flatMap(\.entities) {
      let name = entity.name ?? ""
      if chosen[name] == nil, hashes[name] == entity.versionHash { chosen[name] = entity }
    }
    guard chosen.count == hashes.count else { return nil }
    self.init()
    entities = Self.linkedCopies(
      of: chosen.values.sorted { ($0.name ?? "").precedesByCodePoints($1.name ?? "") })
    takeAnnotations(of: fitting.map { [$0] } ?? models)
  }

  private func takeAnnotations(of models: [ManagedObjectModel]) {
    let copies = entitiesByName
    for model in models {
      versionIdentifiers.formUnion(model.versionIdentifiers)
      templatesByName.merge(model.templatesByName) { first, _ in first }
      if let texts = model.localizationDictionary {
        localizationDictionary = (localizationDictionary ?? [:]).merging(texts) { a, _ in a }
      }
      for name in model.configurations {
        let known = entities(forConfigurationName: name)
        let added = (model.entities(forConfigurationName: name) ?? [])
          .compactMap { copies[$0.name ?? ""] }
        let names = Set((known ?? []).map(\.name))
        setEntities(
          (known ?? []) + added.filter { !names.contains($0.name) }, forConfigurationName: name)
      }
    }
  }
}
