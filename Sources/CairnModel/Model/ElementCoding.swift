import Foundation

/// Archiving models and their parts with Foundation's coders.
///
/// Each is written as one compiled model: a part in a model made for it, beside stand-ins for what
/// it names. The same bytes are read as from a `.mom`, so that nothing is instantiated by its class
/// name, whatever an archive says.
enum ElementCoding {
  private static let key = "CairnCompiledModel"

  // MARK: Writing

  static func encode(_ element: ModelElement, with coder: NSCoder) {
    guard let model = carrier(of: element) else { return }
    do {
      coder.encode(try CompiledModel.write(model), forKey: key)
    } catch {
      coder.failWithError(error)
    }
  }

  /// A model that holds the element, or a copy of it.
  private static func carrier(of element: ModelElement) -> ManagedObjectModel? {
    switch element {
    case let model as ManagedObjectModel: return model
    case let entity as EntityDescription: return carrier(ofEntity: entity.copyEntity())
    case let expression as ExpressionDescription:
      // The only property of an entity that holds an expression is a derived attribute.
      let column = DerivedAttributeDescription()
      expression.copyValues(to: column)
      column.derivationExpression = expression.expression
      column.attributeType = expression.expressionResultType
      return carrier(ofEntity: EntityDescription(name: "Carrier", properties: [column]))
    case let property as PropertyDescription:
      return carrier(
        ofEntity: EntityDescription(name: "Carrier", properties: [property.copyProperty()]))
    case let part as FetchIndexElementDescription:
      return carrier(
        ofIndex: FetchIndexDescription(name: "index", elements: [part.copyElement()]))
    case let index as FetchIndexDescription: return carrier(ofIndex: index.copyIndex())
    default: return nil
    }
  }

  private static func carrier(ofIndex index: FetchIndexDescription) -> ManagedObjectModel {
    let entity = EntityDescription(name: "Carrier")
    // Readers look the indexed properties up.
    let names = index.elements.filter { $0.property == nil }.compactMap(\.propertyName)
    entity.properties = Set(names).subtracting(["self", "entity"]).sorted().map {
      AttributeDescription(name: $0, type: .string)
    }
    entity.indexes = [index]
    return model(with: entity, and: [:])
  }

  private static func carrier(ofEntity entity: EntityDescription) -> ManagedObjectModel {
    var others = [entity.name ?? "": entity]
    func other(_ name: String) -> EntityDescription {
      if let known = others[name] { return known }
      let new = EntityDescription(name: name)
      others[name] = new
      return new
    }
    for property in entity.declaredProperties {
      if let name = (property as? FetchedPropertyDescription)?.template?.entityName {
        _ = other(name)
      }
      guard let relationship = property as? RelationshipDescription,
        let name = relationship.destinationEntityName
      else { continue }
      let destination = other(name)
      relationship.destinationEntity = destination
      guard let inverseName = relationship.inverseRelationshipName else { continue }
      if let known = destination.propertiesByName[inverseName] as? RelationshipDescription {
        relationship.inverseRelationship = known
        continue
      }
      if destination === entity { continue }
      let inverse = RelationshipDescription()
      inverse.name = inverseName
      inverse.destinationEntity = entity
      inverse.inverseRelationship = relationship
      destination.properties = destination.declaredProperties + [inverse]
      relationship.inverseRelationship = inverse
    }
    return model(with: entity, and: others)
  }

  /// Marked by its only configuration: the element's entity is in it, stand-ins are not.
  private static func model(
    with entity: EntityDescription, and others: [String: EntityDescription]
  ) -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = [entity] + others.values.filter { $0 !== entity }
    model.setEntities([entity], forConfigurationName: key)
    return model
  }

  // MARK: Reading

  static func model(from coder: NSCoder) -> ManagedObjectModel? {
    guard let data = coder.decodeObject(of: NSData.self, forKey: key) else { return nil }
    do {
      return try CompiledModel.read(data as Data)
    } catch {
      coder.failWithError(error)
      return nil
    }
  }

  static func entity(from coder: NSCoder) -> EntityDescription? {
    guard let model = model(from: coder),
      let entity = model.entities(forConfigurationName: key)?.first
    else { return nil }
    // What it names outlives the model it came in by name only.
    return entity.copyEntity()
  }

  static func property(from coder: NSCoder) -> PropertyDescription? {
    entity(from: coder)?.declaredProperties.first
  }

  static func index(from coder: NSCoder) -> FetchIndexDescription? {
    entity(from: coder)?.indexes.first?.copyIndex()
  }

  static func element(from coder: NSCoder) -> FetchIndexElementDescription? {
    index(from: coder)?.elements.first?.copyElement()
  }
}
