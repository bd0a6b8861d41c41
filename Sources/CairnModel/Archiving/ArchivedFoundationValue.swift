import CairnPredicates
import Foundation

/// Turns archived Foundation values (default values, constants, annotations) into values.
///
/// Objects of other classes become nil: nothing of a file is ever instantiated by class name.
package final class ArchivedFoundationValues {
  package init() {}

  /// How many more things may be made of the archive.
  ///
  /// Objects may be referred to any number of times, so that a few bytes could stand for more than
  /// memory holds.
  private var budget = 2_000_000

  /// How many more properties, which are larger, may be made of the archive.
  private var propertyBudget = ModelFileLimits.properties

  /// Counts one property made of the archive; false when there have been too many.
  package func spendProperty() -> Bool {
    propertyBudget -= 1
    return propertyBudget > 0 && spend()
  }

  /// Counts one thing made of the archive; false when there have been too many.
  func spend() -> Bool {
    budget -= 1
    return budget > 0
  }

  package func value(_ archived: ArchivedValue, depth: Int = 0) -> Any? {
    guard spend(), depth < 16 else { return nil }
    switch archived {
    case .none: return nil
    case .bool(let flag): return NSNumber(value: flag)
    case .integer(let number): return NSNumber(value: number)
    case .real(let number): return NSNumber(value: number)
    case .date(let date): return date
    case .data(let data): return data
    case .string(let text): return text
    case .object(let object): return value(of: object, depth: depth)
    }
  }

  private func value(of object: ArchivedObject, depth: Int) -> Any? {
    switch object.className {
    case "NSDate", "__NSDate":
      // Foundation on Linux does not survive the description of a date of no number.
      return seconds(object).flatMap { $0.isNaN ? nil : Date(timeIntervalSinceReferenceDate: $0) }
    case "NSData", "NSMutableData":
      if case .data(let data) = object["NS.data"] { return data }
      return nil
    case "NSUUID":
      guard case .data(let bytes) = object["NS.uuidbytes"], bytes.count == 16 else { return nil }
      return NSUUID(uuidBytes: [UInt8](bytes)) as UUID
    case "NSURL":
      guard let relative = object.text("NS.relative") else { return nil }
      return URL(string: relative)
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
      return decimal(of: object)
    case "NSNull": return NSNull()
    case "NSArray", "NSMutableArray":
      return object.members.map { value($0, depth: depth + 1) ?? NSNull() }
    case "NSSet", "NSMutableSet":
      return NSSet(array: object.members.map { value($0, depth: depth + 1) ?? NSNull() })
    case "NSDictionary", "NSMutableDictionary", "NSKnownKeysDictionary1":
      var result: [AnyHashable: Any] = [:]
      for (key, member) in object.pairs {
        guard let key = value(key, depth: depth + 1) as? AnyHashable else { continue }
        result[key] = value(member, depth: depth + 1) ?? NSNull()
      }
      return result
    default: return nil
    }
  }

  private func decimal(of object: ArchivedObject) -> NSDecimalNumber? {
    guard case .data(let mantissa) = object["NS.mantissa"],
      let exponent = object.integer("NS.exponent"), let length = object.integer("NS.length")
    else { return nil }
    let archived = ArchivedDecimal(
      mantissa: mantissa, exponent: exponent, length: length,
      isNegative: object.flag("NS.negative"), byteOrder: object.integer("NS.mantissa.bo") ?? 1)
    return archived.decimal.map(DecimalNumber.init)
  }

  private func seconds(_ object: ArchivedObject) -> Double? {
    switch object["NS.time"] {
    case .real(let seconds): return seconds
    case .integer(let seconds): return Double(seconds)
    case .none, .bool, .date, .data, .string, .object: return nil
    }
  }
}
