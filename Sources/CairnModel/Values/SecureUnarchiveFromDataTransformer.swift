import Foundation

/// Makes values of secure keyed archives, and archives of values in reverse. Source: Foundation's
/// `NSSecureUnarchiveFromDataTransformer`.
///
/// Subclasses widen ``allowedTopLevelClasses`` by classes of their own. Of Foundation's classes only those
/// of the list as it is here, `NSOrderedSet` and `NSDecimalNumber` can be read and written, whatever the list
/// says: on Linux the others end the process for archives that were damaged. Keep what they mean in a class of
/// your own, or register a transformer that makes the data itself.
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

  /// The archive of a value; nil when it cannot be archived securely, or could not be read back.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    value.flatMap {
      SecureArchiving.archive(of: $0, allowing: type(of: self).allowedTopLevelClasses)
    }
  }
}
