import CairnModel
import Foundation

/// Reads relationships, fetched properties and what all properties have in common.
struct PropertyReading {
  let elements: ElementReading
  var problems: ModelFileProblems { elements.problems }

  /// What attributes, relationships and fetched properties share.
  func readCommon(_ element: DocumentElement, into property: PropertyDescription) {
    property.isOptional = elements.flag("optional", of: element, default: false)
    property.isTransient = elements.flag("transient", of: element, default: false)
    property.isIndexed = elements.flag("indexed", of: element, default: false)
    property.isIndexedBySpotlight = elements.flag(
      "spotlightIndexingEnabled", of: element, default: false)
    property.isStoredInExternalRecord = elements.flag(
      "storedInTruthFile", of: element, default: false)
    if let modifier = element["versionHashModifier"], !modifier.isEmpty {
      property.versionHashModifier = modifier
    }
    if let former = element["elementID"] ?? element["renamingIdentifier"], !former.isEmpty {
      property.renamingIdentifier = former
    }
    property.userInfo = elements.userInfo(of: element)
  }

  /// A relationship; its destination and inverse are names until the model is linked.
  func relationship(_ element: DocumentElement) -> RelationshipDescription? {
    guard let name = elements.required("name", of: element) else { return nil }
    let relationship = RelationshipDescription()
    relationship.name = name
    readCommon(element, into: relationship)
    relationship.destinationEntityName = elements.required("destinationEntity", of: element)
    relationship.inverseRelationshipName = element["inverseName"]
    let isToMany = elements.flag("toMany", of: element, default: false)
    // Programs may have set -1 for any number, which counts in the version hash.
    relationship.maxCount =
      element["maxCount"] == "-1"
      ? -1 : elements.count("maxCount", of: element, default: isToMany ? 0 : 1)
    relationship.minCount = elements.count("minCount", of: element, default: 0)
    relationship.isOrdered = elements.flag("ordered", of: element, default: false)
    relationship.deleteRule = deleteRule(of: element)
    return relationship
  }

  private func deleteRule(of element: DocumentElement) -> DeleteRule {
    switch element["deletionRule"] {
    case nil, "Nullify": return .nullify
    case "Cascade": return .cascade
    case "Deny": return .deny
    case "No Action": return .noAction
    case .some(let text):
      problems.add(
        .invalidValue, line: element.line,
        "deletionRule=\"\(text)\" of \(ElementReading.title(element)) should be Nullify, Cascade, "
          + "Deny or No Action.")
      return .nullify
    }
  }

  /// A fetched property with its request.
  func fetchedProperty(_ element: DocumentElement) -> FetchedPropertyDescription? {
    guard let name = elements.required("name", of: element) else { return nil }
    let property = FetchedPropertyDescription()
    property.name = name
    readCommon(element, into: property)
    if let request = element.firstChild(named: "fetchRequest") {
      property.template = template(request)
      property.template?.editorName = request["name"]
    } else {
      problems.add(
        .missingValue, line: element.line,
        "\(ElementReading.title(element)) has no fetchRequest; say which entity it fetches.")
    }
    return property
  }

  /// A fetch request; both spellings of its flags occur.
  func template(_ element: DocumentElement) -> FetchRequestTemplate? {
    guard let entity = elements.required("entity", of: element) else { return nil }
    func flag(_ first: String, _ second: String, _ fallback: Bool) -> Bool {
      elements.flag(element[first] == nil ? second : first, of: element, default: fallback)
    }
    var template = FetchRequestTemplate(
      entityName: entity, predicate: elements.predicate("predicateString", of: element))
    template.resultType = UInt(elements.count("resultType", of: element, default: 0))
    template.fetchLimit = elements.count("fetchLimit", of: element, default: 0)
    template.fetchOffset = elements.count("fetchOffset", of: element, default: 0)
    template.fetchBatchSize = elements.count("fetchBatchSize", of: element, default: 0)
    template.includesSubentities = flag("includesSubentities", "includeSubentities", true)
    template.includesPropertyValues = flag("includesPropertyValues", "includePropertyValues", true)
    template.returnsObjectsAsFaults = flag("returnsObjectsAsFaults", "returnObjectsAsFaults", true)
    template.includesPendingChanges = elements.flag(
      "includesPendingChanges", of: element, default: true)
    template.returnsDistinctResults = flag("returnsDistinctResults", "returnDistinctResults", false)
    return template
  }
}
