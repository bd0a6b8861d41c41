import CairnModel
import CairnPredicates
import Foundation

/// An entity and the element it was read from.
struct ReadEntity {
  let entity: EntityDescription
  let element: DocumentElement
}

/// Reads `entity` elements, without what needs other entities.
struct EntityReading {
  let elements: ElementReading
  let attributes: AttributeReading
  private var problems: ModelFileProblems { elements.problems }

  init(elements: ElementReading, attributes: AttributeReading) {
    self.elements = elements
    self.attributes = attributes
  }

  func entity(_ element: DocumentElement) -> ReadEntity? {
    guard let name = elements.required("name", of: element) else { return nil }
    let entity = EntityDescription()
    entity.name = name
    if let className = element["representedClassName"], !className.isEmpty {
      entity.managedObjectClassName = className
    }
    entity.isAbstract = elements.flag("isAbstract", of: element, default: false)
    entity.codeGenerationType = element["codeGenerationType"]
    if let modifier = element["versionHashModifier"], !modifier.isEmpty {
      entity.versionHashModifier = modifier
    }
    if let former = element["elementID"] ?? element["renamingIdentifier"], !former.isEmpty {
      entity.renamingIdentifier = former
    }
    if let text = element["coreSpotlightDisplayNameExpression"],
      // Without effect here; one that only Spotlight understands is passed over.
      let expression = try? ObjectExpression.parse(text)
    {
      entity.coreSpotlightDisplayNameExpression = expression
    }
    entity.userInfo = elements.userInfo(of: element)
    entity.properties = properties(of: element, entityName: name)
    return ReadEntity(entity: entity, element: element)
  }

  private func properties(
    of element: DocumentElement, entityName: String
  ) -> [PropertyDescription] {
    let reading = PropertyReading(elements: elements)
    var result: [PropertyDescription] = []
    var lines: [String: Int] = [:]
    for child in element.children {
      let property: PropertyDescription?
      switch child.name {
      case "attribute": property = attributes.attribute(child)
      case "relationship": property = reading.relationship(child)
      case "fetchedProperty": property = reading.fetchedProperty(child)
      default: property = nil
      }
      guard let property else { continue }
      if let first = lines[property.name] {
        problems.add(
          .duplicateName, line: child.line,
          "\(entityName) has two properties \(property.name), the first on line \(first); "
            + "rename one.")
        continue
      }
      lines[property.name] = child.line
      result.append(property)
    }
    return result
  }
}
