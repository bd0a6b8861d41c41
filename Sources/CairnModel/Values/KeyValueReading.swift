/// Something whose values can be read by key: managed objects, and whatever else predicates
/// evaluate.
public protocol KeyValueReading {
  /// The value of a property, nil when it has none. Numbers come as `NSNumber`.
  func value(forKey key: String) -> Any?
}

/// Something that stands for a managed object: the object itself or its ID.
public protocol ObjectIdentifying {
  var objectID: ManagedObjectID { get }
}

extension ManagedObjectID: ObjectIdentifying {
  public var objectID: ManagedObjectID { self }
}
