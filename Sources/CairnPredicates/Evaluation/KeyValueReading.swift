/// Something whose values can be read by key: managed objects, and whatever else predicates
/// evaluate.
public protocol KeyValueReading {
  /// The value of a property, nil when it has none. Numbers come as `NSNumber`.
  func value(forKey key: String) -> Any?
}

/// Something that can also be asked for a key that may not exist.
package protocol KeyProbing: KeyValueReading {
  /// The value of a property, nil when it has none.
  ///
  /// - Throws: ``PredicateEvaluationError`` when there is no such key.
  func readValue(forKey key: String) throws -> Any?
}
