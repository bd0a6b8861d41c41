/// Something whose values can be read by key: managed objects, and whatever else predicates
/// evaluate.
public protocol KeyValueReading {
  /// The value of a property, nil when it has none. Numbers come as `NSNumber`.
  func value(forKey key: String) -> Any?
  /// The same for a key that may not exist.
  ///
  /// - Throws: ``PredicateEvaluationError`` when it does not. The default never throws.
  func readValue(forKey key: String) throws -> Any?
}

extension KeyValueReading {
  public func readValue(forKey key: String) throws -> Any? { value(forKey: key) }
}

/// Something that stands for a managed object: the object itself or its ID.
public protocol ObjectIdentifying {
  var objectID: ManagedObjectID { get }
}

extension ManagedObjectID: ObjectIdentifying {
  public var objectID: ManagedObjectID { self }
}
