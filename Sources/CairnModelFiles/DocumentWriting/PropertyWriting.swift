import CairnModel
import CairnPredicates
import Foundation

/// Writes relationships, fetched properties, and what all properties have in common.
struct PropertyWriting {
  let losses: DocumentLosses

  func setCommon(
    of property: PropertyDescription, in element: inout NewElement, place: String
  ) {
    element.set("optional", property.isOptional)
    element.set("transient", property.isTransient)
    element.set("indexed", property.isIndexed)
    element.set("spotlightIndexingEnabled", property.isIndexedBySpotlight)
    element.set("storedInTruthFile", property.isStoredInExternalRecord)
    element.set("versionHashModifier", property.versionHashModifier)
    if let former = property.explicitRenamingIdentifier, former != property.name {
      element.set("elementID", former)
    }
    setUserInfo(property.userInfo, in: &element, place: place)
  }

  func setUserInfo(
    _ userInfo: [AnyHashable: Any]?, in element: inout NewElement, place: String
  ) {
    guard let userInfo, !userInfo.isEmpty else { return }
    var info = NewElement("userInfo")
    let entries = userInfo.map { ("\($0.key)", $0.value) }.sorted { $0.0 < $1.0 }
    for (key, value) in entries {
      guard let text = value as? String, NewElement.canHold(text), NewElement.canHold(key) else {
        losses.add("\(place): the user info \(key), which is no text")
        continue
      }
      var entry = NewElement("entry")
      entry.set("key", key)
      entry.set("value", text)
      info.children.append(entry)
    }
    if !info.children.isEmpty { element.children.append(info) }
  }

  func element(_ relationship: RelationshipDescription, place: String) -> NewElement {
    var element = NewElement("relationship")
    element.set("name", relationship.name)
    setCommon(of: relationship, in: &element, place: place)
    element.set("toMany", relationship.isToMany)
    if relationship.maxCount != 0 { element.set("maxCount", "\(relationship.maxCount)") }
    if relationship.minCount != 0 { element.set("minCount", "\(relationship.minCount)") }
    element.set("ordered", relationship.isOrdered)
    element.set("deletionRule", Self.name(of: relationship.deleteRule))
    element.set(
      "destinationEntity",
      relationship.destinationEntity?.name ?? relationship.destinationEntityName)
    if let inverse = relationship.inverseRelationship {
      element.set("inverseName", inverse.name)
      element.set("inverseEntity", inverse.entity?.name)
    }
    return element
  }

  private static func name(of rule: DeleteRule) -> String {
    switch rule {
    case .noAction: "No Action"
    case .nullify: "Nullify"
    case .cascade: "Cascade"
    case .deny: "Deny"
    }
  }

  func element(_ property: FetchedPropertyDescription, place: String) -> NewElement {
    var element = NewElement("fetchedProperty")
    element.set("name", property.name)
    setCommon(of: property, in: &element, place: place)
    if let template = property.template {
      element.children.append(
        request(
          template, name: template.editorName ?? "fetchedPropertyFetchRequest", place: place))
    }
    return element
  }

  func request(_ template: FetchRequestTemplate, name: String, place: String) -> NewElement {
    var element = NewElement("fetchRequest")
    element.set("name", name)
    element.set("entity", template.entityName)
    element.set("predicateString", text(of: template.predicate, place: place))
    func count(_ attribute: String, _ number: Int) {
      if number != 0 { element.set(attribute, "\(number)") }
    }
    count("resultType", Int(template.resultType))
    count("fetchLimit", template.fetchLimit)
    count("fetchOffset", template.fetchOffset)
    count("fetchBatchSize", template.fetchBatchSize)
    func isNot(_ attribute: String, _ flag: Bool) { if !flag { element.set(attribute, "NO") } }
    isNot("includesSubentities", template.includesSubentities)
    isNot("includesPropertyValues", template.includesPropertyValues)
    isNot("returnsObjectsAsFaults", template.returnsObjectsAsFaults)
    isNot("includesPendingChanges", template.includesPendingChanges)
    element.set("returnsDistinctResults", template.returnsDistinctResults)
    if !template.sortDescriptors.isEmpty { losses.add("\(place): the order of its results") }
    return element
  }

  /// A predicate as the format language has it, when it can be read back.
  func text(of predicate: ObjectPredicate?, place: String) -> String? {
    guard let predicate else { return nil }
    let text = predicate.description
    guard NewElement.canHold(text), (try? ObjectPredicate.parse(text)) != nil else {
      losses.add("\(place): the predicate \(text)")
      return nil
    }
    return text
  }
}
