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
    guard let data = value as? Data, ArchiveGate.admits(data, allowing: allowed) else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: allowed, from: data)
  }

  /// The archive of a value; nil when it cannot be archived securely.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    // Foundation's archiver traps for what it cannot archive, so that is asked first.
    guard let value, Self.isArchivable(value) else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }

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
