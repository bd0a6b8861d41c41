import CairnModel
import Foundation

/// Reads the `attribute` elements of entities and composites.
struct AttributeReading {
  let elements: ElementReading
  /// The `composite` elements of the document, by name.
  let composites: [String: DocumentElement]
  var problems: ModelFileProblems { elements.problems }

  /// An attribute of any kind.
  ///
  /// - Parameter path: the composites that are being expanded, outermost first.
  func attribute(_ element: DocumentElement, inside path: [String] = []) -> AttributeDescription? {
    guard problems.spendAttribute(line: element.line),
      let name = elements.required("name", of: element)
    else { return nil }
    let type = type(of: element)
    let attribute: AttributeDescription
    if type == .composite {
      let composite = CompositeAttributeDescription()
      composite.elements = leaves(ofCompositeNamedBy: element, inside: path)
      attribute = composite
    } else if elements.flag("derived", of: element, default: false) {
      let derived = DerivedAttributeDescription()
      derived.derivationExpression = elements.expression("derivationExpression", of: element)
      attribute = derived
    } else {
      attribute = AttributeDescription()
    }
    attribute.name = name
    attribute.attributeType = type
    PropertyReading(elements: elements).readCommon(element, into: attribute)
    attribute.allowsExternalBinaryDataStorage = elements.flag(
      "allowsExternalBinaryDataStorage", of: element, default: false)
    attribute.preservesValueInHistoryOnDeletion = elements.flag(
      "preserveAfterDeletion", of: element, default: false)
    attribute.allowsCloudEncryption = elements.flag(
      "allowsCloudEncryption", of: element, default: false)
    attribute.usesScalarValueType = elements.flag(
      "usesScalarValueType", of: element, default: false)
    attribute.valueTransformerName = element["valueTransformerName"]
    attribute.compositeName = element["composite"]
    if let className = element["customClassName"] { attribute.attributeValueClassName = className }
    let values = AttributeValueReading(elements: elements, element: element, type: type)
    attribute.defaultValue = values.defaultValue()
    let rules = values.validation()
    if !rules.isEmpty {
      attribute.setValidationPredicates(
        rules.map(\.predicate), withValidationWarnings: rules.map(\.code))
    }
    return attribute
  }

  private func type(of element: DocumentElement) -> AttributeType {
    guard let text = element["attributeType"] else { return .undefined }
    if let type = AttributeType.byEditorName[text] { return type }
    problems.add(
      .invalidValue, line: element.line,
      "attributeType=\"\(text)\" of \(ElementReading.title(element)) is no type; use one of "
        + AttributeType.byEditorName.keys.sorted().joined(separator: ", ") + ".")
    return .undefined
  }

  private func leaves(
    ofCompositeNamedBy element: DocumentElement, inside path: [String]
  ) -> [AttributeDescription] {
    guard let name = elements.required("composite", of: element) else { return [] }
    guard let composite = composites[name] else {
      problems.add(
        .unknownName, line: element.line,
        "\(ElementReading.title(element)) uses the composite \(name), which the model lacks.")
      return []
    }
    guard !path.contains(name) else {
      problems.add(
        .invalidValue, line: element.line,
        "The composite \(name) contains itself (\((path + [name]).joined(separator: " > "))).")
      return []
    }
    guard path.count < ModelFileLimits.compositeDepth else {
      problems.add(
        .tooLarge, line: element.line,
        "Composite attributes are nested deeper than \(ModelFileLimits.compositeDepth) levels.")
      return []
    }
    return composite.children(named: "attribute").compactMap {
      attribute($0, inside: path + [name])
    }
  }
}
