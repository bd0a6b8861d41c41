import Foundation

/// An object that expressions may send messages to: `FUNCTION($manager, "selector:", …)`.
///
/// There is no Objective-C runtime to find methods by name, so the object answers by itself.
public protocol MessageAnswering {
  /// What the object answers to a message, with one argument for each colon of the selector.
  ///
  /// - Throws: ``PredicateEvaluationError`` for a message that the object does not know, or
  ///   whatever the method throws.
  func answer(to selector: String, arguments: [Any?]) throws -> Any?
}

/// The methods of values that predicates can call: `FUNCTION(…)`, custom selectors, and keys such
/// as `length` on strings.
///
/// There is no Objective-C runtime to ask, so this is the whole list.
enum MessageTable {
  /// What a value answers to a message.
  ///
  /// - Throws: ``PredicateEvaluationError`` for a method that is not in the table.
  static func answer(
    to selector: SelectorName, of target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue {
    if target.isNull { return .null }
    if case .object(let reference) = target, let object = reference.object as? any MessageAnswering
    {
      return PredicateValue(
        try object.answer(to: selector.rawValue, arguments: arguments.map(\.anyValue)))
    }
    if arguments.isEmpty, let result = property(selector, of: target) { return result }
    if arguments.count == 1, let result = try call(selector, target, arguments[0]) {
      return result
    }
    if selector == "stringByReplacingOccurrencesOfString:withString:", arguments.count == 2,
      let text = target.text, let old = arguments[0].text, let new = arguments[1].text
    {
      return .string(text.replacingOccurrences(of: old, with: new))
    }
    throw PredicateEvaluationError(
      .unsupportedSelector,
      "Unsupported function expression: \(selector.rawValue) of "
        + PredicatePrinter.text(of: .constant(target)))
  }

  /// A method without arguments; nil when the table does not have it.
  static func property(_ name: SelectorName, of value: PredicateValue) -> PredicateValue? {
    if name == "description" { return .string(PlainText.of(value.anyValue ?? NSNull())) }
    switch value {
    case .string(let text): return textProperty(name, text)
    case .boolean, .integer, .double, .decimal: return numberProperty(name, value)
    case .date(let date): return dateProperty(name, date)
    case .url(let url): return urlProperty(name, url)
    case .data(let data): return name == "length" ? .integer(Int64(data.count)) : nil
    case .uuid(let uuid): return name == "UUIDString" ? .string(uuid.uuidString) : nil
    case .array(let members): return arrayProperty(name, members)
    case .set(let members): return name == "count" ? .integer(Int64(members.count)) : nil
    case .dictionary(let members):
      switch name {
      case "count": return .integer(Int64(members.count))
      case "allKeys": return .array(Array(members.keys))
      case "allValues": return .array(Array(members.values))
      default: return nil
      }
    case .null, .objectID, .object: return nil
    }
  }

  private static func textProperty(_ name: SelectorName, _ text: String) -> PredicateValue? {
    switch name {
    // As NSString counts, for validation predicates; `length:` counts Unicode scalars.
    case "length": return .integer(Int64(text.utf16.count))
    case "uppercase", "uppercaseString": return .string(text.uppercased())
    case "lowercase", "lowercaseString": return .string(text.lowercased())
    case "capitalized", "capitalizedString": return .string(text.capitalized)
    case "integerValue", "intValue", "longLongValue":
      return .integer((text as NSString).longLongValue)
    case "doubleValue", "floatValue": return .number((text as NSString).doubleValue)
    case "boolValue": return .boolean((text as NSString).boolValue)
    case "lastPathComponent": return .string((text as NSString).lastPathComponent)
    case "pathExtension": return .string((text as NSString).pathExtension)
    default: return nil
    }
  }

  private static func numberProperty(
    _ name: SelectorName, _ value: PredicateValue
  ) -> PredicateValue? {
    switch name {
    case "integerValue", "intValue", "longLongValue":
      return (try? Arithmetic.integer(value)).map { .integer($0) }
    case "doubleValue", "floatValue": return .number(NumberOrder.double(of: value))
    case "boolValue": return .boolean(value.isTrue)
    case "stringValue": return .string(NumberText.plain(value))
    default: return nil
    }
  }

  private static func dateProperty(_ name: SelectorName, _ date: Date) -> PredicateValue? {
    switch name {
    case "timeIntervalSinceReferenceDate": return .number(date.timeIntervalSinceReferenceDate)
    case "timeIntervalSince1970": return .number(date.timeIntervalSince1970)
    default: return nil
    }
  }

  private static func urlProperty(_ name: SelectorName, _ url: URL) -> PredicateValue? {
    switch name {
    case "absoluteString": return .string(url.absoluteString)
    case "scheme": return url.scheme.map { .string($0) } ?? .null
    case "host": return url.host.map { .string($0) } ?? .null
    case "path": return .string(url.path)
    case "lastPathComponent": return .string(url.lastPathComponent)
    case "pathExtension": return .string(url.pathExtension)
    default: return nil
    }
  }

  private static func arrayProperty(
    _ name: SelectorName, _ members: [PredicateValue]
  ) -> PredicateValue? {
    switch name {
    case "count": return .integer(Int64(members.count))
    case "firstObject": return members.first ?? .null
    case "lastObject": return members.last ?? .null
    default: return nil
    }
  }

  /// A method with one argument; nil when the table does not have it.
  private static func call(
    _ selector: SelectorName, _ target: PredicateValue, _ argument: PredicateValue
  ) throws -> PredicateValue? {
    switch selector {
    case "isEqual:", "isEqualToString:", "isEqualToNumber:", "isEqualToDate:":
      return .boolean(target == argument)
    case _ where ValueSorting.supports(selector):
      return .integer(
        Int64(ValueSorting.compare(target, argument, by: selector).rawValue))
    default: break
    }
    if let text = target.text { return textCall(selector, text, argument) }
    if case .date(let date) = target { return try dateCall(selector, date, argument) }
    switch (target, selector) {
    case (.array, "containsObject:"), (.set, "containsObject:"):
      return .boolean(try ComparisonOperators.isMember(argument, of: target, []))
    case (.dictionary(let members), "objectForKey:"): return members[argument] ?? .null
    case (.array(let members), "objectAtIndex:"):
      let index = try Arithmetic.integer(argument)
      return index >= 0 && index < members.count ? members[Int(index)] : .null
    default: return nil
    }
  }

  private static func textCall(
    _ selector: SelectorName, _ text: String, _ argument: PredicateValue
  ) -> PredicateValue? {
    if let other = argument.text {
      switch selector {
      case "hasPrefix:": return .boolean(TextSearch.hasPrefix(text, other))
      case "hasSuffix:": return .boolean(TextSearch.hasSuffix(text, other))
      case "containsString:": return .boolean(TextSearch.contains(text, other))
      case "stringByAppendingString:": return .string(text + other)
      case "componentsSeparatedByString:":
        return .array(text.components(separatedBy: other).map { .string($0) })
      default: return nil
      }
    }
    guard let index = try? Arithmetic.integer(argument), index >= 0, index <= text.utf16.count
    else { return nil }
    switch selector {
    case "substringToIndex:": return .string((text as NSString).substring(to: Int(index)))
    case "substringFromIndex:": return .string((text as NSString).substring(from: Int(index)))
    default: return nil
    }
  }

  private static func dateCall(
    _ selector: SelectorName, _ date: Date, _ argument: PredicateValue
  ) throws -> PredicateValue? {
    switch selector {
    case "dateByAddingTimeInterval:":
      return PredicateValue(date.addingTimeInterval(try Arithmetic.double(argument)))
    case "timeIntervalSinceDate:":
      return .number(
        date.timeIntervalSinceReferenceDate - (try Arithmetic.double(argument)))
    default: return nil
    }
  }
}
