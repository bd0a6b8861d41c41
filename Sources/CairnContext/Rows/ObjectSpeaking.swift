import CairnModel
import CairnStore

/// What a context asks of a store of a program's own, which speaks in objects, beside the contract
/// of stores, which knows values only.
protocol ObjectSpeaking: PersistentStore {
  /// The IDs that new objects keep, in their order.
  func permanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID]
}
