/// What an `Any` holds, for `isEqual(_:)` of classes that are keys of large sets.
package enum ObjectIdentity {
  /// The object, if it is an instance of exactly the class of another one; nil otherwise.
  ///
  /// What `as?` finds out through the runtime's tables in hundreds of instructions, found by
  /// comparing two pointers. Nil says nothing about other classes; ask `as?` then.
  @inline(__always)
  package static func instance<Object: AnyObject>(of any: Any?, as other: Object) -> Object? {
    guard let any, type(of: any) == (type(of: other) as Any.Type) else { return nil }
    // The value is an object: an existential holds its reference in its first word.
    return withUnsafeBytes(of: any) { bytes in
      Unmanaged<Object>.fromOpaque(bytes.load(as: UnsafeRawPointer.self)).takeUnretainedValue()
    }
  }
}
