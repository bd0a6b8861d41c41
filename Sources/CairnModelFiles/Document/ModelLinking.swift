import CairnModel
import Foundation

/// Connects the entities of a document: inheritance, destinations, inverses, indexes, constraints.
struct ModelLinking {
  let problems: ModelFileProblems
  let elements: ElementReading

  func link(_ entities: [ReadEntity]) {
    let byName = Dictionary(
      entities.map { ($0.entity.name ?? "", $0.entity) }, uniquingKeysWith: { first, _ in first })
    linkInheritance(entities, byName)
    guard !areTooManyProperties(entities) else { return }
    for read in entities { linkDestinations(read, byName) }
    var lookup = PropertyLookup()
    for read in entities { linkInverses(read, byName, &lookup) }
    for read in entities {
      read.entity.uniquenessConstraints = constraints(of: read)
      read.entity.indexes = indexes(of: read)
    }
  }

  private func linkInheritance(_ entities: [ReadEntity], _ byName: [String: EntityDescription]) {
    var parents: [String: String] = [:]
    for read in entities {
      guard let name = read.entity.name, let parent = read.element["parentEntity"], !parent.isEmpty
      else { continue }
      guard byName[parent] != nil else {
        problems.add(
          .unknownName, line: read.element.line,
          "\(name) inherits from \(parent), which the model lacks.")
        continue
      }
      var ancestor: String? = parent
      var depth = 0
      while let current = ancestor, current != name, depth <= ModelFileLimits.inheritanceDepth {
        ancestor = parents[current]
        depth += 1
      }
      if ancestor == name {
        problems.add(
          .invalidValue, line: read.element.line,
          "\(name) inherits from itself through \(parent); give one of them another parent.")
        continue
      }
      parents[name] = parent
    }
    guard !isTooDeep(parents, entities) else { return }
    let children = Dictionary(grouping: entities) { parents[$0.entity.name ?? ""] }
    for read in entities {
      read.entity.subentities = read.entity.name.flatMap { children[$0] }?.map(\.entity) ?? []
    }
  }

  /// Asked when all are known: entities may be listed in any order.
  private func isTooDeep(_ parents: [String: String], _ entities: [ReadEntity]) -> Bool {
    for read in entities {
      var depth = 0
      var next = read.entity.name
      while let current = next, depth <= ModelFileLimits.inheritanceDepth {
        next = parents[current]
        depth += 1
      }
      guard depth > ModelFileLimits.inheritanceDepth, let name = read.entity.name else { continue }
      problems.add(
        .tooLarge, line: read.element.line,
        "\(name) inherits through more than \(ModelFileLimits.inheritanceDepth) entities.")
      return true
    }
    return false
  }

  /// Asked before anything else is linked: where a hundred thousand entities inherit a hundred thousand
  /// properties, no list of them ends.
  private func areTooManyProperties(_ entities: [ReadEntity]) -> Bool {
    var count = 0
    for read in entities {
      count += read.entity.propertyCount
      guard count > ModelFileLimits.inheritedProperties else { continue }
      problems.add(
        .tooLarge, line: read.element.line,
        "The entities have more than \(ModelFileLimits.inheritedProperties) properties together, "
          + "inherited ones counted with each; no model has so many. Move attributes from "
          + "\(read.entity.rootEntity.name ?? "the parents") into the entities that use them.")
      return true
    }
    return false
  }

  private func linkDestinations(_ read: ReadEntity, _ byName: [String: EntityDescription]) {
    let written = relationshipElements(of: read)
    for case let relationship as RelationshipDescription in read.entity.declaredProperties {
      guard let name = relationship.destinationEntityName else { continue }
      if let destination = byName[name] {
        relationship.destinationEntity = destination
      } else {
        problems.add(
          .unknownName, line: written[relationship.name]?.line,
          "The destination \(name) of \(read.entity.name ?? "").\(relationship.name) is not in the "
            + "model.")
      }
    }
  }

  private func linkInverses(
    _ read: ReadEntity, _ byName: [String: EntityDescription], _ lookup: inout PropertyLookup
  ) {
    let written = relationshipElements(of: read)
    for case let relationship as RelationshipDescription in read.entity.declaredProperties {
      guard let name = relationship.inverseRelationshipName,
        let destination = relationship.destinationEntity
      else { continue }
      let element = written[relationship.name]
      // The inverse's entity may be an ancestor of the destination.
      let owner = element?["inverseEntity"].flatMap { byName[$0] } ?? destination
      let inverse = lookup.property(name, of: owner) ?? lookup.property(name, of: destination)
      if let inverse = inverse as? RelationshipDescription {
        relationship.inverseRelationship = inverse
      } else {
        problems.add(
          .unknownName, line: element?.line,
          "The inverse \(owner.name ?? "").\(name) of \(read.entity.name ?? "")."
            + "\(relationship.name) is not in the model.")
      }
    }
  }

  private func relationshipElements(of read: ReadEntity) -> [String: DocumentElement] {
    Dictionary(
      read.element.children(named: "relationship").map { ($0["name"] ?? "", $0) },
      uniquingKeysWith: { first, _ in first })
  }

  // MARK: Constraints and indexes

  private func constraints(of read: ReadEntity) -> [[String]] {
    let listed = read.element.children(named: "uniquenessConstraints")
      .flatMap { $0.children(named: "uniquenessConstraint") }
    // Most entities have none, and their properties need not be put together.
    guard !listed.isEmpty else { return [] }
    let known = Set(read.entity.properties.map(\.name))
    return
      listed.map { constraint in
        constraint.children(named: "constraint").compactMap { part in
          guard let name = elements.required("value", of: part) else { return nil }
          if !known.contains(name) {
            problems.add(
              .unknownName, line: part.line,
              "A uniqueness constraint of \(read.entity.name ?? "") names \(name), which is not a "
                + "property of the entity.")
          }
          return name
        }
      }
      .filter { !$0.isEmpty }
  }

  private func indexes(of read: ReadEntity) -> [FetchIndexDescription] {
    let listed = read.element.children(named: "fetchIndex")
    // The legacy form of the same thing; its indexes have no names, so their members name them.
    let compounds = read.element.children(named: "compoundIndexes")
      .flatMap { $0.children(named: "compoundIndex") }
    guard !listed.isEmpty || !compounds.isEmpty else { return [] }
    let properties = read.entity.propertiesByName
    var result: [FetchIndexDescription] = []
    for element in listed {
      guard let name = elements.required("name", of: element) else { continue }
      let parts = element.children(named: "fetchIndexElement").compactMap {
        indexElement($0, properties, entityName: read.entity.name ?? "")
      }
      let index = FetchIndexDescription(name: name, elements: parts)
      index.partialIndexPredicate = elements.predicate("partialIndexPredicate", of: element)
      result.append(index)
    }
    for compound in compounds {
      let names = compound.children(named: "index").compactMap { $0["value"] }
      let parts = names.compactMap { name in
        indexElement(
          named: name, .binary, isAscending: true, properties, line: compound.line,
          entityName: read.entity.name ?? "")
      }
      guard !parts.isEmpty else { continue }
      result.append(
        FetchIndexDescription(name: names.joined(separator: "_"), elements: parts))
    }
    return result
  }

  private func indexElement(
    _ element: DocumentElement, _ properties: [String: PropertyDescription], entityName: String
  ) -> FetchIndexElementDescription? {
    let isTree = element["type"]?.lowercased() == "rtree"
    let isAscending = element["order"]?.lowercased() != "descending"
    let type: FetchIndexElementType = isTree ? .rTree : .binary
    if element["property"] == nil, element["expression"] != nil {
      guard let expression = elements.expression("expression", of: element) else { return nil }
      let computed = ExpressionDescription()
      computed.name = element["expression"] ?? ""
      computed.expression = expression
      computed.expressionResultType =
        AttributeType.byEditorName[element["expressionType"] ?? ""] ?? .undefined
      let part = FetchIndexElementDescription(property: computed, collationType: type)
      part.isAscending = isAscending
      return part
    }
    guard let name = elements.required("property", of: element) else { return nil }
    return indexElement(
      named: name, type, isAscending: isAscending, properties, line: element.line,
      entityName: entityName)
  }

  private func indexElement(
    named name: String, _ type: FetchIndexElementType, isAscending: Bool,
    _ properties: [String: PropertyDescription], line: Int, entityName: String
  ) -> FetchIndexElementDescription? {
    let part = FetchIndexElementDescription(
      propertyName: name, collationType: type, isAscending: isAscending)
    part.property = properties[name]
    if part.property == nil, name != "self", name != "entity" {
      problems.add(
        .unknownName, line: line,
        "An index of \(entityName) names \(name), which is not a property of the entity.")
      return nil
    }
    return part
  }
}
