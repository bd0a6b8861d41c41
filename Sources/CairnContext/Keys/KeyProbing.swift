import CairnModel
import CairnPredicates

/// Reading keys that come from outside: predicates of clients, model files and mapping models.
extension ManagedObject: KeyProbing {
  /// The value of a property, also one that only a subclass knows.
  ///
  /// - Throws: ``PredicateEvaluationError`` when there is no such key, where
  ///   ``value(forKey:)`` traps.
  package final func readValue(forKey key: String) throws -> Any? {
    if layout.slotByName[key] != nil || layout.toManyByName[key] != nil {
      return value(forKey: key)
    }
    flags.insert(.probed)
    let value = value(forKey: key)
    if flags.remove(.probed) != nil { return value }
    throw PredicateEvaluationError(
      .unsupportedKeyPath,
      "the entity \(entity.name ?? "?") is not key value coding-compliant for the key \"\(key)\".")
  }
}
