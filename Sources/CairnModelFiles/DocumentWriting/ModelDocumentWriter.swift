import CairnModel
import CairnPredicates
import Foundation

/// A model as the `contents` document of a `.xcdatamodel` folder.
///
/// Read back, the document gives a model with the same version hashes; that is checked before it
/// is handed out. The format has no words for some things that a model can hold, such as default
/// values of attributes of other types than numbers, texts and dates; ``losses`` lists them.
public struct ModelDocument: Sendable {
  /// The XML text, in UTF-8.
  public let data: Data
  /// What the model has and the document cannot say, each with its place.
  public let losses: [String]

  /// - Throws: ``ModelFileError`` for a model whose version a document cannot express.
  public init(_ model: ManagedObjectModel) throws {
    let writer = ModelDocumentWriter()
    data = Data(writer.root(model).document.utf8)
    losses = writer.losses.all
    let again = try ModelDocumentReader.read(data, file: "contents")
    let (own, read) = (model.entityVersionHashesByName, again.entityVersionHashesByName)
    let different = Set(own.keys).union(read.keys).filter { own[$0] != read[$0] }.sorted()
    if !different.isEmpty {
      throw ModelFileError(
        file: "contents", .invalidValue,
        "The document would describe another version of "
          + "\(different.joined(separator: ", ")); the format has no words for what they hold.")
    }
  }
}

/// Makes the elements of a model document.
private final class ModelDocumentWriter {
  let losses = DocumentLosses()
  private var properties: PropertyWriting { PropertyWriting(losses: losses) }
  private var attributes: AttributeWriting { AttributeWriting(losses: losses) }
  /// The composite elements, with what is in them.
  private var composites: [(name: String, text: String, element: NewElement)] = []

  func root(_ model: ManagedObjectModel) -> NewElement {
    var root = NewElement("model")
    root.set("type", "com.apple.IDECoreDataModeler.DataModel")
    root.set("documentVersion", "1.0")
    root.set("lastSavedToolsVersion", "1")
    root.set("systemVersion", "")
    root.set("minimumToolsVersion", "Automatic")
    root.set("sourceLanguage", "Swift")
    let identifiers = model.versionIdentifiers.map { "\($0)" }.sorted()
    root.set("userDefinedModelVersionIdentifier", identifiers.first)
    for identifier in identifiers.dropFirst() {
      losses.add("model: the version identifier \(identifier)")
    }
    if model.localizationDictionary?.isEmpty == false {
      losses.add("model: the localization dictionary")
    }
    let sorted = model.entities.sorted { ($0.name ?? "").precedesByCodePoints($1.name ?? "") }
    root.children = sorted.map(entity)
    for name in model.configurations {
      var configuration = NewElement("configuration")
      configuration.set("name", name)
      configuration.children = model.entityNames(inConfiguration: name).map { member in
        var element = NewElement("memberEntity")
        element.set("name", member)
        return element
      }
      root.children.append(configuration)
    }
    for (name, template) in model.templatesByName.sorted(by: { $0.key < $1.key }) {
      root.children.append(
        properties.request(template, name: name, place: "fetch request \(name)"))
    }
    root.children += composites.map(\.element)
    return root
  }

  private func entity(_ entity: EntityDescription) -> NewElement {
    let name = entity.name ?? ""
    var element = NewElement("entity")
    element.set("name", name)
    if let className = entity.explicitClassName, className != "NSManagedObject" {
      element.set("representedClassName", className)
    }
    element.set("parentEntity", entity.superentity?.name)
    element.set("isAbstract", entity.isAbstract)
    element.set("syncable", true)
    element.set("codeGenerationType", entity.codeGenerationType)
    element.set("versionHashModifier", entity.versionHashModifier)
    if let former = entity.explicitRenamingIdentifier, former != name {
      element.set("elementID", former)
    }
    setDisplayName(of: entity, in: &element)
    let own = entity.declaredProperties.sorted { $0.name.precedesByCodePoints($1.name) }
    for case let attribute as AttributeDescription in own {
      element.children.append(self.attribute(attribute, place: "\(name).\(attribute.name)"))
    }
    for case let relationship as RelationshipDescription in own {
      element.children.append(
        properties.element(relationship, place: "\(name).\(relationship.name)"))
    }
    for case let property as FetchedPropertyDescription in own {
      element.children.append(properties.element(property, place: "\(name).\(property.name)"))
    }
    element.children += entity.indexes.map { index($0, of: name) }
    if let constraints = constraints(entity) { element.children.append(constraints) }
    properties.setUserInfo(entity.userInfo, in: &element, place: name)
    return element
  }

  private func setDisplayName(of entity: EntityDescription, in element: inout NewElement) {
    let expression = entity.coreSpotlightDisplayNameExpression
    if case .constant(.null) = expression.node { return }
    let text = expression.description
    guard NewElement.canHold(text), (try? ObjectExpression.parse(text)) != nil else {
      losses.add("\(entity.name ?? ""): the expression \(text) for its name in Spotlight")
      return
    }
    element.set("coreSpotlightDisplayNameExpression", text)
  }

  // MARK: Attributes

  private func attribute(_ attribute: AttributeDescription, place: String) -> NewElement {
    let composite = (attribute as? CompositeAttributeDescription).map {
      self.composite($0, place: place)
    }
    return attributes.element(attribute, composite: composite, place: place)
  }

  /// The name of the composite element with the attribute's elements, which is made if need be.
  private func composite(_ attribute: CompositeAttributeDescription, place: String) -> String {
    let wanted = attribute.compositeName ?? attribute.name
    var element = NewElement("composite")
    element.children = attribute.elements.map { self.attribute($0, place: "\(place).\($0.name)") }
    let text = element.document
    var name = wanted
    var number = 1
    while let taken = composites.first(where: { $0.name == name }) {
      if taken.text == text { return name }
      number += 1
      name = "\(wanted)\(number)"
    }
    element.set("name", name)
    composites.append((name, text, element))
    return name
  }

  // MARK: Indexes and constraints

  private func index(_ index: FetchIndexDescription, of entity: String) -> NewElement {
    var element = NewElement("fetchIndex")
    element.set("name", index.name)
    element.set(
      "partialIndexPredicate",
      properties.text(of: index.partialIndexPredicate, place: "\(entity), index \(index.name)"))
    element.children = index.elements.map { part in
      var child = NewElement("fetchIndexElement")
      if let computed = part.property as? ExpressionDescription {
        child.set("expression", computed.expression?.description)
        child.set("expressionType", computed.expressionResultType.editorName)
      } else {
        child.set("property", part.propertyName)
      }
      child.set("type", part.collationType == .rTree ? "RTree" : "Binary")
      child.set("order", part.isAscending ? "ascending" : "descending")
      return child
    }
    return element
  }

  private func constraints(_ entity: EntityDescription) -> NewElement? {
    guard !entity.constraintNames.isEmpty else { return nil }
    var element = NewElement("uniquenessConstraints")
    element.children = entity.constraintNames.map { names in
      var constraint = NewElement("uniquenessConstraint")
      constraint.children = names.map { name in
        var part = NewElement("constraint")
        part.set("value", name)
        return part
      }
      return constraint
    }
    return element
  }
}
