import Foundation

// Key-value access of Foundation's collections, which Linux lacks. All of it is disfavoured, so that programs
// take Foundation's own once there is one.

extension NSArray {
  /// What the members have for a key, in their order; `NSNull` stands for nil.
  ///
  /// A key that begins with `@`, such as `@count`, is read from the array itself. Traps for a key
  /// that a member does not have.
  @_disfavoredOverload
  public func value(forKey key: String) -> Any {
    KeyPathAccess.value(of: Array(self), key: key) ?? [Any]()
  }

  /// What the members have at the end of a key path; for a path such as `@sum.pages`, what the
  /// operator makes of the members.
  @_disfavoredOverload
  public func value(forKeyPath keyPath: String) -> Any? {
    KeyPathAccess.value(of: Array(self), keyPath[...])
  }

  /// Sets the value of each member, all of which are managed objects.
  @_disfavoredOverload
  public func setValue(_ value: Any?, forKey key: String) {
    KeyPathAccess.set(value, key, ofAll: Array(self))
  }
}

extension NSSet {
  /// The set of what the members have for a key, without those that have nil.
  ///
  /// A key that begins with `@`, such as `@count`, is read from the set itself. Traps for a key
  /// that a member does not have.
  @_disfavoredOverload
  public func value(forKey key: String) -> Any {
    KeyPathAccess.value(of: members, key: key) ?? Set<AnyHashable>()
  }

  /// The set of what the members have at the end of a key path; for a path such as `@sum.pages`,
  /// what the operator makes of the members.
  @_disfavoredOverload
  public func value(forKeyPath keyPath: String) -> Any? {
    KeyPathAccess.value(of: members, keyPath[...])
  }

  /// A cast would make an empty set of a subclass.
  private var members: Set<AnyHashable> { Set(allObjects.compactMap { $0 as? AnyHashable }) }

  /// Sets the value of each member, all of which are managed objects.
  @_disfavoredOverload
  public func setValue(_ value: Any?, forKey key: String) {
    KeyPathAccess.set(value, key, ofAll: allObjects)
  }
}

extension NSOrderedSet {
  /// The ordered set of what the members have for a key, without those that have nil.
  ///
  /// A key that begins with `@`, such as `@count`, is read from the set itself. Traps for a key
  /// that a member does not have.
  @_disfavoredOverload
  public func value(forKey key: String) -> Any {
    KeyPathAccess.value(of: self, key: key) ?? NSOrderedSet()
  }

  /// The ordered set of what the members have at the end of a key path; for a path such as
  /// `@sum.pages`, what the operator makes of the members.
  @_disfavoredOverload
  public func value(forKeyPath keyPath: String) -> Any? {
    KeyPathAccess.value(of: self, keyPath[...])
  }

  /// Sets the value of each member, all of which are managed objects.
  @_disfavoredOverload
  public func setValue(_ value: Any?, forKey key: String) {
    KeyPathAccess.set(value, key, ofAll: array)
  }
}
