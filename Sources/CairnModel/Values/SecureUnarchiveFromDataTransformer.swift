import CairnPredicates
import Foundation

/// Makes values of secure keyed archives, and archives of values in reverse. Source: Foundation's
/// `NSSecureUnarchiveFromDataTransformer`.
///
/// Subclasses widen ``allowedTopLevelClasses`` by classes of their own.
// Unchecked: no state.
open class SecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
  /// The classes that archives may hold.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
      NSURL.self, NSUUID.self, NSSet.self, NSNull.self,
    ]
  }

  /// The value in an archive; nil for data that is none or holds other classes.
  open override func transformedValue(_ value: Any?) -> Any? {
    let allowed = type(of: self).allowedTopLevelClasses
    guard let data = value as? Data else { return nil }
    return SecureUnarchiving.root(of: data, allowing: allowed)
  }

  /// The archive of a value; nil when it cannot be archived securely.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    // Foundation's archiver traps for what it cannot archive, so that is asked first.
    guard let value, Self.isArchivable(value) else { return nil }
    let root = Self.holdsDecimals(value) ? Self.exchangingDecimals(in: value) : value
    return try? NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: true)
  }

  // MARK: Decimal numbers, which Foundation's archiver does not survive

  private static func holdsDecimals(_ value: Any) -> Bool {
    switch value {
    case let array as NSArray: array.contains(where: holdsDecimals)
    case let dictionary as NSDictionary: dictionary.contains { holdsDecimals($0.value) }
    // Sets cannot hold them either.
    default: value is NSDecimalNumber && !(value is DecimalNumber)
    }
  }

  private static func exchangingDecimals(in value: Any) -> Any {
    switch value {
    case let number as NSDecimalNumber: return DecimalNumber(decimal: number.decimalValue)
    case let array as NSArray:
      let members = array.map(exchangingDecimals)
      return array is NSMutableArray ? NSMutableArray(array: members) : NSArray(array: members)
    case let dictionary as NSDictionary:
      var copy: [AnyHashable: Any] = [:]
      for (key, member) in dictionary {
        if let key = key as? AnyHashable { copy[key] = exchangingDecimals(in: member) }
      }
      return dictionary is NSMutableDictionary
        ? NSMutableDictionary(dictionary: copy) : NSDictionary(dictionary: copy)
    default: return value
    }
  }

  // MARK: Secure coding

  /// Whether a value and all members of collections in it adopt secure coding.
  private static func isArchivable(_ value: Any) -> Bool {
    switch value {
    case let array as NSArray: return array.allSatisfy(isArchivable)
    case let set as NSSet: return set.allSatisfy(isArchivable)
    case let set as NSOrderedSet: return set.allSatisfy(isArchivable)
    case let dictionary as NSDictionary:
      return dictionary.allSatisfy { isArchivable($0.key) && isArchivable($0.value) }
    default:
      // Strings, numbers, dates and their like become Foundation's objects.
      guard let object = (value as AnyObject) as? any NSSecureCoding else { return false }
      return type(of: object).supportsSecureCoding
    }
  }
}
