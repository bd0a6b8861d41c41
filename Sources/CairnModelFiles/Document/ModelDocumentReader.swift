import CairnModel
import Foundation

/// Reads the `contents` document of a `.xcdatamodel` folder into a model.
///
/// The shape of the document: `model` holds `entity`, `configuration`, `fetchRequest` and
/// `composite` elements; an `entity` holds its properties, indexes and constraints. What the reader
/// does not know it passes over, because newer editors add to the format.
package struct ModelDocumentReader {
  private let file: String
  private let root: DocumentElement
  private let problems = ModelFileProblems()
  private let elements: ElementReading

  /// - Throws: ``ModelFileError`` with every problem of the document.
  package static func read(_ data: Data, file: String) throws -> ManagedObjectModel {
    let root = try DocumentElement.parse(data, file: file)
    guard root.name == "model" else {
      throw ModelFileError(
        file: file, .notAModel, "The document's root is <\(root.name)>, not <model>.",
        line: root.line)
    }
    return try ModelDocumentReader(file: file, root: root).model()
  }

  private init(file: String, root: DocumentElement) {
    self.file = file
    self.root = root
    elements = ElementReading(problems: problems)
  }

  private func model() throws -> ManagedObjectModel {
    let model = ManagedObjectModel()
    let entities = namedEntities()
    ModelLinking(problems: problems, elements: elements).link(entities)
    model.entities = entities.map(\.entity)
    readConfigurations(into: model)
    readTemplates(into: model)
    if let identifier = root["userDefinedModelVersionIdentifier"] {
      model.versionIdentifiers = [identifier]
    }
    try problems.throwIfAny(file: file)
    return model
  }

  private func namedEntities() -> [ReadEntity] {
    var composites: [String: DocumentElement] = [:]
    for element in root.children(named: "composite") {
      guard let name = elements.required("name", of: element) else { continue }
      if composites.updateValue(element, forKey: name) != nil {
        problems.add(.duplicateName, line: element.line, "There are two composites \(name).")
      }
    }
    let reading = EntityReading(
      elements: elements,
      attributes: AttributeReading(elements: elements, composites: composites))
    var seen: [String: Int] = [:]
    var result: [ReadEntity] = []
    for element in root.children(named: "entity") {
      guard let read = reading.entity(element) else { continue }
      let name = read.entity.name ?? ""
      if let first = seen[name] {
        problems.add(
          .duplicateName, line: element.line,
          "There are two entities \(name), the first on line \(first); rename one.")
        continue
      }
      seen[name] = element.line
      result.append(read)
    }
    return result
  }

  private func readConfigurations(into model: ManagedObjectModel) {
    let byName = model.entitiesByName
    for element in root.children(named: "configuration") {
      guard let name = elements.required("name", of: element) else { continue }
      var members: [EntityDescription] = []
      for member in element.children(named: "memberEntity") {
        guard let memberName = elements.required("name", of: member) else { continue }
        if let entity = byName[memberName] {
          members.append(entity)
        } else {
          problems.add(
            .unknownName, line: member.line,
            "Configuration \(name) names the entity \(memberName), which the model lacks.")
        }
      }
      model.setEntities(members, forConfigurationName: name)
    }
  }

  private func readTemplates(into model: ManagedObjectModel) {
    let byName = model.entitiesByName
    for element in root.children(named: "fetchRequest") {
      guard let name = elements.required("name", of: element),
        let template = PropertyReading(elements: elements).template(element)
      else { continue }
      if byName[template.entityName] == nil {
        problems.add(
          .unknownName, line: element.line,
          "Fetch request \(name) names the entity \(template.entityName), which the model lacks.")
      }
      model.templatesByName[name] = template
    }
  }
}
