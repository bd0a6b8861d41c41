import CairnModel
import CairnPredicates
import Foundation

/// Writes `attribute` elements: type, default value, bounds.
struct AttributeWriting {
  let losses: DocumentLosses

  /// - Parameters:
  ///   - composite: the name of the composite element, for a composite attribute.
  ///   - place: what losses name.
  func element(_ attribute: AttributeDescription, composite: String?, place: String) -> NewElement {
    var element = NewElement("attribute")
    element.set("name", attribute.name)
    PropertyWriting(losses: losses).setCommon(of: attribute, in: &element, place: place)
    if attribute.attributeType != .undefined {
      element.set("attributeType", attribute.attributeType.editorName)
    }
    element.set("composite", composite)
    setValues(of: attribute, in: &element, place: place)
    element.set(
      "allowsExternalBinaryDataStorage", attribute.allowsExternalBinaryDataStorage)
    element.set("preserveAfterDeletion", attribute.preservesValueInHistoryOnDeletion)
    element.set("allowsCloudEncryption", attribute.allowsCloudEncryption)
    element.set("usesScalarValueType", attribute.usesScalarValueType)
    element.set("valueTransformerName", attribute.valueTransformerName)
    if let name = attribute.attributeValueClassName, name != attribute.attributeType.valueClassName
    {
      element.set("customClassName", name)
    }
    if let derived = attribute as? DerivedAttributeDescription {
      element.set("derived", true)
      element.set("derivationExpression", derived.derivationExpression?.description)
      if derived.filteringPredicate != nil {
        losses.add("\(place): the predicate that filters what it is derived from")
      }
    }
    return element
  }

  private func setValues(
    of attribute: AttributeDescription, in element: inout NewElement, place: String
  ) {
    if let value = attribute.defaultValue, !(value is NSNull) {
      if attribute.attributeType == .date, let date = value as? Date {
        element.set("defaultDateTimeInterval", Self.text(date.timeIntervalSinceReferenceDate))
      } else if let text = Self.defaultText(value, attribute.attributeType),
        NewElement.canHold(text)
      {
        element.set("defaultValueString", text)
      } else {
        losses.add("\(place): its default value, \(type(of: value))")
      }
    }
    for (predicate, warning) in zip(attribute.validationPredicates, attribute.validationWarnings) {
      guard let bound = Self.bound(predicate, warning, attribute.attributeType) else {
        losses.add("\(place): the condition \(predicate)")
        continue
      }
      element.set(bound.name, bound.text)
    }
  }

  // MARK: Values

  private static func defaultText(_ value: Any, _ type: AttributeType) -> String? {
    switch type {
    case .integer16, .integer32, .integer64: return (value as? NSNumber).map { "\($0.int64Value)" }
    case .boolean: return (value as? NSNumber).map { $0.boolValue ? "YES" : "NO" }
    case .double: return (value as? NSNumber).map { text($0.doubleValue) }
    case .float: return (value as? NSNumber).map { "\($0.floatValue)" }
    case .decimal:
      if let decimal = value as? Decimal { return "\(decimal)" }
      return (value as? NSNumber).flatMap(AttributeCoding.decimal).map { "\($0)" }
    case .string, .transformable, .undefined: return value as? String
    case .uuid: return (value as? UUID)?.uuidString
    case .uri: return (value as? URL)?.absoluteString
    case .date, .binaryData, .objectID, .composite: return nil
    }
  }

  private static func text(_ number: Double) -> String {
    Int64(exactly: number).map(String.init) ?? "\(number)"
  }

  // MARK: Bounds

  /// The attribute that says the same as a predicate of a value, when there is one.
  private static func bound(
    _ predicate: ObjectPredicate, _ warning: Any, _ type: AttributeType
  ) -> (name: String, text: String)? {
    guard case .comparison(let comparison) = predicate.node, comparison.modifier == .direct,
      comparison.options.isEmpty, case .constant(let limit) = comparison.right,
      let code = (warning as? NSNumber)?.intValue
    else { return nil }
    switch (comparison.left, comparison.type, code) {
    case (.evaluatedObject, .greaterThanOrEqualTo, 1620):
      return text(limit).map { ("minValueString", $0) }
    case (.evaluatedObject, .lessThanOrEqualTo, 1610):
      return text(limit).map { ("maxValueString", $0) }
    case (.keyPath("length"), .greaterThanOrEqualTo, 1670) where type == .string:
      return text(limit).map { ("minValueString", $0) }
    case (.keyPath("length"), .lessThanOrEqualTo, 1660) where type == .string:
      return text(limit).map { ("maxValueString", $0) }
    case (.evaluatedObject, .matches, 1680):
      guard case .string(let pattern) = limit, NewElement.canHold(pattern) else { return nil }
      return ("regularExpressionString", pattern)
    case (.keyPath("timeIntervalSinceReferenceDate"), .greaterThanOrEqualTo, 1640):
      return text(limit).map { ("minDateTimeInterval", $0) }
    case (.keyPath("timeIntervalSinceReferenceDate"), .lessThanOrEqualTo, 1630):
      return text(limit).map { ("maxDateTimeInterval", $0) }
    default: return nil
    }
  }

  private static func text(_ value: PredicateValue) -> String? {
    switch value {
    case .integer(let number): return "\(number)"
    case .double(let number): return number.isFinite ? text(number) : nil
    case .decimal(let number): return "\(number)"
    case .null, .boolean, .string, .date, .data, .uuid, .url, .objectID, .object, .array, .set,
      .dictionary:
      return nil
    }
  }
}
