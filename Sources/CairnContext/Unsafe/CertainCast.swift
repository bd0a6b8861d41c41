import Foundation

/// Casts whose outcome is certain, where the compiler or a bridge would look at more than that.
enum CertainCast {
  /// An object as an instance of a class that the caller has found it to be one of.
  static func object<Object: AnyObject>(_ object: AnyObject, as type: Object.Type) -> Object {
    unsafeDowncast(object, to: type)
  }

  /// Objects as a set of Foundation's, each of which is looked at once.
  ///
  /// A conversion to `[Any]` would look at each several times. A reference to an instance of a class is
  /// stored like one to any object.
  static func set(of objects: [ManagedObject]) -> NSSet {
    objects.withUnsafeBufferPointer { objects in
      objects.withMemoryRebound(to: AnyObject.self) {
        NSSet(objects: $0.baseAddress, count: $0.count)
      }
    }
  }
}
