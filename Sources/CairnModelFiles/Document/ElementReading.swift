import CairnPredicates
import Foundation

/// Reads typed values out of the elements of a model document and reports what it cannot read.
struct ElementReading {
  let problems: ModelFileProblems

  /// A value that must be there; an empty string counts as missing.
  func required(_ attribute: String, of element: DocumentElement) -> String? {
    if let value = element[attribute], !value.isEmpty { return value }
    problems.add(
      .missingValue, line: element.line,
      "<\(element.name)> has no \(attribute); give it one.")
    return nil
  }

  /// `YES` or `NO`.
  func flag(_ attribute: String, of element: DocumentElement, default fallback: Bool) -> Bool {
    guard let text = element[attribute] else { return fallback }
    if let value = Self.flag(text) { return value }
    problems.add(
      .invalidValue, line: element.line,
      "\(attribute)=\"\(text)\" of \(Self.title(element)) should be YES or NO.")
    return fallback
  }

  static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "1": return true
    case "no", "false", "0": return false
    default: return nil
    }
  }

  /// A whole number that is not negative.
  func count(_ attribute: String, of element: DocumentElement, default fallback: Int) -> Int {
    guard let text = element[attribute], !text.isEmpty else { return fallback }
    if let value = Int(text), value >= 0, value <= Int(Int32.max) { return value }
    problems.add(
      .invalidValue, line: element.line,
      "\(attribute)=\"\(text)\" of \(Self.title(element)) should be a whole number, 0 or more.")
    return fallback
  }

  /// A finite number of any kind.
  func number(_ attribute: String, of element: DocumentElement) -> Double? {
    guard let text = element[attribute], !text.isEmpty else { return nil }
    if let value = Double(text), value.isFinite { return value }
    problems.add(
      .invalidValue, line: element.line,
      "\(attribute)=\"\(text)\" of \(Self.title(element)) should be a number.")
    return nil
  }

  /// A predicate in the format language.
  func predicate(_ attribute: String, of element: DocumentElement) -> ObjectPredicate? {
    guard let text = element[attribute], !text.isEmpty else { return nil }
    do {
      return try ObjectPredicate.parse(text)
    } catch {
      problems.add(
        .invalidPredicate, line: element.line,
        "\(attribute) of \(Self.title(element)): \(error)")
      return nil
    }
  }

  /// An expression in the format language.
  func expression(_ attribute: String, of element: DocumentElement) -> ObjectExpression? {
    guard let text = element[attribute], !text.isEmpty else { return nil }
    do {
      return try ObjectExpression.parse(text)
    } catch {
      problems.add(
        .invalidPredicate, line: element.line,
        "\(attribute) of \(Self.title(element)): \(error)")
      return nil
    }
  }

  /// The annotations of an element.
  func userInfo(of element: DocumentElement) -> [AnyHashable: Any] {
    guard let child = element.firstChild(named: "userInfo") else { return [:] }
    var result: [AnyHashable: Any] = [:]
    for entry in child.children(named: "entry") {
      if let key = required("key", of: entry) { result[key] = entry["value"] ?? "" }
    }
    return result
  }

  /// How messages name an element.
  static func title(_ element: DocumentElement) -> String {
    "\(element.name) \(element["name"] ?? "without a name")"
  }
}
