// A public class in a library of its own, as modular applications have them.

import CoreData
import Foundation

open class Folder: NSManagedObject {
  @NSManaged public var name: String?
  @NSManaged public var items: NSOrderedSet?
  @NSManaged public var readers: NSSet?
}

extension Folder {
  @NSManaged public func addToItems(_ value: NSManagedObject)
  @NSManaged public func insertIntoItems(_ value: NSManagedObject, at idx: Int)
  @NSManaged public func removeFromItems(at idx: Int)
  @NSManaged public func replaceItems(at indexes: NSIndexSet, with values: [NSManagedObject])

  /// Public declarations may name the types that Foundation has too.
  public static func named(_ name: String) -> NSPredicate {
    NSPredicate(format: "name == %@", name)
  }
}

/// Raw values of an attribute.
public enum State: Int16 {
  case new, old
}
