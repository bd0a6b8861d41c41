import CairnModel
import CairnPredicates
import Foundation

/// Reads the default value and the bounds of one attribute, by its type.
struct AttributeValueReading {
  let elements: ElementReading
  let element: DocumentElement
  let type: AttributeType

  /// A condition on the value and the error code of breaking it.
  typealias Rule = (predicate: ObjectPredicate, code: Any)

  /// The value of new objects; an empty text is a default only for strings.
  func defaultValue() -> Any? {
    if type == .date {
      return elements.number("defaultDateTimeInterval", of: element)
        .map(Date.init(timeIntervalSinceReferenceDate:))
    }
    guard let text = element["defaultValueString"] else { return nil }
    if type == .string { return text }
    if text.isEmpty { return nil }
    guard let value = value(of: text) else {
      // The editor has no field for these: the text is what was left when a string changed its type.
      if type == .uuid || type == .uri { return nil }
      elements.problems.add(
        .invalidValue, line: element.line,
        "defaultValueString=\"\(text)\" of \(ElementReading.title(element)) does not fit its "
          + "type \(element["attributeType"] ?? "Undefined").")
      return nil
    }
    return value
  }

  private func value(of text: String) -> Any? {
    switch type {
    case .integer16: return number(text, in: Int64(Int16.min)...Int64(Int16.max))
    case .integer32: return number(text, in: Int64(Int32.min)...Int64(Int32.max))
    case .integer64: return number(text, in: Int64.min...Int64.max)
    case .decimal: return decimal(text).map(DecimalNumber.init)
    case .double: return Double(text).map { NSNumber(value: $0) }
    case .float: return Float(text).map { NSNumber(value: $0) }
    case .boolean: return ElementReading.flag(text).map { NSNumber(value: $0) }
    case .uuid: return UUID(uuidString: text)
    case .uri: return URL(string: text)
    case .string, .undefined, .transformable: return text
    case .date, .binaryData, .objectID, .composite: return nil
    }
  }

  private func number(_ text: String, in range: ClosedRange<Int64>) -> NSNumber? {
    if let value = Int64(text) { return range.contains(value) ? NSNumber(value: value) : nil }
    // The editor keeps `YES` and `NO` when a type was changed from Boolean, `0.0` from Double.
    switch text {
    case "YES": return NSNumber(value: 1)
    case "NO": return NSNumber(value: 0)
    default: break
    }
    guard let value = Double(text), let whole = Int64(exactly: value.rounded(.towardZero)) else {
      return nil
    }
    return range.contains(whole) ? NSNumber(value: whole) : nil
  }

  private func decimal(_ text: String) -> Decimal? {
    guard Double(text) != nil else { return nil }
    return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }

  // MARK: Bounds

  /// The conditions that the editor writes as bounds, with the codes Core Data reports.
  func validation() -> [Rule] {
    var rules: [Rule] = []
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .decimal:
      rules += bound("minValueString", .evaluatedObject, .greaterThanOrEqualTo, 1620)
      rules += bound("maxValueString", .evaluatedObject, .lessThanOrEqualTo, 1610)
    case .string:
      rules += bound("minValueString", .keyPath("length"), .greaterThanOrEqualTo, 1670)
      rules += bound("maxValueString", .keyPath("length"), .lessThanOrEqualTo, 1660)
      if let pattern = element["regularExpressionString"], !pattern.isEmpty {
        rules.append(
          rule(ComparisonNode(.evaluatedObject, .matches, .constant(.string(pattern))), 1680))
      }
    case .date:
      let seconds = ExpressionNode.keyPath("timeIntervalSinceReferenceDate")
      rules += bound("minDateTimeInterval", seconds, .greaterThanOrEqualTo, 1640)
      rules += bound("maxDateTimeInterval", seconds, .lessThanOrEqualTo, 1630)
    case .boolean, .binaryData, .uuid, .uri, .transformable, .objectID, .composite, .undefined:
      break
    }
    return rules
  }

  private func bound(
    _ attribute: String, _ left: ExpressionNode, _ type: ComparisonPredicate.Operator, _ code: Int
  ) -> [Rule] {
    guard let text = element[attribute], !text.isEmpty else { return [] }
    let limit: PredicateValue
    if let whole = Int64(text) {
      limit = .integer(whole)
    } else if self.type == .decimal, let decimal = decimal(text) {
      limit = .decimal(decimal)
    } else if let number = elements.number(attribute, of: element) {
      limit = .double(number)
    } else {
      return []
    }
    return [rule(ComparisonNode(left, type, .constant(limit)), code)]
  }

  private func rule(_ comparison: ComparisonNode, _ code: Int) -> Rule {
    (ObjectPredicate.make(.comparison(comparison)), code)
  }
}
