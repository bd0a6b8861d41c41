import CairnPredicates
import Foundation

/// Writes keyed archives that ``SecureUnarchiving`` reads.
///
/// Foundation's archiver on Linux ends the process for much that it cannot archive, so this looks at values first. It
/// cannot see that a collection holds itself: Foundation does not survive that anyone reads a member of that one.
struct SecureArchiving {
  /// How deep collections may hold collections: the archiver's time grows with the cube of it.
  static let maximumDepth = 64

  /// Whether there is something that the archiver does not survive and that has an equal.
  private var needsExchange = false
  /// Stands for every other one: the archiver does not survive several that are equal and hash differently.
  private let null = NSNull()

  /// The archive of a value; nil for one that cannot be archived, or not be read back.
  static func archive(of value: Any, allowing allowed: [AnyClass]) -> Data? {
    var archiving = SecureArchiving()
    guard archiving.isArchivable(value, depth: 0) else { return nil }
    let root = archiving.needsExchange ? archiving.exchanged(value) : value
    let data = try? NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: true)
    return data.flatMap { ArchiveGate.admitted($0, allowing: allowed) == nil ? nil : $0 }
  }

  /// Whether a value and all members of collections in it adopt secure coding.
  private mutating func isArchivable(_ value: Any, depth: Int) -> Bool {
    guard depth <= Self.maximumDepth else { return false }
    switch value {
    case let array as NSArray:
      return array.allSatisfy { isArchivable($0, depth: depth + 1) }
    case let set as NSSet:
      return set.allSatisfy { isArchivable($0, depth: depth + 1) }
    case let set as NSOrderedSet:
      return set.allSatisfy { isArchivable($0, depth: depth + 1) }
    case let dictionary as NSDictionary:
      return dictionary.allSatisfy {
        isArchivable($0.key, depth: depth + 1) && isArchivable($0.value, depth: depth + 1)
      }
    default:
      // Strings, numbers, dates and their like become Foundation's objects.
      let object = value as AnyObject
      if object is NSNull || isForeignDecimal(object) { needsExchange = true }
      let type: AnyClass = (object as? NSObject)?.classForCoder ?? Swift.type(of: object)
      // Some of Foundation's classes trap when they are asked what they support, others when archived.
      return !ArchiveGate.isUnknownOfFoundation(type)
        && (type as? any NSSecureCoding.Type)?.supportsSecureCoding == true
    }
  }

  private func isForeignDecimal(_ value: Any) -> Bool {
    value is NSDecimalNumber && !(value is DecimalNumber)
  }

  /// The value with an equal in place of each object that the archiver does not survive.
  private func exchanged(_ value: Any) -> Any {
    switch value {
    case is NSNull: return null
    case let number as NSDecimalNumber where isForeignDecimal(number):
      return DecimalNumber(decimal: number.decimalValue)
    case let array as NSArray:
      let members = array.map(exchanged)
      return array is NSMutableArray ? NSMutableArray(array: members) : NSArray(array: members)
    case let set as NSSet:
      let members = set.map(exchanged)
      return set is NSMutableSet ? NSMutableSet(array: members) : NSSet(array: members)
    case let set as NSOrderedSet:
      let members = set.map(exchanged)
      return set is NSMutableOrderedSet
        ? NSMutableOrderedSet(array: members) : NSOrderedSet(array: members)
    case let dictionary as NSDictionary:
      var copy: [AnyHashable: Any] = [:]
      for (key, member) in dictionary {
        if let key = key as? AnyHashable { copy[key] = exchanged(member) }
      }
      return dictionary is NSMutableDictionary
        ? NSMutableDictionary(dictionary: copy) : NSDictionary(dictionary: copy)
    default: return value
    }
  }
}
